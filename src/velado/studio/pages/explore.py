"""Every node of the generalization lattice: drawn, listed, one with its classes, the way between two, and its release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Response

from velado.choices import catalog
from velado.questions.exploration import STATUSES
from velado.report.charts import class_histogram
from velado.report.charts.bars import bins
from velado.service.errors import NotFound
from velado.service.explorations import operations as explorations
from velado.service.explorations.nodes import Filter
from velado.service.explorations.schemas import ExplorationAnswer, ExplorationEntry, NodeEntry, PathAnswer
from velado.service.jobs import operations as jobs
from velado.service.jobs.answers import JobAnswer
from velado.service.projects import operations as projects
from velado.service.projects.document import Document
from velado.studio.forms import privacy_settings
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import ASKED, PageRoute
from velado.studio.words import Words

router = APIRouter(route_class=PageRoute)
ROWS = 25
"""Nodes on a page of the list, and classes of a node."""
RECORDS = 8
"""Rows that are shown as examples."""
MOST_PINS = 20
MOST_DRAWN = 10_000
"""Nodes that are drawn as a lattice; more are a map of loss and suppressed records."""
ARRAYS = ("status", "minimal")
FIGURES = ("loss", "suppressed", "highest_risk", "k", "classes", "average_risk")
"""What the drawing is coloured by and tells of each node, beside what models achieve."""
UNDER_WAY = ("queued", "running")
SORTS = ("levels", "status", "height", "loss", "suppressed", "classes", "k", "highest_risk", "objective")
Levels = tuple[int, ...]


@dataclass(frozen=True)
class ExploreQuery:
    """What the address of the page asks for."""

    node: Levels | None = None
    start: Levels | None = None
    pins: tuple[Levels, ...] = ()
    status: tuple[str, ...] = ()
    loss: float | None = None
    suppressed: int | None = None
    lowest: dict[int, int] = field(default_factory=dict)
    highest: dict[int, int] = field(default_factory=dict)
    sort: str = "status"
    descending: bool = False
    offset: int = 0
    colour: str = "loss"
    view: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str], sizes: Sequence[int]) -> ExploreQuery:
        """The query of an address; what does not fit the lattice is left out."""
        pins = (levels_of(text, sizes) for text in given.get("pins", "").split(";"))
        return cls(
            levels_of(given.get("node", ""), sizes),
            levels_of(given.get("start", ""), sizes),
            tuple(dict.fromkeys(one for one in pins if one is not None))[:MOST_PINS],
            tuple(status for status in STATUSES if f"state.{status}" in given),
            _number(given.get("loss")),
            None if (most := _number(given.get("suppressed"))) is None else int(most),
            _bounds(given, "low.", sizes),
            _bounds(given, "high.", sizes),
            given.get("sort", "status") if given.get("sort") in SORTS else "status",
            given.get("descending") == "1",
            int(_number(given.get("offset")) or 0),
            given.get("colour", "loss"),
            given.get("view", ""),
        )

    def vectors(self, sizes: Sequence[int]) -> tuple[Levels | None, Levels | None]:
        """Between which level vectors nodes are wanted; None: no bound."""
        lowest = tuple(self.lowest.get(i, 0) for i in range(len(sizes))) if self.lowest else None
        return lowest, tuple(self.highest.get(i, n - 1) for i, n in enumerate(sizes)) if self.highest else None

    def filters(self, sizes: Sequence[int]) -> dict[str, Any]:
        """The filter for the drawing."""
        lowest, highest = self.vectors(sizes)
        return {"status": self.status, "loss": self.loss, "suppressed": self.suppressed, "lowest": lowest, "highest": highest}


@dataclass(frozen=True)
class Start:
    """Whether the lattice of a table can be explored: what is lacking, and which method chooses no node."""

    lacking: str = ""
    local: str = ""


def levels_of(text: str, sizes: Sequence[int]) -> Levels | None:
    """A level vector such as ``1,0,2``; None if the lattice has no such node.

    >>> levels_of("1,0", [3, 2]), levels_of("1,2", [3, 2])
    ((1, 0), None)
    """
    parts = text.split(",")
    if len(parts) != len(sizes) or not all(p.isascii() and p.isdecimal() and len(p) < 6 for p in parts):
        return None
    found = tuple(map(int, parts))
    return found if all(x < n for x, n in zip(found, sizes, strict=True)) else None


def text_of(levels: Iterable[int]) -> str:
    """A level vector as addresses write it."""
    return ",".join(map(str, levels))


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if 0 <= found < 2**53 else None


def _bounds(given: Mapping[str, str], prefix: str, sizes: Sequence[int]) -> dict[int, int]:
    """Levels by the number of their column; a bound that bounds nothing is none."""
    found = {i: _number(given.get(f"{prefix}{i}")) for i in range(len(sizes))}
    none = {i: 0 if prefix == "low." else n - 1 for i, n in enumerate(sizes)}
    return {i: int(x) for i, x in found.items() if x is not None and x < sizes[i] and x != none[i]}


# The page


@router.get("/projects/{id}/explore")
def explore(work: Working) -> Response:
    """The lattice of the chosen table: what was found last, how far it is, or how to begin."""
    if not work.can("results.read"):
        return work.show("explore.html", "explore", refused=True)
    listed = _explorations(work)
    done = [one for one in listed if one.state == "done"]
    job = _job(work, listed[0].id, "explore") if listed and listed[0].state != "done" else None
    start = _start(work)
    shown: dict[str, Any] = {"refused": False, "job": job, "start": start, "found": None, "earlier": done}
    wanted = work.request.query_params.get("exploration")
    if done or wanted:
        chosen = _find_exploration(done, wanted)
        shown |= _exploration_context(work, explorations.open_exploration(work.call, chosen.id))
        shown["stale"] = _stale(work, chosen)
    return work.show("explore.html", "explore", **shown)


def _explorations(work: ProjectPage) -> list[ExplorationEntry]:
    """The explorations of the chosen table, the newest first."""
    found = explorations.list_explorations(work.call, work.id, limit=100).items
    return [one for one in found if one.table == work.table]


def _find_exploration(listed: Iterable[ExplorationEntry], id: str | None) -> ExplorationEntry:
    """The exploration with an id, else the newest that is done."""
    found = next((one for one in listed if one.state == "done" and id in (None, "", one.id)), None)
    if found is None:
        raise NotFound()
    return found


def _exploration_context(work: ProjectPage, explored: explorations.Exploration) -> dict[str, Any]:
    """All that is shown of an exploration."""
    query, found = work.request.query_params, explored.describe()
    asked = ExploreQuery.of(query, found.levels)
    titles = figure_titles(found, work.words)
    best = None if found.optimal is None else tuple(found.optimal)
    node = asked.node or best
    lowest, highest = asked.vectors(found.levels)
    wanted = Filter(asked.status, asked.loss, asked.suppressed, lowest, highest)
    nodes = explored.list_nodes(wanted, asked.sort, descending=asked.descending, first=asked.offset, limit=ROWS)
    # Those that are pinned, the chosen one, and the ends of a path are looked up at once.
    named = {one for one in (node, best, asked.start, *asked.pins) if one is not None}
    entries = {tuple(one.levels): one for one in explored.list_nodes(Filter(nodes=list(named))).items} if named else {}
    path = None if asked.start is None or node is None else explored.find_path(node, asked.start)
    released = query.get("job")
    return {
        "found": found,
        "asked": asked,
        "nodes": nodes,
        "node": entries.get(node) if node else None,
        "best": best,
        "pinned": [entries[one] for one in asked.pins],
        "path": path,
        "titles": titles,
        "ROWS": ROWS,
        "differences": _differences(path, entries) if path else [],
        "colours": titles,
        "as_map": as_map(found, asked),
        "chosen": asked.node is not None,
        "release_job": _job(work, released, "run") if released else None,
        "drawing": _drawing(work, found, asked, titles, node, path),
        "text_of": text_of,
        "most_drawn": MOST_DRAWN,
        "heads": _heads(titles, work.words),
        "bounds": bounds,
        "required": model_requirement,
        "unfiltered": _unfiltered_address(work),
        "statuses": {one: work.words.label("status", one) for one in STATUSES},
    }


def _heads(titles: Mapping[str, str], say: Words) -> list[tuple[str, str, bool]]:
    """The columns of a list of nodes: by what they sort, their title, whether they are numbers."""
    first = [("levels", say("Levels"), False), ("status", say("Status"), False), ("height", say("Height"), True)]
    short = {**titles, "k": say("k before")}
    return [*first, *((name, short[name], True) for name in ("loss", "suppressed", "classes", "k", "highest_risk"))]


def bounds(low: int, high: int, sign: str) -> list[tuple[int, str]]:
    """Levels to choose from as a bound."""
    return [(level, f"{sign} {level}") for level in range(low, high + 1)]


def model_requirement(model: Mapping[str, Any], words: Words) -> str:
    """What a model asks for, as the other pages write it: ℓ ≥ 2."""
    entry = privacy_settings.entries("models", words.code).get(model["name"])
    return "–" if entry is None else privacy_settings.requirement(entry, model["required"], words)


def _unfiltered_address(work: ProjectPage) -> str:
    """The address of the page without filters."""
    from velado.studio.request import with_query

    kept = ("table", "exploration", "node", "start", "pins", "sort", "descending", "colour", "view")
    query = work.request.query_params
    return with_query(work.request.url.path, **{key: query[key] for key in kept if query.get(key)})


def as_map(found: ExplorationAnswer, asked: ExploreQuery) -> bool:
    """Whether the nodes are drawn as a map: because they are too many, or because somebody wants it."""
    return (found.nodes or 0) > MOST_DRAWN or asked.view == "map"


def _differences(path: PathAnswer, entries: Mapping[Levels, NodeEntry]) -> list[tuple[str, Any, Any]]:
    """The figures at both ends of a path."""
    one, other = entries[tuple(path.start)], entries[tuple(path.end)]
    return [(name, getattr(one, name), getattr(other, name)) for name in FIGURES]


def figure_titles(found: ExplorationAnswer, say: Words) -> dict[str, str]:
    """What the drawing can be coloured by."""
    titles = {
        "loss": say("Loss"),
        "suppressed": say("Suppressed records"),
        "highest_risk": say("Highest risk"),
        "k": say("Smallest class before suppression"),
        "classes": say("Classes"),
        "average_risk": say("Average risk"),
    }
    models = {entry["name"]: entry["title"] for entry in catalog(say.code)["models"]}
    for model in found.models:
        for key in model["tells"]:
            rest = key.removeprefix(model["name"]).strip(" .")
            title = str(models.get(model["name"], model["name"])) + (f" ({rest})" if rest else "")
            titles[f"achieved({key})"] = say("Reached: {model}", model=title)
    return titles


def _drawing(
    work: ProjectPage,
    found: ExplorationAnswer,
    asked: ExploreQuery,
    titles: Mapping[str, str],
    node: Levels | None,
    path: PathAnswer | None,
) -> dict[str, Any]:
    """What the element that draws is told: where the nodes are, what is chosen, and all its words."""
    colour = asked.colour if asked.colour in titles else "loss"
    large = (found.nodes or 0) > MOST_DRAWN
    # Of very many nodes only what is drawn is fetched.
    figures = [*dict.fromkeys(("loss", "suppressed", colour))] if large else list(titles)
    query = [("format", "columns"), *(("figure", name) for name in (*ARRAYS, *figures))]
    words, say = work.words, work.say
    return {
        "source": f"/api/v1/explorations/{found.id}/nodes?{urlencode(query)}",
        "colour": colour,
        "node": "" if node is None else text_of(node),
        "pins": ";".join(map(text_of, asked.pins)),
        "path": "" if path is None else ";".join(map(text_of, path.nodes)),
        "filter": asked.filters(found.levels),
        "about": {
            "columns": found.columns,
            "sizes": found.levels,
            "rows": found.rows,
            "limit": found.limit,
            "labels": [found.labels.get(c, []) for c in found.columns],
            "statuses": [words.label("status", one) for one in STATUSES],
            "names": STATUSES,
            "most": MOST_DRAWN,
            "figures": {key: {"title": title, "share": _is_share(key), "steep": _is_steep(key)} for key, title in titles.items()},
            "texts": {
                "small": say("fewer than 3"),
                "none": "–",
                "level": say("level {level} of {top}"),
                "labels": say("{n} labels"),
                "moving": say("Up and down move {column}."),
                "minimal": say("also minimal"),
                "loss": titles["loss"],
                "suppressed": titles["suppressed"],
                "hidden": say("left out by the filters"),
                "many": say("{n} nodes here; the best of them is shown"),
                "limit": words.say("suppression limit"),
                "failed": say("The nodes could not be loaded. Reload the page."),
            },
        },
    }


def _is_share(key: str) -> bool:
    return key in ("highest_risk", "average_risk") or key.startswith("achieved(average-risk")


def _is_steep(key: str) -> bool:
    """Whether most nodes have small numbers, and few very large ones."""
    return key in ("k", "classes", "suppressed") or key.startswith(("achieved(k-", "achieved(alpha-k"))


def _job(work: ProjectPage, id: str, kind: str) -> JobAnswer | None:
    """A job of the project that is among the last ones."""
    if not work.can("jobs.read"):
        return None
    found = jobs.list_jobs(work.call, project=work.id, kind=kind, limit=50).items
    return next((one for one in found if one.id == id), None)


def _start(work: ProjectPage) -> Start:
    """What is lacking before the lattice can be explored, and whether the method of the project has none."""
    part, lacking = work.part, ""
    if part.is_light:
        lacking = "light"
    elif not part.source:
        lacking = "data"
    elif not part.with_role("quasi-identifier"):
        lacking = "columns"
    elif not part.models:
        lacking = "privacy"
    method = part.method.name
    full = {m["name"] for m in catalog("en")["methods"] if m["recoding"] == "full-domain"}
    return Start(lacking, "" if method in full else method)


def _stale(work: ProjectPage, entry: ExplorationEntry) -> bool:
    """Whether what is explored has changed since: another name or another output changes nothing."""
    if entry.version in (None, work.project.version):
        return False
    try:
        before = Document(projects.read_version(work.call, work.id, int(entry.version or 0)).document).table(work.table)
    except (NotFound, KeyError):
        return True
    then, now = ({**part.with_shared(), **dict.fromkeys(("name", "output", "tables"))} for part in (before, work.part))
    return then != now or (before.whole or before).attributes != work.document.attributes


# Forms


@router.post("/projects/{id}/explore")
def begin(work: Working) -> Response:
    """Explore; with another method, the project itself stays as it is."""
    if not any(one.state in UNDER_WAY for one in _explorations(work)):
        parameters: dict[str, Any] = {"table": work.table} if work.table else {}
        if work.form.text("method") == "lattice":
            share = _number(work.form.text("suppression").replace(",", "."))
            parameters["method"] = {"lattice": {"suppression": min(1.0, (5 if share is None else share) / 100)}}
        work.submit("explore", project=work.id, parameters=parameters)
    return work.go(work.address("explore"))


@router.post("/projects/{id}/explore/release")
def release(work: Working) -> Response:
    """Release a node: a run of what was explored, at its levels."""
    exploration, node = _find_exploration(_explorations(work), work.form.text("exploration")), work.form.text("node")
    begun = explorations.release_node(work.call, exploration.id, node)
    return work.go(_back(work, job=begun.job), work.say("The levels {levels} are being released.", levels=node))


@router.post("/projects/{id}/explore/method")
def adopt(work: Working) -> Response:
    """Make the levels of a node the method of the project."""
    chosen = _find_exploration(_explorations(work), work.form.text("exploration"))
    found = explorations.open_exploration(work.call, chosen.id).describe()
    levels = levels_of(work.form.text("node"), found.levels)
    if levels is None:
        raise NotFound()
    fixed = {"levels": dict(zip(found.columns, levels, strict=True)), "suppression": f"{found.limit} records"}
    said = work.say("The project now uses these levels.")
    return work.save(lambda part: part.put("method", {"fixed": fixed}), _back(work), said)


def _back(work: ProjectPage, **more: Any) -> str:
    """Where a form of this page came from."""
    from velado.studio.request import with_query

    given, page = work.form.text("back"), f"/projects/{work.id}/explore"
    return with_query(given if given.partition("?")[0] == page else work.address("explore"), **more)


# One node


@router.api_route("/projects/{id}/explore/node", methods=ASKED)
def node(work: Working) -> Response:
    """The classes of a node, how large they are, and example rows; a worker counts them."""
    query = work.request.query_params
    chosen = _find_exploration(_explorations(work), query.get("exploration"))
    found = explorations.open_exploration(work.call, chosen.id).describe()
    levels = levels_of(query.get("node", ""), found.levels) or (tuple(found.optimal) if found.optimal else None)
    if levels is None:
        raise NotFound()
    offset = int(_number(query.get("classes")) or 0)
    records = RECORDS if work.can("records.read") else 0
    told = explorations.read_node(work.call, found.id, text_of(levels), offset=offset, limit=ROWS, records=records, l=2)
    sizes = [(size, often) for size, often in told.get("sizes", ()) if isinstance(size, int) and isinstance(often, int)]
    counted = np.repeat(*(np.array(one, dtype=np.int64) for one in zip(*sizes, strict=True))) if sizes else np.zeros(0, np.int64)
    language = work.words.language
    heads = (language.say("records in the class"), language.say("classes"), language.say("records"))
    return work.show(
        "explore_node.html",
        "explore",
        found=found,
        levels=levels,
        told=told,
        offset=offset,
        ROWS=ROWS,
        chart=class_histogram(counted, language) if sizes else None,
        text_of=text_of,
        sensitive=_sensitive(told),
        figures=[heads, *((b.label(language), language.integer(b.classes), language.integer(b.records)) for b in bins(counted))],
        few=any(not isinstance(size, int) for size, _ in told.get("sizes", ())),
        page=work.address("explore", exploration=found.id, node=text_of(levels)),
    )


def _sensitive(told: Mapping[str, Any]) -> list[str]:
    """The sensitive columns of which classes tell."""
    return list(next((one["sensitive"] for one in told.get("classes", ()) if one.get("sensitive")), ()))
