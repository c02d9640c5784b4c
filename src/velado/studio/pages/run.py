"""Running a project: what it will need, how far it is, what became of it, and the ways out if there is no solution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.service.errors import NotFound
from velado.service.jobs import operations as jobs
from velado.service.jobs.answers import JobAnswer, LineAnswer
from velado.service.projects import hierarchies
from velado.service.releases import operations as releases
from velado.service.releases.schemas import ReleaseEntry
from velado.studio.forms import privacy_settings
from velado.studio.pages.privacy import checks_of
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import ASKED, PageRoute
from velado.studio.views import fix_links
from velado.studio.views.exposure_view import exposed_of
from velado.studio.views.remedies import suggest_fixes
from velado.studio.views.steps import STEPS

router = APIRouter(route_class=PageRoute)
ACTIVE = ("queued", "running")
SHOWN = 25


class Stage(NamedTuple):
    """A stage of a job: what it was about, and the seconds that it took; None while it goes on. ``broken``: in it the job
    failed, or was cancelled."""

    text: str
    seconds: float | None
    broken: bool = False


class RunEntry(NamedTuple):
    """A run with what it released; ``exposed``: people are in groups smaller than k by what others could know."""

    job: JobAnswer
    release: ReleaseEntry | None
    seconds: float | None
    exposed: bool


class ModelVerdict(NamedTuple):
    """A model of a release: what was required, what is reached."""

    title: str
    required: str
    achieved: str
    column: str
    satisfied: bool


@router.get("/projects/{id}/run")
def run(work: Working, after: str | None = None) -> Response:
    """The newest run, and those before."""
    if not work.can("jobs.read"):
        return work.show("run.html", "run", **_nothing(work))
    listed = jobs.list_jobs(work.call, project=work.id, kind="run", limit=SHOWN, after=after)
    made = {one.id: one for one in releases.list_releases(work.call, work.id, limit=200).items}
    runs = [_run(job, made.get(job.release or "")) for job in listed.items]
    newest = runs[0] if runs and after is None else None
    return work.show(
        "run.html",
        "run",
        runs=runs,
        newest=newest,
        following=listed.next,
        stages=_stages(work, newest),
        ways=_fixes(work, newest),
        place=_place(work, newest),
        tables=_tables(work, newest),
        estimate=_estimate(work, newest),
        method=privacy_settings.entries("methods", work.words.code).get(work.part.method.name),
        light=work.part.is_light,
    )


@router.api_route("/projects/{id}/run/checks", methods=ASKED)
def show_checks(work: Working) -> Response:
    """What is wrong with the project."""
    return work.show("checks.html", "run", **checks_of(work))


@router.api_route("/projects/{id}/run/size", methods=ASKED)
def size(work: Working) -> Response:
    """How many nodes the lattice has; it takes building all hierarchies."""
    return work.show("size.html", "run", **_size(work))


@router.post("/projects/{id}/run")
def start(work: Working) -> Response:
    """Put a run into the queue."""
    work.submit("run", project=work.id)
    return work.go(work.address("run"))


@router.api_route("/projects/{id}/run/estimate", methods=ASKED)
def estimate(work: Working) -> Response:
    """Have it found out what the run needs, by a POST and once for a version."""
    if work.request.method == "POST" and _estimating(work) is None:
        work.submit("estimate", project=work.id)
    return work.go(work.address("run"))


@router.post("/projects/{id}/run/way")
def apply_fix(work: Working) -> Response:
    """Change the project as the run that failed suggests, and run it again."""
    listed = jobs.list_jobs(work.call, project=work.id, kind="run", limit=200).items
    job = next((one for one in listed if one.id == work.form.text("job")), None)
    found = (
        next((one for one in suggest_fixes(work, job.error) if one.key == work.form.text("way")), None)
        if job and job.error
        else None
    )
    if found is None:
        raise NotFound()
    answer = work.save(
        found.change, work.address("run"), work.say("Changed, and run again: {what}", what=found.title), whole=found.whole
    )
    if answer.status_code == 303:
        work.submit("run", project=work.id)
    return answer


# What is shown


def _nothing(work: ProjectPage) -> dict[str, Any]:
    return {
        "runs": [],
        "newest": None,
        "following": None,
        "stages": [],
        "ways": [],
        "place": None,
        "tables": {},
        "estimate": None,
        "method": None,
        "light": False,
    }


def _run(job: JobAnswer, release: ReleaseEntry | None) -> RunEntry:
    return RunEntry(job, release, seconds_of(job), release is not None and release.has_exposed_people())


def seconds_of(job: JobAnswer) -> float | None:
    """How long a job has taken; None if it has not begun."""
    if job.started is None:
        return None
    return ((job.finished or datetime.now(UTC)) - job.started).total_seconds()


def _stages(work: ProjectPage, newest: RunEntry | None) -> list[Stage]:
    """The stages of the last attempt of a job."""
    return [] if newest is None else stages_of(jobs.read_log(work.call, newest.job.id), newest.job)


def stages_of(lines: list[LineAnswer], job: JobAnswer) -> list[Stage]:
    """The stages of the last attempt, from the lines of its log."""
    begun = max((number for number, line in enumerate(lines) if line.event == "started"), default=0)
    told = lines[begun:]
    found = []
    for line, after in zip(told, [*told[1:], None], strict=True):
        if line.event == "stage":
            last = after is None and job.state in ACTIVE
            end = after.created if after is not None else job.finished or line.created
            found.append(Stage(line.text, None if last else (end - line.created).total_seconds()))
    if found and job.state in ("failed", "cancelled"):
        found[-1] = found[-1]._replace(broken=True)
    return found


def _fixes(work: ProjectPage, newest: RunEntry | None) -> Any:
    failed = newest is not None and newest.job.state == "failed" and newest.job.error is not None
    return suggest_fixes(work, newest.job.error) if failed and newest is not None and newest.job.error is not None else []


def _place(work: ProjectPage, newest: RunEntry | None) -> fix_links.FixPage | None:
    """The page that mends what a run failed at."""
    if newest is None or newest.job.error is None:
        return None
    found = fix_links.find_fix_page(work, newest.job.error)
    return found or fix_links.FixPage(STEPS["privacy"], work.address("privacy"))


def _tables(work: ProjectPage, newest: RunEntry | None) -> dict[str, dict[str, Any]]:
    """By table: what it says of itself, and the verdicts of its models. One table has no name."""
    if newest is None or newest.release is None:
        return {}
    known = privacy_settings.entries("models", work.words.code)
    return {
        name: {
            "summary": part,
            "verdicts": [_verdict(work, known, one) for one in part.get("models") or []],
            "exposed": exposed_of(part, work.words),
        }
        for name, part in newest.release.parts().items()
    }


def _verdict(work: ProjectPage, known: Mapping[str, privacy_settings.Entry], one: Mapping[str, Any]) -> ModelVerdict:
    entry = known.get(one["name"])
    if entry is None:
        return ModelVerdict(one["name"], "", "", "", bool(one["satisfied"]))
    symbols = {name: strength["symbol"] for name, strength in entry["strength"].items()}
    required, achieved = one.get("required") or {}, one.get("achieved")
    shown = achieved if isinstance(achieved, Mapping) else {next(iter(symbols)): achieved}
    reached = ", ".join(f"{symbols.get(name, name)} = {work.words.number(value, 4)}" for name, value in shown.items())
    columns = [
        str(required[n]) for n, about in entry["parameters"]["properties"].items() if about.get("x-column") and required.get(n)
    ]
    return ModelVerdict(
        entry["title"],
        privacy_settings.requirement(entry, required, work.words),
        reached,
        ", ".join(columns),
        bool(one["satisfied"]),
    )


def _estimate(work: ProjectPage, newest: RunEntry | None) -> Any:
    """What the run of this version needs: the job that finds it out, None while nobody asked for one, and its result."""
    part = work.part
    ready = part.models and not part.is_light and part.with_role("quasi-identifier")
    source = work.source
    if work.tables or not ready or source is None or source.state != "ready" or not work.can("jobs.analyse"):
        return None
    job = _estimating(work)
    if job is None:
        return None if newest is not None and newest.job.state in ACTIVE else {"job": None, "result": None}
    return {"job": job, "result": jobs.read_result(work.call, job.id) if job.state == "done" else None}


def _estimating(work: ProjectPage) -> JobAnswer | None:
    listed = jobs.list_jobs(work.call, project=work.id, kind="estimate", limit=20).items
    return next((job for job in listed if job.version == work.project.version), None)


def _size(work: ProjectPage) -> dict[str, Any]:
    if not work.can("profile.read"):
        return {"nodes": None, "levels": {}}
    try:
        built = hierarchies.list_hierarchies(work.call, work.id, work.table)
    except VeladoError:
        return {"nodes": None, "levels": {}}
    quasi = work.part.with_role("quasi-identifier")
    levels = {name: len(built[name]["levels"]) for name in quasi if "levels" in built.get(name, {})}
    return {"nodes": math.prod(levels.values()) if levels and len(levels) == len(quasi) else None, "levels": levels}
