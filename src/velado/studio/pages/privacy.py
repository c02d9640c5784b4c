"""The models that a release must satisfy, the method that finds it, and what is still wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.project.arguments import method_of as built_method
from velado.project.arguments import models_of as built_models
from velado.project.document import check_allowance
from velado.service.errors import NotFound
from velado.service.projects import checks
from velado.service.projects.document import Chosen, Document
from velado.service.sources import uploads
from velado.service.web import problems
from velado.service.web.problems import ProblemPart
from velado.studio.forms import parameter_form, privacy_settings
from velado.studio.forms.parameter_form import Choices, ParameterField
from velado.studio.forms.privacy_settings import Entry
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import ASKED, PageRoute
from velado.studio.views import fix_links
from velado.studio.views.original_figures import Original, example, measure, original

router = APIRouter(route_class=PageRoute)
SCOPED = ("models", "method", "allowance")
"""What one table may have of its own."""
OTHER = ""
"""The group of models that say of no attack that they stop it."""


class Card(NamedTuple):
    """A model of the project as the page shows it."""

    number: int
    entry: Entry
    fields: list[ParameterField]
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


@router.api_route("/projects/{id}/privacy/checks", methods=ASKED)
def show_checks(work: Working) -> Response:
    """What is wrong with the project, each with the place that mends it."""
    return work.show("checks.html", "privacy", **checks_of(work))


@router.api_route("/projects/{id}/privacy/original", methods=ASKED)
def measure_original(work: Working) -> Response:
    """Have the table measured as it is, by a POST and once for each choice of columns."""
    if work.request.method == "POST":
        measure(work, work.source, privacy_settings.entries("models", work.words.code))
    return work.go(work.address("privacy"))


@router.post("/projects/{id}/privacy/models")
def add(work: Working) -> Response:
    """One more model, with the parameters that it usually has."""
    entry = _entry(work, "models", work.form.text("model"))
    chosen = work.part.models
    sensitive = work.part.with_role("sensitive")
    # The same model again protects another column.
    taken = [model.parameters.get(key) for model in chosen if model.name == entry["name"] for key in _columns_of(entry)]
    given = example(entry, [name for name in sensitive if name not in taken] or sensitive)
    added = [*chosen, Chosen(entry["name"], given or example(entry, [OTHER]) or {})]
    said = work.say("{model} is added.", model=entry["title"])
    return privacy_settings.save_models(work, added, work.address("privacy") + f"#model-{len(chosen)}", said)


@router.post("/projects/{id}/privacy/models/{number}")
def change(work: Working, number: int) -> Response:
    """Other parameters of a model."""
    chosen = work.part.models
    model = _model_at(chosen, number)
    entry = _entry(work, "models", model.name)
    given = parameter_form.read(entry, work.form, model.parameters)
    try:
        built_models([{model.name: given}])
    except VeladoError as error:
        return _page(work, Wrong(number, given, _problem_parts(work, error)))
    chosen[number] = Chosen(model.name, given)
    return privacy_settings.save_models(work, chosen, work.address("privacy"))


@router.post("/projects/{id}/privacy/models/{number}/remove")
def remove(work: Working, number: int) -> Response:
    """One model less."""
    chosen = work.part.models
    gone = _model_at(chosen, number)
    chosen.pop(number)
    title = privacy_settings.entries("models", work.words.code).get(gone.name, {}).get("title", gone.name)
    return privacy_settings.save_models(work, chosen, work.address("privacy"), work.say("{model} is taken out.", model=title))


@router.post("/projects/{id}/privacy/method")
def choose_method(work: Working) -> Response:
    """Another method; what it has in common with the one before stays."""
    entry = _entry(work, "methods", work.form.text("method"))
    before = work.part.method
    properties = entry["parameters"]["properties"]
    kept = {name: value for name, value in before.parameters.items() if name in properties}
    for name in entry["parameters"]["required"]:
        if name not in kept and parameter_form.kind_of(properties[name]) == "by-number":
            kept[name] = dict.fromkeys(work.part.with_role("quasi-identifier"), 0)
    return privacy_settings.save(work, "method", {entry["name"]: kept}, work.address("privacy") + "#method")


@router.post("/projects/{id}/privacy/method/parameters")
def change_method(work: Working) -> Response:
    """Other parameters of the method."""
    method = work.part.method
    entry = _entry(work, "methods", method.name)
    given = parameter_form.read(entry, work.form, method.parameters)
    try:
        built_method({method.name: given})
    except VeladoError as error:
        return _page(work, Wrong("method", given, _problem_parts(work, error)))
    return privacy_settings.save(work, "method", {method.name: given}, work.address("privacy"))


@router.post("/projects/{id}/privacy/allowance")
def allow(work: Working) -> Response:
    """The share of the people who may be exposed by all that others know or could know."""
    typed = work.form.text("allowance")
    try:
        share = parameter_form.number(typed) if typed else 0
        check_allowance(share)
    except VeladoError as error:
        return _page(work, Wrong("allowance", {"allowance": typed}, _problem_parts(work, error)))
    # What one table has of its own must be said: without it, what stands for all holds.
    own = work.table is not None and not privacy_settings.is_shared(work, "allowance")
    return privacy_settings.save(work, "allowance", share if share or own else None, work.address("privacy"))


@router.post("/projects/{id}/privacy/light")
def light(work: Working) -> Response:
    """Operations only, without models; or models again."""
    wanted = work.form.text("protection") == "operations"

    def set_light(part: Document) -> None:
        part.put("protection", "operations" if wanted else None)
        if wanted:
            part.put("models", None)
            part.put("method", None)
            for name, column in part.columns.items():
                if "hierarchy" in column.own:
                    part.put_column(name, {key: value for key, value in column.own.items() if key != "hierarchy"})

    return work.save(set_light, work.address("privacy"))


@router.post("/projects/{id}/privacy/scope")
def scope(work: Working) -> Response:
    """Models or method of one table instead of all, or of all instead of one."""
    key = work.form.text("key")
    if key not in SCOPED:
        raise NotFound()
    if work.table is None:
        raise NotFound()
    own = {
        "models": [m.as_spec() for m in work.part.models],
        "method": work.part.method.as_spec(),
        "allowance": work.part.allowance,
    }
    value = own[key] if work.form.text("own") == "1" else None
    return work.save(lambda part: part.put(key, value), work.address("privacy"))


# What is shown


def checks_of(work: ProjectPage) -> dict[str, Any]:
    """All problems with the places that mend them; ``failed``: why they could not be found out."""
    if not work.can("profile.read"):
        return {"ready": None, "found": [], "failed": None}
    try:
        answer = checks.check_project(work.call, work.id)
    except VeladoError as error:
        return {"ready": None, "found": [], "failed": _problem_parts(work, error)[0]}
    return {"ready": answer.ready, "found": [(one, fix_links.find_fix_page(work, one)) for one in answer.problems], "failed": None}


def _page(work: ProjectPage, wrong: Wrong | None = None) -> Response:
    code, part, source = work.words.code, work.part, work.source
    known, methods = privacy_settings.entries("models", code), privacy_settings.entries("methods", code)
    chosen, method = part.models, part.method
    taken = methods[method.name]["models"] if method.name in methods else []
    table = original(work, source, known)
    choices = _choices(work, code)
    attacks = privacy_settings.entries("attacks", code)
    cards = [_card(work, number, model, known, taken, table, choices, wrong) for number, model in enumerate(chosen)]
    groups = _groups(known)
    cards.sort(key=lambda card: list(groups).index(_stops(card.entry)))
    sensitive = part.with_role("sensitive")
    offers = {
        attack: [
            Offer(
                known[name],
                _current_figure(table, known[name], example(known[name], sensitive), work),
                *_fit(known[name], sensitive, taken),
            )
            for name in names
        ]
        for attack, names in groups.items()
    }
    said = wrong.parameters if wrong is not None and wrong.place == "method" else method.parameters
    return work.show(
        "privacy.html",
        "privacy",
        422 if wrong is not None else 200,
        source=source,
        cards=cards,
        offers=offers,
        attacks=attacks,
        methods=list(methods.values()),
        method=methods.get(method.name),
        named=method.name,
        fields=parameter_form.fields(methods[method.name], said, work.words, choices) if method.name in methods else [],
        wrong=wrong.problems if wrong is not None and wrong.place == "method" else [],
        table=table,
        untaken={
            name: [card.entry["title"] for card in cards if card.entry["name"] not in entry["models"]]
            for name, entry in methods.items()
        },
        quasi=part.with_role("quasi-identifier"),
        light=part.is_light,
        shared={key: privacy_settings.is_shared(work, key) for key in SCOPED},
        **_allowance(work, wrong),
    )


def _allowance(work: ProjectPage, wrong: Wrong | None) -> dict[str, Any]:
    """The share of the people who may be exposed, as it is or as it was typed, and why that cannot be."""
    refused = wrong if wrong is not None and wrong.place == "allowance" else None
    allowance = work.part.allowance if refused is None else refused.parameters["allowance"]
    return {"allowance": allowance, "wrong_allowance": [] if refused is None else refused.problems}


def _card(
    work: ProjectPage,
    number: int,
    model: Chosen,
    known: Mapping[str, Entry],
    taken: list[str],
    table: Original,
    choices: Choices,
    wrong: Wrong | None,
) -> Card:
    entry = known.get(model.name) or _unknown(model.name)
    mine = wrong if wrong is not None and wrong.place == number else None
    given = mine.parameters if mine is not None else model.parameters
    return Card(
        number,
        entry,
        parameter_form.fields(entry, given, work.words, choices),
        privacy_settings.requirement(entry, given, work.words),
        _current_figure(table, entry, given, work),
        mine.problems if mine is not None else [],
        model.name in taken,
    )


def _fit(entry: Entry, sensitive: list[str], taken: list[str]) -> tuple[bool, bool]:
    """Whether a model lacks a sensitive column, and whether the method takes it."""
    return bool(_columns_of(entry)) and not sensitive, entry["name"] in taken


def _choices(work: ProjectPage, code: str) -> Choices:
    titles = {
        kind.removesuffix("s"): {n: e["title"] for n, e in privacy_settings.entries(kind, code).items()} for kind in ("objectives",)
    }
    files = [(f"upload:{one.id}", one.name) for one in uploads.list_uploads(work.call, limit=200).items if one.state == "complete"]
    quasi, sensitive = (work.part.with_role("quasi-identifier"), work.part.with_role("sensitive"))
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


def _current_figure(table: Original, entry: Entry, given: Mapping[str, Any] | None, work: ProjectPage) -> str:
    """What the table has of a model now, in signs."""
    found = None if given is None else table.figure_of(entry, given)
    if isinstance(found, Mapping):
        symbols = {name: strength["symbol"] for name, strength in entry["strength"].items()}
        return ", ".join(f"{symbols.get(name, name)} {_figure(work, value)}" for name, value in found.items())
    return "" if found is None else _figure(work, found)


def _figure(work: ProjectPage, value: Any) -> str:
    return work.words.number(value, 4 if isinstance(value, (int, float)) and abs(value) < 1 else 2)


def _columns_of(entry: Entry) -> list[str]:
    """The parameters of a model that name a column."""
    return [name for name, about in entry["parameters"]["properties"].items() if about.get("x-column")]


def _entry(work: ProjectPage, kind: str, name: str) -> Entry:
    found = privacy_settings.entries(kind, work.words.code).get(name)
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


def _model_at(chosen: list[Chosen], number: int) -> Chosen:
    if not 0 <= number < len(chosen):
        raise NotFound()
    return chosen[number]


def _problem_parts(work: ProjectPage, error: VeladoError) -> list[ProblemPart]:
    return [ProblemPart(**problems.part(one, work.words.code)) for one in (error, *error.others)]
