"""The steps of a project, in the order of the work, and how far each is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from velado.sentences import Sentence
from velado.service.web.resources import jobs, releases
from velado.service.web.resources.sources import SourceAnswer

if TYPE_CHECKING:
    from velado.studio.work import Work

READY, PROBLEM, OPEN, LATER = "ready", "problem", "open", "later"
STEPS = {
    "data": Sentence("Data"),
    "columns": Sentence("Columns"),
    "hierarchies": Sentence("Hierarchies"),
    "privacy": Sentence("Privacy"),
    "run": Sentence("Run"),
    "explore": Sentence("Explore"),
    "compare": Sentence("Compare"),
    "result": Sentence("Result"),
    "utility": Sentence("Utility"),
    "risk": Sentence("Risk"),
    "attack": Sentence("Attack"),
    "publish": Sentence("Publish"),
}
GROUPS = (
    (Sentence("Configure"), ("data", "columns", "hierarchies", "privacy")),
    (Sentence("Search"), ("run", "explore", "compare")),
    (Sentence("Release"), ("result", "utility", "risk", "attack", "publish")),
)
MARKS = {READY: Sentence("ready"), PROBLEM: Sentence("problem"), OPEN: Sentence("open"), LATER: Sentence("later")}


class Step(NamedTuple):
    """A step as the frame shows it."""

    name: str
    title: Sentence
    mark: str
    address: str


def marks(work: Work, source: SourceAnswer | None) -> list[tuple[Sentence, list[Step]]]:
    """All steps by group, with their marks."""
    found = _marks(work, source)
    return [
        (title, [Step(name, STEPS[name], found[name], work.address(name)) for name in names]) for title, names in GROUPS
    ]


def _marks(work: Work, source: SourceAnswer | None) -> dict[str, str]:
    part = work.part
    light = part.get("anonymization") == "light"
    data = OPEN if source is None else {"ready": READY, "failed": PROBLEM, "deleted": PROBLEM}.get(source.state, OPEN)
    columns = _columns(part, source) if data == READY else LATER
    quasi = [c for c in (part.get("columns") or {}).values() if _role(c) == "quasi-identifier"]
    hierarchies = LATER if columns == LATER else (READY if quasi or light else OPEN)
    privacy = LATER if columns == LATER else (READY if part.get("models") or light else OPEN)
    configured = {data, columns, privacy} == {READY}
    last = _last_run(work) if work.can("jobs.read") else None
    ran = OPEN if configured else LATER
    if last is not None:
        ran = {"done": READY, "failed": PROBLEM}.get(last, ran)
    released = releases.list_releases(work.call, work.id, limit=1).items
    after = READY if released else LATER
    published = after if not released else (READY if released[0].downloadable else OPEN)
    search = OPEN if configured else LATER
    return {
        "data": data, "columns": columns, "hierarchies": hierarchies, "privacy": privacy, "run": ran, "explore": search,
        "compare": search, "result": after, "utility": after, "risk": after, "attack": after, "publish": published,
    }  # fmt: skip


def _role(column: object) -> str:
    return str(column.get("role", "")) if isinstance(column, dict) else str(column)


def _columns(part: dict[str, object], source: SourceAnswer | None) -> str:
    listed = part.get("columns") or {}
    assert isinstance(listed, dict)
    if not listed:
        return OPEN
    if source is not None and not part.get("rest") and {c.name for c in source.columns} - set(listed):
        return OPEN
    return PROBLEM if source is not None and set(listed) - {c.name for c in source.columns} else READY


def _last_run(work: Work) -> str | None:
    found = jobs.list_jobs(work.call, project=work.id, kind="run", limit=1).items
    return found[0].state if found else None
