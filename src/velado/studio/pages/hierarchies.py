"""Hierarchies: all of a table at a glance, and the workshop of one, with what it makes of the column before it is saved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import APIRouter, Response

from velado import catalog
from velado.errors import VeladoError
from velado.hierarchies import Hierarchy, described
from velado.hierarchies.build import check_description
from velado.report.charts.tree import tree
from velado.results import Discreet
from velado.service.projects import hierarchies
from velado.service.sources import operations as sources
from velado.service.sources import uploads
from velado.service.unit_of_work import Reach, Unasked
from velado.service.web import downloads, problems
from velado.studio.forms import hierarchy_form as forms
from velado.studio.forms.column_refs import column_change, column_of, other_columns, same_attribute
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import ASKED, PageRoute

router = APIRouter(route_class=PageRoute)
WHOLE = "whole"
"""What ``?show=`` says of a page that waits for what a worker builds; without it the page comes at once and loads that part."""
PAGE = 50
MOST = 10_000
"""Values that the editor of trees takes."""
SOME = 2000
"""Values by which a hierarchy is drawn."""
EXAMPLES = 2
FLAT = {"frequency": [1]}
"""A description that leaves all values as they are."""
STARTS: dict[str, Any] = {
    "mask": "right",
    "path": "/",
    "prefix": [3, 2],
    "dates": ["month", "year", "decade"],
    "known": "countries",
    "frequency": [20, 100],
}
"""What a form begins with."""
FITTING = {
    "integer": ("intervals", "frequency"),
    "number": ("intervals",),
    "date": ("dates",),
    "text": ("tree", "groups", "mask", "prefix", "path", "known", "frequency", "order"),
}
"""Kinds that fit a type of column."""


@dataclass(frozen=True, repr=False)
class Entry(Discreet):
    """A column in the list."""

    name: str
    role: str
    kind: str | None
    title: str
    said: str
    address: str
    suggested: str = ""
    found: Mapping[str, Any] | None = None


@dataclass(repr=False)
class HierarchyPage(Discreet):
    """What the page of one column shows."""

    kind: str
    values: dict[str, list[str]]
    listed: str = ""
    opened: str = ""
    format: str = ""
    offset: int = 0
    found: Mapping[str, Any] | None = None
    problems: list[problems.ProblemPart] = field(default_factory=list)
    wrong: dict[str, str] = field(default_factory=dict)
    how: str = "widths"
    changed: bool = False
    status: int = 200


# All hierarchies of a table


@router.api_route("/projects/{id}/hierarchies", methods=ASKED)
def overview(work: Working, show: str = "") -> Response:
    """All columns that are generalized, with what their hierarchies make of them."""
    found, wrong = None, []
    if show == WHOLE and work.can("profile.read"):
        try:
            found = hierarchies.list_hierarchies(work.call, work.id, work.table, EXAMPLES)
        except Unasked:
            found = None
        except VeladoError as error:
            wrong = _problem_parts(work, error)
    return work.show(
        "hierarchies.html",
        "hierarchies",
        entries=_entries(work, found or {}),
        found=found,
        wrong=wrong,
        readable=work.can("profile.read"),
        waits=work.address("hierarchies", show=WHOLE, v=work.project.version),
    )


def _entries(work: ProjectPage, found: Mapping[str, Any]) -> list[Entry]:
    profile, titles = _profile(work), _titles(work)
    entries = []
    for name, column in work.part.columns.items():
        description = column.hierarchy
        if column.role != "quasi-identifier" and description is None:
            continue
        kind = forms.kind_of(description)
        offer = profile.get(name, {}).get("hierarchy") if description is None else None
        title, said = titles.get(kind or "", ""), _short(work, description)
        suggested = _in_words(work, offer) if offer else ""
        entries.append(Entry(name, column.role, kind, title, said, _here(work, name), suggested, found.get(name)))
    return entries


def _titles(work: ProjectPage) -> dict[str, str]:
    return {entry["name"]: entry["title"] for entry in catalog(work.words.code)["hierarchies"]}


def _short(work: ProjectPage, description: Any) -> str:
    """A description in a few words, without values that it may list."""
    if forms.kind_of(description) in (None, *forms.LISTED, "order", "file"):
        return ""
    texts = forms.field_texts(description)
    return " · ".join(
        ", ".join(forms.word(one, work.words) for one in text).replace("\n", " / ")
        for name, text in texts.items()
        if text and name != forms.TOP
    )


def _in_words(work: ProjectPage, description: Any) -> str:
    kind = forms.kind_of(description)
    title = _titles(work).get(kind or "", "")
    said = _short(work, description)
    return f"{title} ({said})" if said else title


def _profile(work: ProjectPage) -> dict[str, dict[str, Any]]:
    """What was found in the columns of the table: their types, and hierarchies that suggest themselves."""
    source = work.source
    if source is None or source.state != "ready" or not work.can("profile.read"):
        return {}
    try:
        found = sources.get_profile(work.call, source.id)
    except VeladoError:
        return {}
    return {str(one.get("name")): one for one in found.get("columns", ())}


def _suggestion(work: ProjectPage, column: str) -> Any:
    """The hierarchy that suggests itself."""
    return _profile(work).get(column, {}).get("hierarchy")


# One hierarchy


@router.get("/projects/{id}/hierarchy")
def one(work: Working, column: str = "", show: str = "", kind: str = "", file: str = "", kept: str = "") -> Response:
    """The workshop of one column; ``file=csv`` is its hierarchy as a file, ``kept`` the editor that has just saved it."""
    if not column or (column not in work.part.columns and len(work.tables) > 1):
        return work.go(work.address("hierarchies"))
    said = column_of(work, column)
    if file == "csv":
        # A download is no page that could ask later: as through the REST interface, it may wait for a worker.
        asking = replace(work.call, reach=Reach.ASKS)
        return downloads.send_text(hierarchies.write_file(asking, work.id, column, work.table), f"{column}.csv")
    chosen = kind if kind in forms.KINDS else forms.kind_of(said.hierarchy) or _usual(work, column)
    if show != WHOLE or not work.can("profile.read"):
        return _page(work, column, HierarchyPage(chosen, {}), whole=False)
    try:
        shown = _open_kind(work, column, chosen)
    except Unasked:
        return _page(work, column, HierarchyPage(chosen, {}), whole=False)
    editor, _, digest = kept.partition(".")
    if digest == _digest(work, column, said.hierarchy):
        shown.opened = editor
    return _page(work, column, shown, whole=True)


def _open_kind(work: ProjectPage, column: str, kind: str) -> HierarchyPage:
    """A kind as it is saved, or as it begins."""
    said = column_of(work, column)
    saved = said.hierarchy
    shown = HierarchyPage(kind, {}, format=_lines(said.format))
    many = _most_values(kind)
    try:
        shown.found = _get(work, column, many)
    except VeladoError as error:
        # What is saved cannot be built, or reads dates that are none: another kind may.
        shown.problems = _problem_parts(work, error)
    if kind == forms.kind_of(saved) or not work.can("project.edit"):
        return _fill_fields(work, column, shown, saved)
    if shown.found is None and many == MOST:
        _try(work, column, shown, FLAT, many)
    description = _start(work, column, kind, shown.found)
    shown.changed = True
    if description is None:
        shown.found, shown.problems = (shown.found, shown.problems) if kind in forms.LISTED else (None, [])
    else:
        _try(work, column, shown, description, many)
    return _fill_fields(work, column, shown, description)


def _fill_fields(work: ProjectPage, column: str, shown: HierarchyPage, description: Any) -> HierarchyPage:
    """The fields of a form with a description in them."""
    shown.values = forms.field_texts(description)
    shown.how = "cuts" if "cuts" in shown.values else "widths"
    if shown.kind in forms.LISTED and work.can("project.edit"):
        listed = description if forms.kind_of(description) in forms.LISTED else _as_list(column, shown.found, shown.kind)
        if listed is not None and not listed.get(forms.TOP, True):
            shown.values[forms.TOP] = []
        description = None if listed is None else forms.editable(column, listed)
        shown.listed = "" if listed is None else json.dumps(description, ensure_ascii=False)
    shown.opened = _digest(work, column, description)
    return shown


def _digest(work: ProjectPage, column: str, description: Any) -> str:
    return hashlib.sha256(json.dumps([work.table, column, description], default=str).encode()).hexdigest()[:12]


def _start(work: ProjectPage, column: str, kind: str, found: Mapping[str, Any] | None) -> Any:
    """What a kind begins with: what suggests itself, or an example."""
    suggested = _suggestion(work, column)
    if forms.kind_of(suggested) == kind:
        return suggested
    if kind == "intervals":
        return {kind: _widths((found or {}).get("distribution"))}
    if kind == "order":
        return {kind: [row[0] for row in (found or {}).get("rows", ()) if row[0]]}
    if kind in forms.LISTED:
        return _as_list(column, found, kind)
    return {kind: STARTS[kind]} if kind in STARTS else None


def _widths(spread: Mapping[str, Any] | None) -> list[float]:
    """Three widths that fit the numbers of a column: about twenty intervals, ten and five."""
    if spread is None or spread["high"] <= spread["low"]:
        return [5, 10, 20]
    exact = (spread["high"] - spread["low"]) / 20
    power = 10.0 ** len(str(int(exact))) / 10 if exact >= 1 else 10.0 ** -len(str(int(1 / exact)))
    width = next(step * power for step in (1, 2, 5, 10, 20) if step * power >= exact)
    width = max(width, 1.0) if spread["whole"] else width
    return [int(w) if w.is_integer() else round(w, 9) for w in (width, 2 * width, 4 * width)]


def _as_list(column: str, found: Mapping[str, Any] | None, kind: str) -> Any:
    """A hierarchy that was built, as values in groups; None if it has more values than were asked for."""
    rows = (found or {}).get("rows")
    if not rows or found is None or found["total"] > len(rows):
        return None
    return described(_hierarchy(column, rows), kind)


def _hierarchy(column: str, rows: list[list[str]]) -> Hierarchy:
    return Hierarchy.from_rows(column, [[cell or None for cell in row] if not row[0] else row for row in rows])


# Trying and saving


@router.post("/projects/{id}/hierarchy")
def change(work: Working, column: str, show: str = "", file: str = "", kept: str = "") -> Response:
    """Try what a form says, save it, take it away, use it elsewhere; or have the page, or file, built that is looked at."""
    if show == WHOLE or file:
        return one(work, column, show, work.request.query_params.get("kind", ""), file, kept)
    wanted = work.form.text("do")
    doing = {"remove": _remove, "copy": _copy, "suggested": _use_suggestion}.get(wanted)
    if doing is not None:
        return doing(work, column)
    said = column_of(work, column)
    kind = work.form.text("kind")
    if kind not in forms.KINDS:
        kind = forms.kind_of(said.hierarchy) or _usual(work, column)
    shown = HierarchyPage(
        kind,
        _form_options(work),
        work.form.text("listed"),
        work.form.text("opened"),
        work.form.text("format"),
        _offset(work),
        how=work.form.text("how"),
        changed=True,
    )
    try:
        description = forms.read(kind, work.form, work.words)
        if kind == "file" and not description["file"]:
            shown.wrong = {"file": work.say("Choose a file.")}
            shown.status = 422 if wanted == "save" else 200
            return _page(work, column, shown, whole=True)
        description = forms.convert_listing(kind, column, description)
        if wanted == "save":
            check_description(column, {"file": "upload"} if kind == "file" else description, _formats(shown.format))
            return _save(work, column, description)
    except forms.Unreadable as problem:
        shown.wrong = {name: work.say(text) for name, text in problem.wrong.items()}
    except VeladoError as error:
        shown.problems = _problem_parts(work, error)
    if shown.wrong or shown.problems:
        shown.status = 422
        return _page(work, column, shown, whole=True)
    shown.changed = description != said.hierarchy or _formats(shown.format) != said.format
    if wanted == "tree":
        return _turn(work, column, shown, description)
    _try(work, column, shown, description, SOME)
    return _page(work, column, shown, whole=True)


def _try(work: ProjectPage, column: str, shown: HierarchyPage, description: Any, values: int) -> None:
    """Have a description built; what is wrong with it is told. Values far behind are asked for alone."""
    far = shown.offset + PAGE > values
    preview = hierarchies.Preview(
        description=description,
        table=work.table,
        offset=shown.offset if far else 0,
        values=(PAGE if far else values) if work.can("records.read") else 0,
        format=_formats(shown.format) if shown.kind == "dates" and work.can("records.read") else None,
    )
    try:
        shown.found, shown.problems = hierarchies.preview_hierarchy(work.call, work.id, column, preview), []
    except VeladoError as error:
        shown.found, shown.problems = None, _problem_parts(work, error)


def _turn(work: ProjectPage, column: str, shown: HierarchyPage, description: Any) -> Response:
    """What was described in any way, as a tree that can be edited."""
    shown.offset = 0
    _try(work, column, shown, description, MOST)
    if shown.found is not None and not shown.problems:
        shown.kind, shown.changed = "tree", True
        _fill_fields(work, column, shown, None)
    return _page(work, column, shown, whole=True)


def _save(work: ProjectPage, column: str, description: Any) -> Response:
    said = {"hierarchy": description}
    if work.form.text("kind") == "dates":
        said["format"] = _formats(work.form.text("format"))
    # The page comes whole: what is done next is done with this version. An editor stays, unless something else was saved.
    kept = f"{work.form.text('opened')}.{_digest(work, column, description)}"
    back = _here(work, column, show=WHOLE, kept=kept)
    answer = work.save(column_change(same_attribute(work, column), said), back, work.say("Saved."), whole=True)
    return _build_now(work, column, description, answer)


def _build_now(work: ProjectPage, column: str, description: Any, answer: Response) -> Response:
    """Ask for what the next page shows: else it comes without, and its old forms can be sent once more until it has it."""
    if answer.status_code == 303:
        with suppress(VeladoError):
            _get(work, column, _most_values(forms.kind_of(description)))
    return answer


def _most_values(kind: str | None) -> int:
    """How many values the editor of a kind of hierarchy shows."""
    return MOST if kind in forms.LISTED or kind == "order" else SOME


def _remove(work: ProjectPage, column: str) -> Response:
    back = work.address("hierarchies")
    return work.save(column_change(same_attribute(work, column), {"hierarchy": None}), back, work.say("Removed."), whole=True)


def _use_suggestion(work: ProjectPage, column: str) -> Response:
    found = _suggestion(work, column)
    if found is None:
        return work.go(_here(work, column))
    said = work.say("Saved.")
    return work.save(
        column_change(same_attribute(work, column), {"hierarchy": found}), work.address("hierarchies"), said, whole=True
    )


def _copy(work: ProjectPage, column: str) -> Response:
    """The same hierarchy for other columns."""
    hierarchy, chosen = column_of(work, column).hierarchy, set(work.form.all("to"))
    places = [place for place in other_columns(work, column) if place.text in chosen]
    if not places or hierarchy is None:
        return work.go(_here(work, column))
    told = work.say("Used for {columns}, too.", columns=", ".join(place.text for place in places))
    answer = work.save(column_change(places, {"hierarchy": hierarchy}), _here(work, column, show=WHOLE), told, whole=True)
    return _build_now(work, column, hierarchy, answer)


def _usual(work: ProjectPage, column: str) -> str:
    """The kind that suggests itself for a column without a hierarchy."""
    suggested = forms.kind_of(_suggestion(work, column))
    return suggested or FITTING.get(_type(work, column), FITTING["text"])[0]


def _type(work: ProjectPage, column: str) -> str:
    return str(column_of(work, column).type or _profile(work).get(column, {}).get("type") or "text")


# What is shown


def _chosen(work: ProjectPage) -> dict[str, str]:
    """What the address says of the editor."""
    return {key: value for key in ("kind", "kept") if (value := work.request.query_params.get(key))}


def _page(work: ProjectPage, column: str, shown: HierarchyPage, *, whole: bool) -> Response:
    said = column_of(work, column)
    here = _here(work, column)
    found = shown.found or {}
    rows, records = found.get("rows") or [], found.get("records") or []
    first = 0 if len(rows) <= PAGE else shown.offset
    pairs = list(zip(rows, records, strict=True))[first : first + PAGE]
    return work.show(
        "hierarchy.html",
        "hierarchies",
        shown.status,
        column=column,
        shown=shown,
        whole=whole,
        here=here,
        saved=forms.kind_of(said.hierarchy),
        kinds=catalog(work.words.code)["hierarchies"],
        fitting=FITTING.get(_type(work, column), FITTING["text"]),
        fields=forms.fields(shown.kind, work.words),
        waits=_here(work, column, show=WHOLE, **_chosen(work), v=work.project.version),
        chart=_draw_tree(work, column, rows),
        pairs=pairs,
        page=PAGE,
        drawn=len(rows),
        editor=_editor(shown) if whole else None,
        most=MOST,
        together=[place.text for place in same_attribute(work, column)[1:]],
        others=other_columns(work, column),
        editable=work.can("project.edit"),
        listed=forms.LISTED,
        upload=_upload(work, shown),
        levels=found.get("levels") or [],
    )


def _draw_tree(work: ProjectPage, column: str, rows: list[list[str]]) -> Any:
    """The tree of the values that were asked for."""
    if not rows:
        return None
    chart = tree(_hierarchy(column, rows), work.words.language)
    return replace(chart, spec={key: value for key, value in chart.spec.items() if key != "title"})


def _editor(shown: HierarchyPage) -> dict[str, Any] | None:
    """What the editor of trees must know of the table."""
    if shown.kind not in forms.LISTED or not shown.listed:
        return None
    found = shown.found or {}
    rows, records = found.get("rows") or [], found.get("records") or []
    lacking = {
        v: n for v, n in zip(found.get("uncovered_values", ()), found.get("uncovered_counts", ()), strict=True) if v is not None
    }
    return {
        "records": {row[0]: n for row, n in zip(rows, records, strict=True)} | lacking,
        "missing": any(not row[0] for row in rows),
        "uncovered": list(lacking),
    }


def _upload(work: ProjectPage, shown: HierarchyPage) -> str:
    """The name of the file that was sent."""
    named = next(iter(shown.values.get("file", ())), "").partition(":")[2]
    try:
        return uploads.get_upload(work.call, named).name if named else ""
    except VeladoError:
        return named


def _get(work: ProjectPage, column: str, values: int) -> dict[str, Any]:
    values = values if work.can("records.read") else 0
    return hierarchies.read_hierarchy(work.call, work.id, column, work.table, values)


def _problem_parts(work: ProjectPage, error: VeladoError) -> list[problems.ProblemPart]:
    """What is wrong, in the language of who looks."""
    return [problems.ProblemPart(**problems.part(one, work.words.code)) for one in (error, *error.others)]


def _here(work: ProjectPage, column: str, **query: Any) -> str:
    return work.address("hierarchy", column=column, **query)


def _form_options(work: ProjectPage) -> dict[str, list[str]]:
    """What stands in the fields of a form, by option."""
    found: dict[str, list[str]] = {}
    for key, value in work.form.fields:
        if key.startswith("option."):
            found.setdefault(key.removeprefix("option."), []).append(value)
    if not work.form.text(f"option.{forms.TOP}"):
        found[forms.TOP] = []
    return found


def _offset(work: ProjectPage) -> int:
    given = work.form.text("offset")
    return int(given) if given.isdecimal() and len(given) < 9 else 0


def _formats(text: Any) -> Any:
    """Formats of dates as a project writes them: one, or a list."""
    found = [line.strip() for line in str(text or "").splitlines() if line.strip()]
    return found if len(found) > 1 else next(iter(found), None)


def _lines(formats: Any) -> str:
    return "\n".join([formats] if isinstance(formats, str) else formats or ())
