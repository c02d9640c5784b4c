"""The queue of jobs, a table of the store: submit, claim, renew, finish, cancel, retry.

A worker holds a job by a lease that it renews. Whoever finds an expired lease puts the job back, or gives it up after
`ATTEMPTS`. Only the worker that holds the lease of the current attempt can finish a job: a result counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session as Db
from sqlalchemy.orm import aliased

from velado.service.errors import Conflict, TooMany
from velado.service.settings import Settings
from velado.service.store.tables import Job, JobLine, now

ATTEMPTS = 2
"""How often a job is tried whose process or worker is lost."""
ENDED = ("done", "failed", "cancelled")


def submit(
    db: Db,
    settings: Settings,
    kind: str,
    user_id: str,
    parameters: Mapping[str, Any],
    *,
    project_id: str | None = None,
    version: int | None = None,
    document: Mapping[str, Any] | None = None,
    source_id: str | None = None,
    release_id: str | None = None,
    quick: bool = False,
) -> Job:
    """A new job at the end of the queue; a user has only so many waiting."""
    waiting = select(func.count()).select_from(Job).where(Job.user_id == user_id, Job.state == "queued")
    if (db.scalar(waiting) or 0) >= settings.jobs_queued:
        raise TooMany(
            "too-many-jobs", "too many of your jobs are waiting", hint="Wait for one, or cancel one.",
            fields={"limit": settings.jobs_queued},
        )  # fmt: skip
    job = Job(
        kind=kind, user_id=user_id, parameters=dict(parameters), project_id=project_id, version=version,
        document=None if document is None else dict(document), source_id=source_id, release_id=release_id, quick=quick,
    )  # fmt: skip
    db.add(job)
    db.flush()
    _log(db, job, "submitted")
    return job


def claim(db: Db, settings: Settings, worker: str, *, quick: bool) -> Job | None:
    """Take the oldest job whose user has not enough running already; one statement, so that no two workers take it."""
    running = aliased(Job)
    own = (
        select(func.count())
        .select_from(running)
        .where(running.state == "running", running.quick.is_(False), running.user_id == Job.user_id)
        .scalar_subquery()
    )
    first = select(Job.id).where(Job.state == "queued", Job.quick.is_(quick))
    if not quick:
        first = first.where(or_(Job.user_id.is_(None), own < settings.jobs_per_user))
    first = first.order_by(Job.created, Job.id).limit(1)
    if db.get_bind().dialect.name == "postgresql":
        first = first.with_for_update(skip_locked=True)
    claimed = (
        update(Job)
        .where(Job.id == first.scalar_subquery(), Job.state == "queued")
        .values(
            state="running", worker=worker, attempt=Job.attempt + 1, started=now(), finished=None, step={}, error=None,
            lease=now() + timedelta(seconds=settings.lease_seconds),
        )
        .returning(Job)
    )  # fmt: skip
    job = db.scalars(claimed.execution_options(populate_existing=True)).first()
    if job is not None:
        _log(db, job, "started", attempt=job.attempt)
    return job


def renew(db: Db, settings: Settings, worker: str, held: Iterable[str]) -> dict[str, bool]:
    """Prolong leases; which of the jobs are still held, and whether somebody asked them to end."""
    ids = list(held)
    if not ids:
        return {}
    until = now() + timedelta(seconds=settings.lease_seconds)
    mine = (Job.id.in_(ids), Job.worker == worker, Job.state == "running")
    db.execute(update(Job).where(*mine).values(lease=until))
    return {row.id: row.asked for row in db.execute(select(Job.id, Job.asked).where(*mine))}


def report(db: Db, worker: str, job_id: str, step: Mapping[str, Any]) -> None:
    """Write down where a job is."""
    db.execute(
        update(Job).where(Job.id == job_id, Job.worker == worker, Job.state == "running").values(step=dict(step))
    )


def finish(
    db: Db,
    worker: str,
    job_id: str,
    attempt: int,
    state: str,
    *,
    result: Mapping[str, Any] | None = None,
    error: Mapping[str, Any] | None = None,
) -> Job | None:
    """End a job, if this worker still holds this attempt of it; None: it does not, and the result does not count."""
    ended = (
        update(Job)
        .where(Job.id == job_id, Job.worker == worker, Job.attempt == attempt, Job.state == "running")
        .values(
            state=state, finished=now(), lease=None, result=None if result is None else dict(result),
            error=None if error is None else dict(error),
        )
        .returning(Job)
    )  # fmt: skip
    job = db.scalars(ended.execution_options(populate_existing=True)).first()
    if job is not None:
        _log(db, job, state, **({"code": str(error["code"])} if error and "code" in error else {}))
    return job


def give_back(db: Db, worker: str, job_id: str, attempt: int) -> None:
    """The process of a job is gone, or its worker stops: the job is tried again, unless it was tried often enough."""
    job = db.get(Job, job_id, with_for_update=True)
    if job is not None and (job.worker, job.attempt, job.state) == (worker, attempt, "running"):
        _again(db, job)


def sweep(db: Db) -> int:
    """Put jobs back whose worker gives no sign of life any more; how many."""
    lost = select(Job).where(Job.state == "running", Job.lease < now()).with_for_update(skip_locked=True)
    found = list(db.scalars(lost))
    for job in found:
        _again(db, job)
    return len(found)


def cancel(db: Db, job: Job) -> None:
    """End a job: one that waits at once, one that runs as soon as its worker hears of it."""
    if job.state in ENDED:
        raise Conflict("job-ended", "the job has ended already")
    job.asked = True
    if job.state == "queued":
        job.state, job.finished = "cancelled", now()
        _log(db, job, "cancelled")


def retry(db: Db, job: Job) -> None:
    """Try a job again that failed or was cancelled."""
    if job.state not in ("failed", "cancelled"):
        raise Conflict("job-not-failed", "only a job that failed or was cancelled can be tried again")
    job.state, job.most, job.asked, job.error, job.finished, job.step = (
        "queued",
        job.attempt + ATTEMPTS,
        False,
        None,
        None,
        {},
    )
    _log(db, job, "retried")


def _again(db: Db, job: Job) -> None:
    job.worker = job.lease = None
    if job.asked:
        job.state, job.finished = "cancelled", now()
    elif job.attempt >= job.most:
        job.state, job.finished = "failed", now()
        job.error = {"code": "job-lost"}
    else:
        job.state = "queued"
    _log(db, job, "lost", attempt=job.attempt)


def _log(db: Db, job: Job, event: str, **detail: Any) -> None:
    last = db.scalar(select(func.max(JobLine.number)).where(JobLine.job_id == job.id)) or 0
    db.add(JobLine(job_id=job.id, number=last + 1, event=event, detail=detail))
    db.flush()
