"""The page 'Result': what was released, what holds, rows before and after, classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from fastapi import APIRouter, Query, Response

from velado.errors import VeladoError
from velado.evaluation.risk import required_size
from velado.methods import METHODS
from velado.models import model_from
from velado.report import charts
from velado.report.chapters.release import fate_in_words, parameter_in_words, proof_in_words
from velado.report.charts.bars import bins
from velado.service.errors import NotFound
from velado.service.web.resources import release_rows, sources
from velado.studio.released import Seen, problem_of, see, wide
from velado.studio.visit import PageRoute
from velado.studio.words import Words
from velado.studio.work import Working

router = APIRouter(route_class=PageRoute)
ROWS = 25
CLASSES = 50
TOP = 20
TERMS = {
    "l_distinct": "distinct-diversity", "l_entropy": "entropy-diversity", "c": "recursive-diversity", "t_equal": "t-closeness",
    "t_ordered": "t-closeness", "t_hierarchical": "t-closeness",
}  # fmt: skip
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
    seen = see(work)
    shown = {} if seen is None else _overview(seen)
    return work.show("result.html", "result", seen=seen, tab="result", **shown)


@router.get("/projects/{id}/result/rows")
def rows(work: Working, offset: Offset = 0, original: Offset = 0) -> Response:
    """Rows as they were, and as they are released."""
    seen = see(work)
    shown = {} if seen is None else _rows(seen, offset, original)
    return work.show("result.html", "result", seen=seen, tab="result/rows", **shown)


@router.get("/projects/{id}/result/original")
def original_rows(work: Working, original: Offset = 0) -> Response:
    """Rows as they were, where they live elsewhere and take their time."""
    seen = see(work)
    if seen is None:
        raise NotFound()
    return work.show("result_original.html", "result", seen=seen, **_original(seen, original))


@router.get("/projects/{id}/result/classes")
def classes(work: Working, offset: Offset = 0, sort: str | None = None, descending: bool = False) -> Response:
    """The equivalence classes, the riskiest first."""
    seen = see(work)
    shown = {} if seen is None else _classes(seen, offset, sort, descending)
    return work.show("result.html", "result", seen=seen, tab="result/classes", **shown)


def _overview(seen: Seen) -> dict[str, Any]:
    words, figures = seen.work.words, seen.figures
    models = seen.models()
    fates = _fates(seen)
    known = [(f.column, f.level, f.height) for f in fates if f.level is not None and f.height]
    return {
        "state": "light" if seen.light else "open" if not models else "holds" if all(m.satisfied for m in models) else "fails",
        "models": models, "figures": figures, "fates": fates, "plain": [] if seen.light else _plain(figures, words),
        "levels": wide(charts.levels(known, words.language)) if known else None,
        "level_figures": [
            (words.language.text("head.column"), words.language.text("head.level"), words.say("highest level")),
            *((c, words.number(x, 1), words.integer(h)) for c, x, h in known),
        ],
        **_search(seen),
    }  # fmt: skip


def _plain(figures: Mapping[str, Any], words: Words) -> list[str]:
    """What the figures mean, in sentences, as reports say it."""
    say, risk = words.language, figures["risk"]
    people, smallest = figures.get("people"), int(figures["class_size"].get("min", 0))
    smallest = smallest if people is None else int(people["smallest_class"])
    told = []
    if smallest > 1:
        risks = {"highest": say.percent(risk["highest"]), "average": say.percent(risk["average"])}
        told.append(say.plural("words.risk", smallest - 1, **risks))
    elif risk["singled_out_after"]:
        told.append(say.text("words.unique", n=say.integer(risk["singled_out_after"])))
    k = required_size([model_from(v["name"], v["required"]) for v in figures["models"]])
    if k is not None and risk.get("smaller_than_k_before") is not None:
        counts = {x: say.integer(risk[f"smaller_than_k_{x}"]) for x in ("before", "after")}
        told.append(say.text("words.smaller-than-k", k=say.integer(k), **counts))
    losses = figures["utility"]["columns"].items()
    worst = sorted(((x, name) for name, x in losses if x > 0), reverse=True)[:3]
    listed = say.listed([f"{name} ({say.percent(x)})" for x, name in worst]) if worst else ""
    loss = say.percent(figures["utility"]["loss"])
    told.append(say.text("words.loss", loss=loss, columns=listed) if worst else say.text("words.no-loss"))
    return told


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
    search = {
        **(seen.public.get("search") or {}),
        **{k: v for k, v in (manifest.get("search") or {}).items() if v is not None},
    }
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
        shown["after"] = release_rows.list_rows(work.call, seen.release.id, offset, ROWS, seen.table)
    except VeladoError as error:
        shown["why"] = problem_of(error, work)
    fates = {fate.column: fate for fate in _fates(seen)}
    source = _source(seen)
    # Rows of a database are read by a worker: the page does not wait for them.
    elsewhere = source is not None and source.kind == "connection"
    before = {"source_now": source, "before": None, "before_why": None, "original": original}
    return {**shown, "fates": fates, "elsewhere": elsewhere, **(before if elsewhere else _original(seen, original))}


def _source(seen: Seen) -> sources.SourceAnswer | None:
    """The table that the release was made from, if who looks may see its records and it is still there."""
    named = seen.document.get("source")
    id = named.get("source") if isinstance(named, Mapping) else None
    if not seen.work.can("records.read") or not isinstance(id, str):
        return None
    try:
        found = sources.get_source(id, seen.work.call)
    except VeladoError:
        return None
    return found if found.state == "ready" else None


def _original(seen: Seen, offset: int) -> dict[str, Any]:
    """A page of the original."""
    work, source = seen.work, _source(seen)
    shown: dict[str, Any] = {
        "source_now": source,
        "before": None,
        "before_why": None,
        "original": offset,
        "limit": ROWS,
    }
    if source is None:
        return {**shown, "fates": {}}
    try:
        shown["before"] = sources.get_rows(source.id, work.call, offset=offset, limit=ROWS, where=[])
    except VeladoError as error:
        shown["before_why"] = problem_of(error, work)
    return {**shown, "fates": {fate.column: fate for fate in _fates(seen)}}


def _classes(seen: Seen, offset: int, sort: str | None, descending: bool) -> dict[str, Any]:
    work = seen.work
    shown: dict[str, Any] = {"page": None, "why": None, "heads": [], "sort": sort, "descending": descending}
    try:
        page = release_rows.list_classes(
            work.call, seen.release.id, offset, CLASSES, seen.table, sort=sort, descending=descending
        )
        shown |= {"page": page, "heads": _heads(page.columns, len(seen.public.get("columns") or {}), work.words)}
    except VeladoError as error:
        shown["why"] = problem_of(error, work)
    return {**shown, "offset": offset, "limit": CLASSES, "pictures": _pictures(seen), "note": _unit(seen)}


def _heads(columns: list[str], quasi: int, words: Words) -> list[tuple[str, list[Head]]]:
    """The columns of the list of classes, by what they are about: labels, the class, each sensitive column."""
    labels = [
        Head(name, name.partition(" #")[0] if name not in columns[:quasi] else name, "label")
        for name in columns[:quasi]
    ]
    groups: dict[str, list[Head]] = {words.say("shows"): labels, words.say("class"): []}
    for name in columns[quasi:]:
        plain = name.partition(" #")[0]
        what, _, column = plain.partition("(")
        if column:
            title = words.language.text("class.c", l=2) if what == "c" else words.label("class", what)
            kind = "integer" if what == "l_distinct" else "number"
            groups.setdefault(column.removesuffix(")"), []).append(Head(name, title, kind, TERMS.get(what, "")))
        else:
            title = words.language.text("head.size") if what == "records" else words.label("class", what)
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
    heads = (say.text("axis.class-size"), say.text("axis.classes"), say.text("axis.records"))
    top = sorted(sizes.tolist(), reverse=True)[:TOP]
    drawn: list[tuple[charts.Chart, str, list[tuple[str, ...]]]] = [
        (wide(charts.class_histogram(sizes, say)), say.text("chart.classes"), [heads, *found]),
        (
            wide(charts.top_classes(sizes, say, TOP)),
            say.text("chart.top-classes", n=say.integer(len(top))),
            [
                (say.text("axis.class-rank"), say.text("axis.records")),
                *((say.integer(i), say.integer(n)) for i, n in enumerate(top, 1)),
            ],
        ),
    ]
    for column, often in seen.shape.distinct.items():
        distinct = np.repeat(*np.array(often, dtype=np.int64).reshape(-1, 2).T)
        title = say.text("chart.diversity", column=column)
        told: list[tuple[str, ...]] = [
            (words.say("different values"), say.text("axis.classes")),
            *((say.integer(n), say.integer(t)) for n, t in often),
        ]
        drawn.append((wide(charts.diversity_histogram(distinct, column, say)), title, told))
    return drawn
