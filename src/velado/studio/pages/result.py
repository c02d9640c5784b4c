"""The page 'Result': what was released, what holds, rows before and after, classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from fastapi import APIRouter, Query, Response

from velado.errors import VeladoError
from velado.evaluation import shown
from velado.methods import METHODS
from velado.report import charts
from velado.report.chapters.release import fate_in_words, parameter_in_words, proof_in_words
from velado.report.charts.bars import bins
from velado.service.errors import NotFound
from velado.service.releases import operations as releases
from velado.service.sources import operations as sources
from velado.service.sources.schemas import SourceAnswer
from velado.studio.project_page import Working
from velado.studio.request import ASKED, PageRoute
from velado.studio.views.release_view import Seen, fill_width, open_release, problem_of
from velado.studio.words import Words

router = APIRouter(route_class=PageRoute)
ROWS = 25
CLASSES = 50
TOP = 20
TERMS = {
    "l_distinct": "distinct-diversity",
    "l_entropy": "entropy-diversity",
    "c": "recursive-diversity",
    "t_equal": "t-closeness",
    "t_ordered": "t-closeness",
    "t_hierarchical": "t-closeness",
}
"""The entries of the glossary that explain figures of a class."""
Offset = Annotated[int, Query(ge=0, lt=2**53)]


class Fate(NamedTuple):
    """A column and what became of it."""

    column: str
    role: str
    told: str
    changed: bool
    level: float | None
    height: int | None


class Head(NamedTuple):
    """A column of the list of classes: as the service calls it, as people do, what its cells are, what explains it."""

    name: str
    title: str
    kind: str
    term: str = ""


@router.get("/projects/{id}/result")
def result(work: Working) -> Response:
    """What was released, what holds, what it cost."""
    seen = open_release(work)
    shown = {} if seen is None else _overview(seen)
    return work.show("result.html", "result", seen=seen, tab="result", **shown)


@router.get("/projects/{id}/result/rows")
def rows(work: Working, offset: Offset = 0, original: Offset = 0) -> Response:
    """Rows as they were, and as they are released."""
    seen = open_release(work)
    shown = {} if seen is None else _rows(seen, offset, original)
    return work.show("result.html", "result", seen=seen, tab="result/rows", **shown)


@router.api_route("/projects/{id}/result/original", methods=ASKED)
def original_rows(work: Working, original: Offset = 0) -> Response:
    """Rows as they were, where they live elsewhere and take their time."""
    seen = open_release(work)
    if seen is None:
        raise NotFound()
    return work.show("result_original.html", "result", seen=seen, **_original(seen, original))


@router.get("/projects/{id}/result/classes")
def classes(work: Working, offset: Offset = 0, sort: str | None = None, descending: bool = False) -> Response:
    """The equivalence classes, the riskiest first."""
    seen = open_release(work)
    shown = {} if seen is None else _classes(seen, offset, sort, descending)
    return work.show("result.html", "result", seen=seen, tab="result/classes", **shown)


def _overview(seen: Seen) -> dict[str, Any]:
    words, figures = seen.work.words, seen.figures
    models = seen.models()
    fates = _fates(seen)
    known = [(f.column, f.level, f.height) for f in fates if f.level is not None and f.height]
    return {
        "state": "light" if seen.light else "open" if not models else "holds" if all(m.satisfied for m in models) else "fails",
        "exposed": seen.exposure,
        "models": models,
        "figures": figures,
        "fates": fates,
        "plain": [] if seen.light else _plain(figures, words),
        "levels": fill_width(charts.levels(known, words.language)) if known else None,
        "level_figures": [
            (words.say("column"), words.say("level"), words.say("highest level")),
            *((c, words.number(x, 1), words.integer(h)) for c, x, h in known),
        ],
        **_search(seen),
    }


def _plain(figures: Mapping[str, Any], words: Words) -> list[str]:
    """What the figures mean, in sentences, as reports say it."""
    say = words.language
    told = (shown.risk_sentence(figures, say), shown.small_groups_sentence(figures, say), shown.loss_sentence(figures, say))
    return [sentence for sentence in told if sentence]


def _fates(seen: Seen) -> list[Fate]:
    """All columns of the table as the manifest has them."""
    say, levels = seen.work.words.language, {} if seen.shape is None else seen.shape.levels
    found = []
    for name, about in (seen.manifest.get("columns") or {}).items():
        operation = next(iter(about.get("operation") or {}), None)
        stands = levels.get(name)
        level, height = (None, None) if stands is None else (stands.level, stands.height)
        fuzzy = "fuzzy" in seen.figures
        told = fate_in_words(about["role"], operation, level, height or 0, fuzzy, say)
        quasi = about["role"] == "quasi-identifier"
        changed = operation is not None or about["role"] == "identifier" or (quasi and level != 0)
        found.append(Fate(name, about["role"], told, changed, level if quasi else None, height if quasi else None))
    return found


def _search(seen: Seen) -> dict[str, Any]:
    """How the recoding was found."""
    words, manifest = seen.work.words, seen.manifest
    search = {**(seen.public.get("search") or {}), **{k: v for k, v in (manifest.get("search") or {}).items() if v is not None}}
    method = manifest.get("method")
    if not method:
        return {"method": None, "search": search}
    ((name, parameters),) = method.items()
    return {
        "method": words(METHODS[name].declaration.title),
        "method_name": name,
        "proof": proof_in_words(name, search, words.language),
        "parameters": [
            (words.label("parameter", key), parameter_in_words(key, value, words.language), _expert(name, key))
            for key, value in parameters.items()
            if value not in (None, {}, [])
        ],
        "search": search,
    }


def _expert(method: str, parameter: str) -> bool:
    """Whether nearly everybody leaves a parameter of a method as it is."""
    declared = METHODS[method].parameters.get(parameter)
    return declared is not None and declared.expert


def _rows(seen: Seen, offset: int, original: int) -> dict[str, Any]:
    work = seen.work
    shown: dict[str, Any] = {"after": None, "why": None, "offset": offset, "limit": ROWS}
    try:
        shown["after"] = releases.list_rows(work.call, seen.release.id, offset, ROWS, seen.table)
    except VeladoError as error:
        shown["why"] = problem_of(error, work)
    fates = {fate.column: fate for fate in _fates(seen)}
    source = _source(seen)
    # Rows of a database are read by a worker: the page does not wait for them.
    elsewhere = source is not None and source.kind == "connection"
    before = {"source_now": source, "before": None, "before_why": None, "original": original}
    return {**shown, "fates": fates, "elsewhere": elsewhere, **(before if elsewhere else _original(seen, original))}


def _source(seen: Seen) -> SourceAnswer | None:
    """The table that the release was made from, if who looks may see its records and it is still there."""
    id = seen.document.source_id
    if not seen.work.can("records.read") or id is None:
        return None
    try:
        found = sources.get_source(seen.work.call, id)
    except VeladoError:
        return None
    return found if found.state == "ready" else None


def _original(seen: Seen, offset: int) -> dict[str, Any]:
    """A page of the original."""
    work, source = seen.work, _source(seen)
    shown: dict[str, Any] = {"source_now": source, "before": None, "before_why": None, "original": offset, "limit": ROWS}
    if source is None:
        return {**shown, "fates": {}}
    try:
        shown["before"] = sources.read_rows(work.call, source.id, offset=offset, limit=ROWS, where=[])
    except VeladoError as error:
        shown["before_why"] = problem_of(error, work)
    return {**shown, "fates": {fate.column: fate for fate in _fates(seen)}}


def _classes(seen: Seen, offset: int, sort: str | None, descending: bool) -> dict[str, Any]:
    work = seen.work
    shown: dict[str, Any] = {"page": None, "why": None, "heads": [], "sort": sort, "descending": descending}
    try:
        page = releases.list_classes(work.call, seen.release.id, offset, CLASSES, seen.table, sort=sort, descending=descending)
        shown |= {"page": page, "heads": _heads(page.columns, len(seen.public.get("columns") or {}), work.words)}
    except VeladoError as error:
        shown["why"] = problem_of(error, work)
    return {**shown, "offset": offset, "limit": CLASSES, "pictures": _pictures(seen), "note": _unit(seen)}


def _heads(columns: list[str], quasi: int, words: Words) -> list[tuple[str, list[Head]]]:
    """The columns of the list of classes, by what they are about: labels, the class, each sensitive column."""
    labels = [Head(name, name.partition(" #")[0] if name not in columns[:quasi] else name, "label") for name in columns[:quasi]]
    groups: dict[str, list[Head]] = {words.say("shows"): labels, words.say("class"): []}
    for name in columns[quasi:]:
        plain = name.partition(" #")[0]
        what, _, column = plain.partition("(")
        if column:
            title = words.say("c for ℓ = {l}", l=2) if what == "c" else words.label("class", what)
            kind = "integer" if what == "l_distinct" else "number"
            groups.setdefault(column.removesuffix(")"), []).append(Head(name, title, kind, TERMS.get(what, "")))
        else:
            title = words.say("records") if what == "records" else words.label("class", what)
            groups[words.say("class")].append(Head(name, title, "percent" if what == "risk" else "integer"))
    return [(title, heads) for title, heads in groups.items() if heads]


def _unit(seen: Seen) -> str:
    """What class sizes count, if not records."""
    people = seen.shape is not None and seen.shape.people
    return seen.work.say("Class sizes count people, who may have several records.") if people else ""


def _pictures(seen: Seen) -> list[tuple[charts.Chart, str, list[tuple[str, ...]]]]:
    """Charts of the classes, each with its title and figures."""
    if seen.shape is None:
        return []
    words, say = seen.work.words, seen.work.words.language
    sizes = seen.each_size("after")
    found = [(b.label(say), say.integer(b.classes), say.integer(b.records)) for b in bins(sizes)]
    heads = (words.say("records in the class"), words.say("classes"), words.say("records"))
    top = sorted(sizes.tolist(), reverse=True)[:TOP]
    drawn: list[tuple[charts.Chart, str, list[tuple[str, ...]]]] = [
        (fill_width(charts.class_histogram(sizes, say)), words.say("Classes by size"), [heads, *found]),
        (
            fill_width(charts.top_classes(sizes, say, TOP)),
            words.say("The {n} largest classes", n=say.integer(len(top))),
            [
                (words.say("class, by size"), words.say("records")),
                *((say.integer(i), say.integer(n)) for i, n in enumerate(top, 1)),
            ],
        ),
    ]
    for column, often in seen.shape.distinct.items():
        distinct = np.repeat(*np.array(often, dtype=np.int64).reshape(-1, 2).T)
        title = words.say("Different values of {column}", column=column)
        told: list[tuple[str, ...]] = [
            (words.say("different values"), words.say("classes")),
            *((say.integer(n), say.integer(t)) for n, t in often),
        ]
        drawn.append((fill_width(charts.diversity_histogram(distinct, column, say)), title, told))
    return drawn
