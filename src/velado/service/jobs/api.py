"""Work that takes longer than a request."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.concurrency import run_in_threadpool

from velado.service.jobs import operations, queue
from velado.service.jobs.answers import JobAnswer, LineAnswer
from velado.service.jobs.operations import NewJob, State
from velado.service.jobs.waiting import wait_for_end
from velado.service.web.call import Called
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(tags=["jobs"])

MOST_WAIT = 30
Wait = Annotated[
    float, Query(ge=0, le=MOST_WAIT, description="Seconds after which the answer comes at last, if the job has not ended")
]
Stage = Annotated[
    str | None, Query(max_length=100, description="With `wait`: answer also when the job is at another stage than this")
]


@router.post("/jobs", status_code=202)
def submit_job(call: Called, body: NewJob, response: Response) -> JobAnswer:
    """Put a job into the queue; the answer comes at once, and says where its state is."""
    job = operations.submit(call, body)
    response.headers["Location"] = f"/api/v1/jobs/{job.id}"
    return job


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
    return operations.list_jobs(call, project=project, state=state, kind=kind, limit=limit, after=after)


@router.get("/jobs/{id}")
async def read_job(call: Called, id: str, wait: Wait = 0, stage: Stage = None) -> JobAnswer:
    """A job: its state, where it is, why it failed."""
    # Who waits holds no thread: many may wait at once.
    found = await run_in_threadpool(operations.read_job, call, id)
    if wait and found.state not in queue.ENDED:
        call.close()
        await wait_for_end(call.service, id, wait, stage)
        found = await run_in_threadpool(operations.read_job, call, id)
    return found


@router.get("/jobs/{id}/log")
def read_log(call: Called, id: str) -> Listed[LineAnswer]:
    """What happened with a job, and which stages have begun."""
    return Listed(items=operations.read_log(call, id))


@router.get("/jobs/{id}/result")
def read_result(call: Called, id: str) -> dict[str, Any]:
    """The result of a job, as its kind describes it; without values and small counts for who may not read records."""
    return operations.download_result(call, id)


@router.post("/jobs/{id}/cancel", status_code=202)
def cancel_job(call: Called, id: str) -> JobAnswer:
    """End a job: one that waits at once, one that runs within a moment, unless it has just published its result."""
    return operations.cancel(call, id)


@router.post("/jobs/{id}/retry", status_code=202)
def retry_job(call: Called, id: str) -> JobAnswer:
    """Try a job again that failed or was cancelled."""
    return operations.retry(call, id)


@router.delete("/jobs/{id}", status_code=204)
def delete_job(call: Called, id: str) -> None:
    """Delete a job that has ended, with its result and all its files; one that made a release stays as long as that."""
    operations.delete(call, id)
