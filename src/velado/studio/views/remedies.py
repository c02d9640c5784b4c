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
from velado.service.jobs.answers import JobProblem
from velado.service.projects.document import Chosen, Document
from velado.studio.forms import privacy_settings
from velado.studio.forms.privacy_settings import Entry
from velado.studio.project_page import Change, ProjectPage

DIGITS = 4
ONE_LEVEL = "full-domain"


class RunFix(NamedTuple):
    """A change of the project that may help; ``whole``: it is one of all tables. Where several columns are in the way, those about
    one ``column`` stand together under its name, each in ``short``."""

    key: str
    title: str
    note: str
    change: Change
    whole: bool
    column: str = ""
    short: str = ""


def suggest_fixes(work: ProjectPage, error: JobProblem) -> list[RunFix]:
    """What can be done about an error, the nearest first."""
    if not work.can("project.edit") or not work.can("jobs.release"):
        return []
    # Of several tables with settings of their own nobody knows which one is meant.
    if len(work.tables) > 1 and not (privacy_settings.is_shared(work, "models") and privacy_settings.is_shared(work, "method")):
        return []
    make = _MAKERS.get(error.code)
    return [] if make is None else list(make(work, error.fields or {}))


def _no_solution(work: ProjectPage, fields: Mapping[str, Any]) -> Iterator[RunFix]:
    nearest = fields.get("nearest") or {}
    share = nearest.get("suppression", fields.get("needed"))
    if share is not None:
        yield from _suppression(work, float(share), int(nearest.get("suppressed") or fields.get("suppressed") or 0))
    reached, failing = fields.get("reached") or {}, fields.get("failing") or []
    yield from _weaker_models(work, {name: reached.get(name) for name in failing})
    yield from _methods(work, lambda entry: entry["proves"] and not entry["monotone_only"])


def _too_small(work: ProjectPage, fields: Mapping[str, Any]) -> Iterator[RunFix]:
    most = fields.get("reached")
    if isinstance(most, int):
        yield from _weaker_models(work, {}, lambda name, value: most if isinstance(value, int) and value > most else None)


def _too_few(work: ProjectPage, fields: Mapping[str, Any]) -> Iterator[RunFix]:
    wanted, most, model = fields.get("wanted"), fields.get("reached"), fields.get("model")
    yield from _weaker_models(work, {}, lambda name, value: most if name == model and value == wanted else None)


def quote(column: str) -> str:
    """The name of a column inside a sentence, so that nobody takes it for a word of it."""
    return f"“{column}”"


def _identifier_in_disguise(work: ProjectPage, fields: Mapping[str, Any]) -> Iterator[RunFix]:
    """All columns as quasi-identifiers, or left out; then column by column what the hint offers as lines to paste."""
    dangers: Mapping[str, list[str]] = fields.get("columns") or {}
    known, protected = work.part.columns, _protected_columns(work)
    columns = [name for name in dangers if name in known or work.part.rest == "insensitive"]
    free = [name for name in columns if name not in protected]
    if len(free) > 1:
        listed = work.words.language.join_words([quote(name) for name in free])
        title = work.say("Treat {columns} as quasi-identifiers", columns=listed)
        yield RunFix("quasi:", title, "", _role(free, "quasi-identifier"), False)
        yield RunFix("out:", work.say("Leave {columns} out", columns=listed), "", _role(free, "identifier"), False)
    unknown = [name for name in columns if not {"content", "copy"} & set(dangers[name])]
    if len(unknown) > 1:
        listed = work.words.language.join_words([quote(name) for name in unknown])
        title = work.say("Only the person and the keeper know {columns}", columns=listed)
        yield RunFix("never:", title, "", _describe_columns(unknown, known="never"), False)
    for name in columns:
        for one in _column_fixes(work, name, dangers[name], name in free, (fields.get("rounding") or {}).get(name)):
            yield one if len(columns) > 1 else one._replace(column="")


def _protected_columns(work: ProjectPage) -> set[str]:
    """Columns that a model of the project protects: they stay sensitive."""
    models = work.part.models
    return {value for model in models for value in model.parameters.values() if isinstance(value, str)}


def _column_fixes(work: ProjectPage, name: str, dangers: list[str], free: bool, rounded: Any) -> Iterator[RunFix]:
    """What can be done about one column that singles people out."""
    column = quote(name)

    def fix(key: str, title: str, note: str, short: str, change: Change) -> RunFix:
        return RunFix(f"{key}:{name}", title, note, change, False, name, short)

    if free:
        title = work.say("Treat {columns} as a quasi-identifier", columns=column)
        note, short = work.say("It is generalized with the others."), work.say("It is a quasi-identifier")
        yield fix("quasi", title, note, short, _role([name], "quasi-identifier"))
        title, note = work.say("Leave {columns} out", columns=column), work.say("The release does not have it.")
        yield fix("out", title, note, work.say("Leave it out"), _role([name], "identifier"))
    if not {"content", "copy"} & set(dangers):
        title = work.say("Only the person and the keeper know {columns}", columns=column)
        note = work.say("It stays as it is. How many would be alone if somebody knew it stands beside the highest risk.")
        short = work.say("Only the person and the keeper know it")
        yield fix("never", title, note, short, _describe_columns([name], known="never"))
    if isinstance(rounded, (int, float)):
        step = work.words.number(rounded, 6)
        title = work.say("Round {column} to {step}", column=column, step=step)
        note = work.say("That is enough for people to hide.")
        if "joint" in dangers:
            note = work.say("Together with other columns it may still be too fine.")
        yield fix(
            "round", title, note, work.say("Round it to {step}", step=step), _describe_columns([name], operation={"round": rounded})
        )
    title = work.say("Accept the exposure of {column}", column=column)
    note = work.say("You answer for it: the release and its manifest say so, with the figures.")
    yield fix("accepted", title, note, work.say("Accept the exposure"), _describe_columns([name], exposure="accepted"))


def _repeated_identifier(work: ProjectPage, fields: Mapping[str, Any]) -> Iterator[RunFix]:
    for name in work.part.with_role("identifier"):
        title = work.say("Rows with the same {column} are one person", column=quote(name))
        yield RunFix(f"person:{name}", title, work.say("k then counts people, not rows."), _set("person", name), False)
    yield RunFix("person", work.say("Every row is a person"), "", _set("person", "rows"), False)


def _unfit(work: ProjectPage, fields: Mapping[str, Any]) -> Iterator[RunFix]:
    yield from _methods(work, lambda entry: not entry["monotone_only"])


def _too_large(work: ProjectPage, fields: Mapping[str, Any]) -> Iterator[RunFix]:
    yield from _methods(work, lambda entry: entry["recoding"] != ONE_LEVEL)


_MAKERS: Mapping[str, Callable[[ProjectPage, Mapping[str, Any]], Iterator[RunFix]]] = {
    "no-solution": _no_solution,
    "table-too-small": _too_small,
    "too-few-sensitive-values": _too_few,
    "identifier-in-disguise": _identifier_in_disguise,
    "repeated-identifier": _repeated_identifier,
    "not-monotone": _unfit,
    "needs-fuzzy": _unfit,
    "model-needs-whole": _unfit,
    "lattice-too-large": _too_large,
    "budget-too-small": _too_large,
}


# Changes


def _set(key: str, value: Any) -> Change:
    return lambda part: part.put(key, value)


def _role(columns: list[str], role: str) -> Change:
    """Another role; what only the old one could have goes."""

    def change(part: Document) -> None:
        for name in columns:
            column = part.column(name)
            own = {} if column is None else column.own
            kept = {key: own[key] for key in ("type", "format") if key in own}
            part.put_column(name, {"role": role, **(kept if role == "quasi-identifier" else {"operation": "drop"})})

    return change


def _describe_columns(columns: list[str], **said: Any) -> Change:
    """Something else that is said of columns that pass through; one that is not listed is insensitive."""

    def change(part: Document) -> None:
        for name in columns:
            column = part.column(name)
            part.put_column(name, {**({"role": "insensitive"} if column is None else column.own), **said})

    return change


def _suppression(work: ProjectPage, share: float, records: int) -> Iterator[RunFix]:
    """As much suppression as the nearest settings need."""
    method = work.part.method
    entry = privacy_settings.entries("methods", work.words.code).get(method.name)
    limit = None if entry is None else privacy_settings.limit_of(entry)
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
    yield RunFix("suppression", title, note, _set("method", changed), privacy_settings.is_shared(work, "method"))


def _weaker_models(
    work: ProjectPage, reached: Mapping[str, Any], instead: Callable[[str, Any], Any] = lambda name, value: None
) -> Iterator[RunFix]:
    """Models as weak as what the table reaches: all of those that fail, since one alone would not help."""
    known = privacy_settings.entries("models", work.words.code)
    models = work.part.models
    told = []
    for number, model in enumerate(models):
        entry = known.get(model.name)
        if entry is None:
            continue
        figure = reached.get(model.name, reached.get(_with_column(entry, model)))
        given = _weaken_parameters(entry, model, figure, instead)
        if given == model.parameters or not _valid(model.name, given):
            continue
        before, after = (privacy_settings.requirement(entry, one, work.words) for one in (model.parameters, given))
        told.append(work.say("{model}: {after} instead of {before}", model=entry["title"], after=after, before=before))
        models[number] = Chosen(model.name, given)
    if told:
        changed = [model.as_spec() for model in models]
        title = told[0] if len(told) == 1 else work.say("Ask for what the table can reach")
        note = work.say("It is all that the table reaches.") if len(told) == 1 else "; ".join(told)
        yield RunFix("models", title, note, _set("models", changed), privacy_settings.is_shared(work, "models"))


def _with_column(entry: Entry, model: Chosen) -> str:
    """How an error calls a model that the project has several times."""
    columns = [model.parameters.get(n) for n, about in entry["parameters"]["properties"].items() if about.get("x-column")]
    return f"{model.name} ({columns[0]})" if columns else model.name


def _weaken_parameters(entry: Entry, model: Chosen, figure: Any, instead: Callable[[str, Any], Any]) -> dict[str, Any]:
    given = dict(model.parameters)
    for position, (name, strength) in enumerate(entry["strength"].items()):
        found = instead(model.name, given.get(name)) if strength["safer"] == "larger" else None
        if found is None and strength["sign"] != "=":
            found = figure.get(name) if isinstance(figure, Mapping) else figure if position == 0 else None
        if isinstance(found, (int, float)) and isinstance(given.get(name), (int, float)):
            weak = _round_weaker(float(found), strength, entry["parameters"]["properties"][name].get("type") == "integer")
            larger = strength["safer"] == "larger"
            if (weak < given[name]) if larger else (weak > given[name]):
                given[name] = weak
    return given


def _round_weaker(value: float, strength: Mapping[str, Any], whole: bool) -> float:
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


def _methods(work: ProjectPage, fits: Callable[[Entry], bool]) -> Iterator[RunFix]:
    """Other methods that take all models and need nothing else to be said; those of fuzzy classes only where no other does."""
    mine = work.part.method
    models = {model.name for model in work.part.models}
    found = [
        entry
        for name, entry in privacy_settings.entries("methods", work.words.code).items()
        if name != mine.name and models <= set(entry["models"]) and not entry["parameters"]["required"] and fits(entry)
    ]
    crisp = [entry for entry in found if "fuzzy" not in entry["judges"]]
    for entry in crisp or found:
        kept = {key: value for key, value in mine.parameters.items() if key in entry["parameters"]["properties"]}
        title = work.say("Use the method {method}", method=entry["title"])
        change = _set("method", {entry["name"]: kept})
        yield RunFix(f"method:{entry['name']}", title, entry["meaning"], change, privacy_settings.is_shared(work, "method"))
