"""The steps of a project, in the order of the work, and how far each is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from velado.sentences import Sentence
from velado.service.jobs import operations as jobs
from velado.service.projects.document import Document
from velado.service.releases import operations as releases
from velado.service.sources.schemas import SourceAnswer

if TYPE_CHECKING:
    from velado.studio.project_page import ProjectPage

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


def marks(work: ProjectPage, source: SourceAnswer | None) -> list[tuple[Sentence, list[Step]]]:
    """All steps by group, with their marks."""
    found = _marks(work, source)
    return [(title, [Step(name, STEPS[name], found[name], work.address(name)) for name in names]) for title, names in GROUPS]


def _marks(work: ProjectPage, source: SourceAnswer | None) -> dict[str, str]:
    part = work.part
    data = OPEN if source is None else {"ready": READY, "failed": PROBLEM, "deleted": PROBLEM}.get(source.state, OPEN)
    columns = _columns(part, source) if data == READY else LATER
    hierarchies = LATER if columns == LATER else (READY if part.is_light or part.with_role("quasi-identifier") else OPEN)
    privacy = LATER if columns == LATER else (READY if part.is_light or part.models else OPEN)
    configured = {data, columns, privacy} == {READY}
    last = _last_run(work) if work.can("jobs.read") else None
    ran = OPEN if configured else LATER
    if last is not None:
        ran = {"done": READY, "failed": PROBLEM}.get(last, ran)
    released = releases.newest_release(work.call, work.id)
    after = READY if released else LATER
    # Whose exposure is accepted, or within an allowance, is exposed: that is nothing to tick off.
    exposed = released is not None and released.has_exposed_people()
    judged = OPEN if exposed else after
    published = after if released is None else (READY if released.downloadable and not exposed else OPEN)
    search = OPEN if configured else LATER
    return {
        "data": data,
        "columns": columns,
        "hierarchies": hierarchies,
        "privacy": privacy,
        "run": ran,
        "explore": search,
        "compare": search,
        "result": judged,
        "utility": after,
        "risk": judged,
        "attack": after,
        "publish": published,
    }


def _columns(part: Document, source: SourceAnswer | None) -> str:
    listed = part.columns
    if not listed:
        return OPEN
    if source is not None and not part.rest and {c.name for c in source.columns} - set(listed):
        return OPEN
    return PROBLEM if source is not None and set(listed) - {c.name for c in source.columns} else READY


def _last_run(work: ProjectPage) -> str | None:
    found = jobs.list_jobs(work.call, project=work.id, kind="run", limit=1).items
    return found[0].state if found else None
