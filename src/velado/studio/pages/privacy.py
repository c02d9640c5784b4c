"""The models that a release must satisfy, the method that finds it, and what is still wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.project.arguments import method_of as built_method
from velado.project.arguments import models_of as built_models
from velado.service.errors import NotFound
from velado.service.web import problems
from velado.service.web.problems import ProblemPart
from velado.service.web.resources import checks, uploads
from velado.studio import mending, parameters, settings
from velado.studio.original import Original, example, original
from velado.studio.parameters import Choices, Field
from velado.studio.settings import Chosen, Entry
from velado.studio.visit import PageRoute
from velado.studio.work import Work, Working

router = APIRouter(route_class=PageRoute)
OTHER = ""
"""The group of models that say of no attack that they stop it."""


class Card(NamedTuple):
    """A model of the project as the page shows it."""

    number: int
    entry: Entry
    fields: list[Field]
    required: str
    now: str
    wrong: list[ProblemPart]
    taken: bool


class Offer(NamedTuple):
    """A model that might be added; ``lacking``: no column is sensitive."""

    entry: Entry
    now: str
    lacking: bool
    taken: bool


class Wrong(NamedTuple):
    """What a form said, and why that is refused: ``place`` is the number of a model, or the method."""

    place: int | str
    parameters: dict[str, Any]
    problems: list[ProblemPart]


@router.get("/projects/{id}/privacy")
def privacy(work: Working) -> Response:
    """Models, method and checks."""
    return _page(work)


@router.get("/projects/{id}/privacy/checks")
def checked(work: Working) -> Response:
    """What is wrong with the project, each with the place that mends it."""
    return work.show("checks.html", "privacy", **checks_of(work))


@router.post("/projects/{id}/privacy/models")
def add(work: Working) -> Response:
    """One more model, with the parameters that it usually has."""
    entry = _entry(work, "models", work.form.text("model"))
    chosen = settings.models_of(work.part)
    sensitive = settings.with_role(work.part, "sensitive")
    # The same model again protects another column.
    taken = [model.parameters.get(key) for model in chosen if model.name == entry["name"] for key in _columns_of(entry)]
    given = example(entry, [name for name in sensitive if name not in taken] or sensitive)
    added = [*chosen, Chosen(entry["name"], given or example(entry, [OTHER]) or {})]
    said = work.say("{model} is added.", model=entry["title"])
    return settings.save_models(work, added, work.address("privacy") + f"#model-{len(chosen)}", said)


@router.post("/projects/{id}/privacy/models/{number}")
def change(work: Working, number: int) -> Response:
    """Other parameters of a model."""
    chosen = settings.models_of(work.part)
    model = _numbered(chosen, number)
    entry = _entry(work, "models", model.name)
    given = parameters.read(entry, work.form, model.parameters)
    try:
        built_models([{model.name: given}])
    except VeladoError as error:
        return _page(work, Wrong(number, given, _told(work, error)))
    chosen[number] = Chosen(model.name, given)
    return settings.save_models(work, chosen, work.address("privacy"))


@router.post("/projects/{id}/privacy/models/{number}/remove")
def remove(work: Working, number: int) -> Response:
    """One model less."""
    chosen = settings.models_of(work.part)
    gone = _numbered(chosen, number)
    chosen.pop(number)
    title = settings.entries("models", work.words.code).get(gone.name, {}).get("title", gone.name)
    return settings.save_models(work, chosen, work.address("privacy"), work.say("{model} is taken out.", model=title))


@router.post("/projects/{id}/privacy/method")
def choose_method(work: Working) -> Response:
    """Another method; what it has in common with the one before stays."""
    entry = _entry(work, "methods", work.form.text("method"))
    before = settings.method_of(work.part)
    properties = entry["parameters"]["properties"]
    kept = {name: value for name, value in before.parameters.items() if name in properties}
    for name in entry["parameters"]["required"]:
        if name not in kept and parameters.kind_of(properties[name]) == "by-number":
            kept[name] = dict.fromkeys(settings.with_role(work.part, "quasi-identifier"), 0)
    return settings.save(work, "method", {entry["name"]: kept}, work.address("privacy") + "#method")


@router.post("/projects/{id}/privacy/method/parameters")
def change_method(work: Working) -> Response:
    """Other parameters of the method."""
    method = settings.method_of(work.part)
    entry = _entry(work, "methods", method.name)
    given = parameters.read(entry, work.form, method.parameters)
    try:
        built_method({method.name: given})
    except VeladoError as error:
        return _page(work, Wrong("method", given, _told(work, error)))
    return settings.save(work, "method", {method.name: given}, work.address("privacy"))


@router.post("/projects/{id}/privacy/light")
def light(work: Working) -> Response:
    """Operations only, without models; or models again."""
    wanted = work.form.text("anonymization") == "light"

    def changed(part: dict[str, Any]) -> None:
        if not wanted:
            part.pop("anonymization", None)
            return
        part["anonymization"] = "light"
        for key in ("models", "method"):
            part.pop(key, None)
        for name, column in (part.get("columns") or {}).items():
            if isinstance(column, Mapping):
                part["columns"][name] = {key: value for key, value in column.items() if key != "hierarchy"}

    return work.save(changed, work.address("privacy"))


@router.post("/projects/{id}/privacy/scope")
def scope(work: Working) -> Response:
    """Models or method of one table instead of all, or of all instead of one."""
    key = "method" if work.form.text("key") == "method" else "models"
    if work.table is None:
        raise NotFound()
    own = {
        "models": [m.written() for m in settings.models_of(work.part)],
        "method": settings.method_of(work.part).written(),
    }

    def changed(part: dict[str, Any]) -> None:
        if work.form.text("own") == "1":
            part[key] = own[key]
        else:
            part.pop(key, None)

    return work.save(changed, work.address("privacy"))


# What is shown


def checks_of(work: Work) -> dict[str, Any]:
    """All problems with the places that mend them; ``failed``: why they could not be found out."""
    if not work.can("profile.read"):
        return {"ready": None, "found": [], "failed": None}
    try:
        answer = checks.check_project(work.call, work.id)
    except VeladoError as error:
        return {"ready": None, "found": [], "failed": _told(work, error)[0]}
    return {
        "ready": answer.ready,
        "found": [(one, mending.place_of(work, one)) for one in answer.problems],
        "failed": None,
    }


def _page(work: Work, wrong: Wrong | None = None) -> Response:
    code, part, source = work.words.code, work.part, work.source
    known, methods = settings.entries("models", code), settings.entries("methods", code)
    chosen, method = settings.models_of(part), settings.method_of(part)
    taken = methods[method.name]["models"] if method.name in methods else []
    table = original(work, source, known)
    choices = _choices(work, code)
    attacks = settings.entries("attacks", code)
    cards = [_card(work, number, model, known, taken, table, choices, wrong) for number, model in enumerate(chosen)]
    groups = _groups(known)
    cards.sort(key=lambda card: list(groups).index(_stops(card.entry)))
    sensitive = settings.with_role(part, "sensitive")
    offers = {
        attack: [
            Offer(known[name], _shown(table, known[name], example(known[name], sensitive), work), *_fit(known[name], sensitive, taken))
            for name in names
        ]
        for attack, names in groups.items()
    }  # fmt: skip
    said = wrong.parameters if wrong is not None and wrong.place == "method" else method.parameters
    return work.show(
        "privacy.html", "privacy", 422 if wrong is not None else 200, source=source, cards=cards, offers=offers, attacks=attacks,
        methods=list(methods.values()), method=methods.get(method.name), named=method.name,
        fields=parameters.fields(methods[method.name], said, work.words, choices) if method.name in methods else [],
        wrong=wrong.problems if wrong is not None and wrong.place == "method" else [], table=table,
        untaken={name: [card.entry["title"] for card in cards if card.entry["name"] not in entry["models"]] for name, entry in methods.items()},
        quasi=settings.with_role(part, "quasi-identifier"), light=part.get("anonymization") == "light",
        shared={key: settings.shared(work, key) for key in ("models", "method")},
    )  # fmt: skip


def _card(
    work: Work, number: int, model: Chosen, known: Mapping[str, Entry], taken: list[str], table: Original, choices: Choices,
    wrong: Wrong | None,
) -> Card:  # fmt: skip
    entry = known.get(model.name) or _unknown(model.name)
    mine = wrong if wrong is not None and wrong.place == number else None
    given = mine.parameters if mine is not None else model.parameters
    return Card(
        number, entry, parameters.fields(entry, given, work.words, choices), settings.requirement(entry, given, work.words),
        _shown(table, entry, given, work), mine.problems if mine is not None else [], model.name in taken,
    )  # fmt: skip


def _fit(entry: Entry, sensitive: list[str], taken: list[str]) -> tuple[bool, bool]:
    """Whether a model lacks a sensitive column, and whether the method takes it."""
    return bool(_columns_of(entry)) and not sensitive, entry["name"] in taken


def _choices(work: Work, code: str) -> Choices:
    titles = {
        kind.removesuffix("s"): {n: e["title"] for n, e in settings.entries(kind, code).items()}
        for kind in ("objectives",)
    }
    files = [
        (f"upload:{one.id}", one.name)
        for one in uploads.list_uploads(work.call, limit=200).items
        if one.state == "complete"
    ]
    quasi, sensitive = settings.with_role(work.part, "quasi-identifier"), settings.with_role(work.part, "sensitive")
    return Choices(sensitive, quasi, files, titles)


def _groups(known: Mapping[str, Entry]) -> dict[str, list[str]]:
    """Models by the attack that they stop above all, in the order of the catalog."""
    found: dict[str, list[str]] = {}
    for name, entry in known.items():
        found.setdefault(_stops(entry), []).append(name)
    found.setdefault(OTHER, [])
    return found


def _stops(entry: Entry) -> str:
    return next(iter(entry.get("stops") or ()), OTHER)


def _shown(table: Original, entry: Entry, given: Mapping[str, Any] | None, work: Work) -> str:
    """What the table has of a model now, in signs."""
    found = None if given is None else table.reached(entry, given)
    if isinstance(found, Mapping):
        symbols = {name: strength["symbol"] for name, strength in entry["strength"].items()}
        return ", ".join(f"{symbols.get(name, name)} {_figure(work, value)}" for name, value in found.items())
    return "" if found is None else _figure(work, found)


def _figure(work: Work, value: Any) -> str:
    return work.words.number(value, 4 if isinstance(value, (int, float)) and abs(value) < 1 else 2)


def _columns_of(entry: Entry) -> list[str]:
    """The parameters of a model that name a column."""
    return [name for name, about in entry["parameters"]["properties"].items() if about.get("x-column")]


def _entry(work: Work, kind: str, name: str) -> Entry:
    found = settings.entries(kind, work.words.code).get(name)
    if found is None:
        raise NotFound()
    return found


def _unknown(name: str) -> Entry:
    """A model that this version does not know: shown by its name, without fields."""
    nothing: Entry = {"properties": {}, "required": []}
    return {
        "name": name,
        "title": name,
        "meaning": "",
        "strength": {},
        "reached": "",
        "parameters": nothing,
        "example": None,
        "judges": "",
    }


def _numbered(chosen: list[Chosen], number: int) -> Chosen:
    if not 0 <= number < len(chosen):
        raise NotFound()
    return chosen[number]


def _told(work: Work, error: VeladoError) -> list[ProblemPart]:
    return [ProblemPart(**problems.part(one, work.words.code)) for one in (error, *error.others)]
