"""Ways out of a run that failed: settings that would have worked, as one click each.

What a run says of itself (``error.fields``: what the table reaches, the nearest settings, the columns that single people out) decides which
there are; a way changes the project, and the run is tried again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from velado.errors import VeladoError
from velado.project.arguments import models_of as built
from velado.service.web.job_answer import JobProblem
from velado.studio import settings
from velado.studio.settings import Chosen, Entry
from velado.studio.work import Change, Work

DIGITS = 4
ONE_LEVEL = "full-domain"


class Way(NamedTuple):
    """A change of the project that may help; ``whole``: it is one of all tables."""

    key: str
    title: str
    note: str
    change: Change
    whole: bool


def ways(work: Work, error: JobProblem) -> list[Way]:
    """What can be done about an error, the nearest first."""
    if not work.can("project.edit") or not work.can("jobs.release"):
        return []
    # Of several tables with settings of their own nobody knows which one is meant.
    if len(work.tables) > 1 and not (settings.shared(work, "models") and settings.shared(work, "method")):
        return []
    make = _MAKERS.get(error.code)
    return [] if make is None else list(make(work, error.fields or {}))


def _no_solution(work: Work, fields: Mapping[str, Any]) -> Iterator[Way]:
    nearest = fields.get("nearest") or {}
    share = nearest.get("suppression", fields.get("needed"))
    if share is not None:
        yield from _suppression(work, float(share), int(nearest.get("suppressed") or fields.get("suppressed") or 0))
    reached, failing = fields.get("reached") or {}, fields.get("failing") or []
    yield from _weaker(work, {name: reached.get(name) for name in failing})
    yield from _methods(work, lambda entry: entry["proves"] and not entry["monotone_only"])


def _too_small(work: Work, fields: Mapping[str, Any]) -> Iterator[Way]:
    most = fields.get("reached")
    if isinstance(most, int):
        yield from _weaker(work, {}, lambda name, value: most if isinstance(value, int) and value > most else None)


def _too_few(work: Work, fields: Mapping[str, Any]) -> Iterator[Way]:
    wanted, most, model = fields.get("wanted"), fields.get("reached"), fields.get("model")
    yield from _weaker(work, {}, lambda name, value: most if name == model and value == wanted else None)


def quoted(column: str) -> str:
    """The name of a column inside a sentence, so that nobody takes it for a word of it."""
    return f"“{column}”"


def _disguised(work: Work, fields: Mapping[str, Any]) -> Iterator[Way]:
    protected = {
        value
        for model in settings.models_of(work.part)
        for value in model.parameters.values()
        if isinstance(value, str)
    }
    columns = [
        name for name in fields.get("columns") or {} if name not in protected and name in settings.roles(work.part)
    ]
    if len(columns) > 1:
        listed = work.words.language.listed([quoted(name) for name in columns])
        yield Way(
            "quasi:",
            work.say("Treat {columns} as quasi-identifiers", columns=listed),
            "",
            _role(columns, "quasi-identifier"),
            False,
        )
        yield Way("out:", work.say("Leave {columns} out", columns=listed), "", _role(columns, "identifier"), False)
    for name in columns:
        note = work.say("It is generalized with the others.")
        yield Way(
            f"quasi:{name}",
            work.say("Treat {columns} as a quasi-identifier", columns=quoted(name)),
            note,
            _role([name], "quasi-identifier"),
            False,
        )
        note = work.say("The release does not have it.")
        yield Way(
            f"out:{name}",
            work.say("Leave {columns} out", columns=quoted(name)),
            note,
            _role([name], "identifier"),
            False,
        )


def _repeated(work: Work, fields: Mapping[str, Any]) -> Iterator[Way]:
    for name in settings.with_role(work.part, "identifier"):
        title = work.say("Rows with the same {column} are one person", column=quoted(name))
        yield Way(f"person:{name}", title, work.say("k then counts people, not rows."), _set("person", name), False)
    yield Way("person", work.say("Every row is a person"), "", _set("person", "rows"), False)


def _unfit(work: Work, fields: Mapping[str, Any]) -> Iterator[Way]:
    yield from _methods(work, lambda entry: not entry["monotone_only"])


def _too_large(work: Work, fields: Mapping[str, Any]) -> Iterator[Way]:
    yield from _methods(work, lambda entry: entry["recoding"] != ONE_LEVEL)


_MAKERS: Mapping[str, Callable[[Work, Mapping[str, Any]], Iterator[Way]]] = {
    "no-solution": _no_solution, "table-too-small": _too_small, "too-few-sensitive-values": _too_few,
    "identifier-in-disguise": _disguised, "repeated-identifier": _repeated, "not-monotone": _unfit, "needs-fuzzy": _unfit,
    "model-needs-whole": _unfit, "lattice-too-large": _too_large, "budget-too-small": _too_large,
}  # fmt: skip


# Changes


def _set(key: str, value: Any) -> Change:
    def change(part: dict[str, Any]) -> None:
        part[key] = value

    return change


def _role(columns: list[str], role: str) -> Change:
    """Another role; what only the old one could have goes."""

    def change(part: dict[str, Any]) -> None:
        for name in columns:
            given = part["columns"][name]
            kept = {key: given[key] for key in ("type", "format") if isinstance(given, Mapping) and key in given}
            dropped = {"operation": "drop"} if role == "identifier" else {}
            part["columns"][name] = {"role": role, **(kept if role == "quasi-identifier" else {}), **dropped}

    return change


def _suppression(work: Work, share: float, records: int) -> Iterator[Way]:
    """As much suppression as the nearest settings need."""
    method = settings.method_of(work.part)
    entry = settings.entries("methods", work.words.code).get(method.name)
    limit = None if entry is None else settings.limit_of(entry)
    if limit is None:
        return
    counted = isinstance(method.parameters.get(limit), str)
    rounded = min(1.0, math.ceil(share * 10**DIGITS) / 10**DIGITS)
    value: float | str = f"{records} records" if counted else rounded
    title = (
        work.say("Let more records be suppressed: {n}", n=work.words.integer(records))
        if counted
        else work.say("Let {share} of the records be suppressed", share=work.words.percent(rounded, 2))
    )
    note = work.say("Records: {n}", n=work.words.integer(records)) if records and not counted else ""
    changed = {method.name: {**method.parameters, limit: value}}
    yield Way("suppression", title, note, _set("method", changed), settings.shared(work, "method"))


def _weaker(
    work: Work, reached: Mapping[str, Any], instead: Callable[[str, Any], Any] = lambda name, value: None
) -> Iterator[Way]:
    """Models as weak as what the table reaches: all of those that fail, since one alone would not help."""
    known = settings.entries("models", work.words.code)
    models = settings.models_of(work.part)
    told = []
    for number, model in enumerate(models):
        entry = known.get(model.name)
        if entry is None:
            continue
        figure = reached.get(model.name, reached.get(_with_column(entry, model)))
        given = _weakened(entry, model, figure, instead)
        if given == model.parameters or not _valid(model.name, given):
            continue
        before, after = (settings.requirement(entry, one, work.words) for one in (model.parameters, given))
        told.append(work.say("{model}: {after} instead of {before}", model=entry["title"], after=after, before=before))
        models[number] = Chosen(model.name, given)
    if told:
        changed = [model.written() for model in models]
        title = told[0] if len(told) == 1 else work.say("Ask for what the table can reach")
        note = work.say("It is all that the table reaches.") if len(told) == 1 else "; ".join(told)
        yield Way("models", title, note, _set("models", changed), settings.shared(work, "models"))


def _with_column(entry: Entry, model: Chosen) -> str:
    """How an error calls a model that the project has several times."""
    columns = [
        model.parameters.get(n) for n, about in entry["parameters"]["properties"].items() if about.get("x-column")
    ]
    return f"{model.name} ({columns[0]})" if columns else model.name


def _weakened(entry: Entry, model: Chosen, figure: Any, instead: Callable[[str, Any], Any]) -> dict[str, Any]:
    given = dict(model.parameters)
    for position, (name, strength) in enumerate(entry["strength"].items()):
        found = instead(model.name, given.get(name)) if strength["safer"] == "larger" else None
        if found is None and strength["sign"] != "=":
            found = figure.get(name) if isinstance(figure, Mapping) else figure if position == 0 else None
        if isinstance(found, (int, float)) and isinstance(given.get(name), (int, float)):
            weak = _rounded(float(found), strength, entry["parameters"]["properties"][name].get("type") == "integer")
            larger = strength["safer"] == "larger"
            if (weak < given[name]) if larger else (weak > given[name]):
                given[name] = weak
    return given


def _rounded(value: float, strength: Mapping[str, Any], whole: bool) -> float:
    """To the side that the table does reach."""
    scale = 1 if whole else 10**DIGITS
    if strength["safer"] == "larger":
        weak = math.floor(value * scale + 1e-9) / scale
    else:
        weak = (math.ceil(value * scale - 1e-9) + (strength["sign"] == "<")) / scale
    return int(weak) if float(weak).is_integer() else weak


def _valid(name: str, given: Mapping[str, Any]) -> bool:
    try:
        built([{name: dict(given)}])
    except VeladoError:
        return False
    return True


def _methods(work: Work, fits: Callable[[Entry], bool]) -> Iterator[Way]:
    """Other methods that take all models and need nothing else to be said; those of fuzzy classes only where no other does."""
    mine = settings.method_of(work.part)
    models = {model.name for model in settings.models_of(work.part)}
    found = [
        entry
        for name, entry in settings.entries("methods", work.words.code).items()
        if name != mine.name and models <= set(entry["models"]) and not entry["parameters"]["required"] and fits(entry)
    ]
    crisp = [entry for entry in found if "fuzzy" not in entry["judges"]]
    for entry in crisp or found:
        kept = {key: value for key, value in mine.parameters.items() if key in entry["parameters"]["properties"]}
        title = work.say("Use the method {method}", method=entry["title"])
        change = _set("method", {entry["name"]: kept})
        yield Way(f"method:{entry['name']}", title, entry["meaning"], change, settings.shared(work, "method"))
