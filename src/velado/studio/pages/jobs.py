"""Jobs of who looks, and for administrators of everybody: how far each is, what became of it; cancelling, trying again, deleting."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import APIRouter, Response

from velado.sentences import Sentence
from velado.service.access.permissions import project_actions
from velado.service.accounts import user_operations as users
from velado.service.jobs import operations as jobs
from velado.service.jobs.answers import JobAnswer
from velado.service.projects import operations as projects
from velado.service.projects.schemas import ProjectEntry
from velado.service.sources import operations as sources
from velado.studio.pages.run import seconds_of, stages_of
from velado.studio.request import PageRequest, PageRoute, Visiting, own_address, with_query

router = APIRouter(route_class=PageRoute)
SHOWN = 50
ENDED = ("done", "failed", "cancelled")
STATES = {
    "queued": Sentence("waiting"),
    "running": Sentence("running"),
    "done": Sentence("done"),
    "failed": Sentence("failed"),
    "cancelled": Sentence("cancelled"),
}
KINDS = {
    "inspect": Sentence("Looking at a table"),
    "estimate": Sentence("Estimate of a run"),
    "run": Sentence("Run of a project"),
    "explore": Sentence("Exploring the lattice"),
    "evaluate": Sentence("Measuring a release"),
    "compare": Sentence("Comparison of settings"),
    "balance": Sentence("Balance of settings"),
    "attack": Sentence("Attack on a release"),
    "report": Sentence("Report"),
    "check": Sentence("Measuring a table as it is"),
    "fuzzify": Sentence("Fuzzy sets"),
    "appointments": Sentence("Appointments"),
    "study": Sentence("A published experiment"),
    "checks": Sentence("Checks of a project"),
    "hierarchy": Sentence("Building hierarchies"),
    "node": Sentence("A node of the lattice"),
    "singled-out": Sentence("Who is singled out"),
    "rows": Sentence("Rows of a table"),
    "tables": Sentence("Tables of a database"),
    "test": Sentence("Test of a connection"),
}
PAGES = {
    "run": "run",
    "estimate": "run",
    "explore": "explore",
    "evaluate": "utility",
    "compare": "compare",
    "balance": "compare",
    "attack": "attack",
    "report": "publish",
}
"""Where the result of a job of a project is shown."""


class JobRow(NamedTuple):
    """A job as the pages show it; ``page`` is where its result is, ``ours``: who looks may try it again and delete it."""

    job: JobAnswer
    title: str
    project: str | None
    source: str | None
    page: str | None
    seconds: float | None
    who: str
    ours: bool


class JobContext(NamedTuple):
    """What a list of jobs is told with: projects and tables of who looks, and names of users where these may be known."""

    projects: dict[str, ProjectEntry]
    sources: dict[str, str]
    users: dict[str, str]


def kinds(code: str) -> dict[str, str]:
    """What kinds of jobs are called."""
    return {name: title.into(code) for name, title in KINDS.items()}


@router.get("/jobs")
def all_jobs(visit: Visiting, state: str = "", kind: str = "", after: str | None = None) -> Response:
    """The newest first."""
    listed = jobs.list_jobs(
        visit.call,
        state=state if state in STATES else None,  # type: ignore[arg-type]
        kind=kind if kind in KINDS else None,
        limit=SHOWN,
        after=after,
    )
    around = _around(visit)
    return visit.render(
        "jobs.html",
        listed=[_job_row(visit, job, around) for job in listed.items],
        following=listed.next,
        state=state,
        kind=kind,
        states={name: title.into(visit.words.code) for name, title in STATES.items()},
        kinds=kinds(visit.words.code),
        all=visit.may("jobs.manage"),
    )


@router.get("/jobs/{id}")
def one_job(visit: Visiting, id: str) -> Response:
    """One job: how far it is, its log, why it failed."""
    job = jobs.read_job(visit.call, id)
    lines = jobs.read_log(visit.call, id)
    return visit.render("job.html", shown=_job_row(visit, job, _around(visit)), lines=lines, stages=stages_of(lines, job))


@router.post("/jobs/{id}/cancel")
def cancel(visit: Visiting, id: str) -> Response:
    """End a job that waits or runs."""
    jobs.cancel(visit.call, id)
    return visit.go(_back(visit, f"/jobs/{id}"))


@router.post("/jobs/{id}/retry")
def retry(visit: Visiting, id: str) -> Response:
    """Try a job again that failed or was cancelled."""
    jobs.retry(visit.call, id)
    return visit.go(_back(visit, f"/jobs/{id}"))


@router.post("/jobs/{id}/delete")
def delete(visit: Visiting, id: str) -> Response:
    """Delete a job that has ended, with its result."""
    jobs.delete(visit.call, id)
    return visit.go(_back(visit, "/jobs"), visit.say("The job is deleted."))


def _back(visit: PageRequest, otherwise: str) -> str:
    wanted = visit.form.text("back")
    return own_address(wanted) if wanted else otherwise


def _job_row(visit: PageRequest, job: JobAnswer, around: JobContext) -> JobRow:
    page, project = PAGES.get(job.kind), around.projects.get(job.project or "")
    title = KINDS[job.kind].into(visit.words.code) if job.kind in KINDS else job.kind
    place = f"/projects/{project.id}/{page}" if page and project else None
    if place and job.release and job.kind != "run":
        place = with_query(place, release=job.release)
    mine = job.user == visit.call.caller.id
    who = visit.say("you") if mine else around.users.get(job.user or "", visit.say("somebody else"))
    ours = mine if project is None else "jobs.cancel" in project_actions(project.roles)
    source = around.sources.get(job.source or "")
    return JobRow(job, title, project.name if project else None, source, place, seconds_of(job), who, ours)


def _around(visit: PageRequest) -> JobContext:
    listed = projects.list_projects(visit.call, limit=500).items
    people = users.list_users(visit.call, limit=500).items if visit.may("users.manage") else []
    tables = sources.list_sources(visit.call, limit=500).items
    named, known = {one.id: one.name for one in tables}, {one.id: one.name for one in people}
    return JobContext({one.id: one for one in listed}, named, known)
