"""Work that takes longer than a request."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service.accounts.caller import Caller
from velado.service.belongings import roles_in, source_for
from velado.service.errors import Conflict, Forbidden
from velado.service.jobs import queue
from velado.service.masking import masked
from velado.service.permissions import scoped
from velado.service.previews import check_preview
from velado.service.store.tables import Job, JobLine, Release
from velado.service.web import job_answer
from velado.service.web.call import Call, Called
from velado.service.web.job_answer import JobAnswer, LineAnswer
from velado.service.web.paged import newest
from velado.service.web.shapes import After, Body, Id, Limit, Listed
from velado.service.web.submitting import may_again, submit
from velado.service.web.waiting import wait_for_end

router = APIRouter(tags=["jobs"])

RESULTS = "results.read"
MOST_WAIT = 30
Wait = Annotated[
    float,
    Query(ge=0, le=MOST_WAIT, description="Seconds after which the answer comes at last, if the job has not ended"),
]
Stage = Annotated[
    str | None, Query(max_length=100, description="With `wait`: answer also when the job is at another stage than this")
]
State = Literal["queued", "running", "done", "failed", "cancelled"]


class NewJob(Body):
    """A job: its kind, what it is about (as the kind wants it), and its parameters."""

    kind: Annotated[str, Field(max_length=100)]
    project: Id | None = None
    source: Id | None = None
    release: Id | None = None
    connection: Id | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)


@router.post("/jobs", status_code=202)
def submit_job(call: Called, body: NewJob, response: Response) -> JobAnswer:
    """Put a job into the queue; the answer comes at once, and says where its state is."""
    with call.writing() as db:
        job = submit(
            db,
            call,
            body.kind,
            body.model_dump(include={"project", "source", "release", "connection"}),
            body.parameters,
        )
        if job.kind == "hierarchy" and not job_answer.values_too(db, call.caller, job):
            check_preview(job.document or {}, job.parameters)
        call.audit(db, "job.submit", job.id, kind=job.kind, project=job.project_id)
        response.headers["Location"] = f"/api/v1/jobs/{job.id}"
        return job_answer.answer(db, call, job, whole=True)


@router.get("/jobs")
def list_jobs(
    call: Called,
    project: Annotated[str | None, Query(max_length=64)] = None,
    state: State | None = None,
    kind: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 100,
    after: After = None,
) -> Listed[JobAnswer]:
    """Jobs of one's own and of one's projects, the newest first; an administrator sees that there are others, too."""
    with call.reading() as db:
        query = job_answer.visible(db, call.caller)
        for column, wanted in ((Job.project_id, project), (Job.state, state), (Job.kind, kind)):
            if wanted is not None:
                query = query.where(column == wanted)
        found, following = newest(db, query, Job.created, Job.id, limit, after)
        sight, scope = job_answer.Sight(db, call.caller), job_answer.READ in scoped(call.caller.scopes)
        items = [job_answer.answer(db, call, job, bool(sight.sees(job)) and scope) for job in found]
    return Listed(items=items, next=following)


@router.get("/jobs/{id}")
async def read_job(call: Called, id: str, wait: Wait = 0, stage: Stage = None) -> JobAnswer:
    """A job: its state, where it is, why it failed."""
    # Who waits holds no thread: many may wait at once.
    found = await run_in_threadpool(read_now, call, id)
    if wait and found.state not in queue.ENDED:
        await wait_for_end(call.service, id, wait, stage)
        found = await run_in_threadpool(read_now, call, id)
    return found


def read_now(call: Call, id: str) -> JobAnswer:
    """A job as it is, for who runs in a thread."""
    with call.reading() as db:
        return job_answer.answer(db, call, *job_answer.find(db, call.caller, id))


@router.get("/jobs/{id}/log")
def read_log(call: Called, id: str) -> Listed[LineAnswer]:
    """What happened with a job, and which stages have begun."""
    with call.reading() as db:
        job, _ = job_answer.find(db, call.caller, id)
        lines = db.scalars(select(JobLine).where(JobLine.job_id == job.id).order_by(JobLine.number))
        return Listed(items=[job_answer.line(one, call.language) for one in lines])


@router.get("/jobs/{id}/result")
def read_result(call: Called, id: str) -> dict[str, Any]:
    """The result of a job, as its kind describes it; without values and small counts for who may not read records."""
    with call.writing() as db:
        job, whole = job_answer.find(db, call.caller, id)
        roles = _require_result(db, call.caller, job, whole)
        if job.state != "done":
            raise Conflict(
                "job-not-done", "the job is not done", hint="GET /api/v1/jobs/ID tells its state, and why it failed.",
                fields={"state": job.state},
            )  # fmt: skip
        values = job_answer.values_too(db, call.caller, job)
        call.audit(db, "result.read", job.id, kind=job.kind, masked=not values)
        result = dict(job.result or {})
    return result if values else masked(result, job.kind, roles)


def _require_result(db: Db, caller: Caller, job: Job, whole: bool) -> dict[str, set[str]]:
    """Raise unless the caller may read the result of a job; the roles of columns, where there is a project."""
    if not whole or RESULTS not in scoped(caller.scopes):
        raise Forbidden(RESULTS)
    if job.project_id is not None:
        return roles_in([caller.project(db, job.project_id, RESULTS)])
    if job.source_id is not None:
        # Who submitted it may have lost sight of the table since.
        source_for(db, caller, job.source_id, "profile.read")
    return {}


@router.post("/jobs/{id}/cancel", status_code=202)
def cancel_job(call: Called, id: str) -> JobAnswer:
    """End a job: one that waits at once, one that runs within a moment, unless it has just published its result."""
    with call.writing() as db:
        job, whole = job_answer.find(db, call.caller, id)
        if not call.caller.may("jobs.manage"):
            _require_cancel(db, call.caller, job)
        queue.cancel(db, job)
        call.audit(db, "job.cancel", job.id, kind=job.kind)
        return job_answer.answer(db, call, job, whole)


@router.post("/jobs/{id}/retry", status_code=202)
def retry_job(call: Called, id: str) -> JobAnswer:
    """Try a job again that failed or was cancelled."""
    with call.writing() as db:
        job, whole = job_answer.find(db, call.caller, id)
        may_again(db, call, job)
        queue.retry(db, job)
        call.audit(db, "job.retry", job.id, kind=job.kind)
        return job_answer.answer(db, call, job, whole)


@router.delete("/jobs/{id}", status_code=204)
def delete_job(call: Called, id: str) -> None:
    """Delete a job that has ended, with its result and all its files; one that made a release stays as long as that."""
    with call.writing() as db:
        job, _ = job_answer.find(db, call.caller, id)
        _require_cancel(db, call.caller, job)
        db.refresh(job, with_for_update=True)
        if job.state not in queue.ENDED:
            raise Conflict(
                "job-not-ended", "the job has not ended", hint="Cancel it first.", fields={"state": job.state}
            )
        if db.scalar(select(Release.id).where(Release.job_id == job.id)) is not None:
            raise Conflict("job-has-release", "the job made a release", hint="Delete the release first.")
        folder = call.service.files.attempt(job.id, job.attempt)
        db.delete(job)
        call.audit(db, "job.delete", id, kind=job.kind)
    call.service.files.remove(folder)


def _require_cancel(db: Db, caller: Caller, job: Job) -> None:
    allowed = "jobs.cancel" in scoped(caller.scopes)
    if job.user_id != caller.id:
        allowed = job.project_id is not None and "jobs.cancel" in caller.actions_in(db, job.project_id)
    if not allowed:
        raise Forbidden("jobs.cancel")
