"""What can be done with jobs, and by whom: submit, list, count, read, cancel, try again, delete."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Db

from velado.service.access.caller import Caller
from velado.service.access.ownership import roles_in, source_for
from velado.service.access.permissions import scope_actions
from velado.service.access.redaction import redact_result
from velado.service.errors import Conflict, Forbidden
from velado.service.jobs import answers, queue, submission
from velado.service.jobs.answers import JobAnswer, LineAnswer
from velado.service.jobs.quick_jobs import require_result
from velado.service.store.tables import Job, JobLine, Release
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.paging import newest
from velado.service.web.schemas import Body, Id, Listed

RESULTS = "results.read"
State = Literal["queued", "running", "done", "failed", "cancelled"]


class NewJob(Body):
    """A job: its kind, what it is about (as the kind wants it), and its parameters."""

    kind: Annotated[str, Field(max_length=100)]
    project: Id | None = None
    source: Id | None = None
    release: Id | None = None
    connection: Id | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)


def submit(work: UnitOfWork, wanted: NewJob) -> JobAnswer:
    """Put a job into the queue."""
    about = wanted.model_dump(include=set(submission.SUBJECTS))
    with work.writing() as db:
        job = submission.submit(db, work, wanted.kind, about, wanted.parameters)
        work.audit(db, "job.submit", job.id, kind=job.kind, project=job.project_id)
        return answers.answer(db, work, job, whole=True)


def list_jobs(
    work: UnitOfWork,
    *,
    project: str | None = None,
    state: State | None = None,
    kind: str | None = None,
    limit: int = 100,
    after: str | None = None,
) -> Listed[JobAnswer]:
    """Jobs of one's own and of one's projects, the newest first; an administrator sees that there are others, too."""
    with work.reading() as db:
        query = answers.visible(work.caller)
        for column, wanted in ((Job.project_id, project), (Job.state, state), (Job.kind, kind)):
            if wanted is not None:
                query = query.where(column == wanted)
        found, following = newest(db, query, Job.created, Job.id, limit, after)
        scope = answers.READ in scope_actions(work.caller.scopes)
        items = [answers.answer(db, work, job, bool(answers.sees(db, work.caller, job)) and scope) for job in found]
    return Listed(items=items, next=following)


def count_unfinished(work: UnitOfWork) -> int:
    """How many of the jobs that the caller sees wait or run."""
    unfinished = answers.visible(work.caller).where(Job.state.in_(("queued", "running"))).with_only_columns(func.count(Job.id))
    with work.reading() as db:
        return db.scalar(unfinished) or 0


def read_job(work: UnitOfWork, id: str) -> JobAnswer:
    """A job as it is: its state, where it is, why it failed."""
    with work.reading() as db:
        return answers.answer(db, work, *answers.find(db, work.caller, id))


def read_log(work: UnitOfWork, id: str) -> list[LineAnswer]:
    """What happened with a job, and which stages have begun."""
    with work.reading() as db:
        job, _ = answers.find(db, work.caller, id)
        lines = db.scalars(select(JobLine).where(JobLine.job_id == job.id).order_by(JobLine.number))
        return [answers.line(one, work.language) for one in lines]


def read_result(work: UnitOfWork, id: str) -> dict[str, Any]:
    """The result of a job, for a page that shows some of it; without values and small counts for who may not read records."""
    return _result(work, id)[0]


def download_result(work: UnitOfWork, id: str) -> dict[str, Any]:
    """The whole result of a job, given out; that is written down."""
    result, kind, values = _result(work, id)
    work.audit_reading("result.read", id, kind=kind, masked=not values)
    return result


def _result(work: UnitOfWork, id: str) -> tuple[dict[str, Any], str, bool]:
    """A result as the caller may see it, the kind of its job, and whether values of the table are in it."""
    with work.reading() as db:
        job, whole = answers.find(db, work.caller, id)
        roles = _check_result(db, work.caller, job, whole)
        require_result(job)
        values = answers.values_too(db, work.caller, job)
        result = dict(job.result or {})
    return (result if values else redact_result(result, job.kind, roles)), job.kind, values


def _check_result(db: Db, caller: Caller, job: Job, whole: bool) -> dict[str, set[str]]:
    """Raise unless the caller may read the result of a job; the roles of columns, where there is a project."""
    if not whole or RESULTS not in scope_actions(caller.scopes):
        raise Forbidden(RESULTS)
    if job.project_id is not None:
        return roles_in([caller.project(db, job.project_id, RESULTS)])
    if job.source_id is not None:
        # Who submitted it may have lost sight of the table since.
        source_for(db, caller, job.source_id, "profile.read")
    return {}


def cancel(work: UnitOfWork, id: str) -> JobAnswer:
    """End a job: one that waits at once, one that runs within a moment, unless it has just published its result."""
    with work.writing() as db:
        job, whole = answers.find(db, work.caller, id)
        if not work.caller.may("jobs.manage"):
            _require_cancel(db, work.caller, job)
        queue.cancel(db, job)
        work.audit(db, "job.cancel", job.id, kind=job.kind)
        return answers.answer(db, work, job, whole)


def retry(work: UnitOfWork, id: str) -> JobAnswer:
    """Try a job again that failed or was cancelled."""
    with work.writing() as db:
        job, whole = answers.find(db, work.caller, id)
        submission.check_retry(db, work, job)
        queue.retry(db, job)
        work.audit(db, "job.retry", job.id, kind=job.kind)
        return answers.answer(db, work, job, whole)


def delete(work: UnitOfWork, id: str) -> None:
    """Delete a job that has ended, with its result and all its files; one that made a release stays as long as that."""
    with work.writing() as db:
        job, _ = answers.find(db, work.caller, id)
        _require_cancel(db, work.caller, job)
        db.refresh(job, with_for_update=True)
        if job.state not in queue.ENDED:
            raise Conflict("job-not-ended", "the job has not ended", hint="Cancel it first.", fields={"state": job.state})
        if db.scalar(select(Release.id).where(Release.job_id == job.id)) is not None:
            raise Conflict("job-has-release", "the job made a release", hint="Delete the release first.")
        folder = work.service.files.attempt(job.id, job.attempt)
        db.delete(job)
        work.audit(db, "job.delete", id, kind=job.kind)
    work.service.files.remove(folder)


def _require_cancel(db: Db, caller: Caller, job: Job) -> None:
    allowed = "jobs.cancel" in scope_actions(caller.scopes)
    if job.user_id != caller.id:
        allowed = job.project_id is not None and "jobs.cancel" in caller.actions_in(db, job.project_id)
    if not allowed:
        raise Forbidden("jobs.cancel")
