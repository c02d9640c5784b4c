"""The queue of jobs, a table of the store: submit, claim, renew, finish, cancel, retry.

A worker holds a job by a lease that it renews. Whoever finds an expired lease puts the job back, or gives it up after
`ATTEMPTS`. Only the worker that holds the lease of the current attempt can finish a job: a result counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import Select, func, or_, select, update
from sqlalchemy.orm import Session as Db
from sqlalchemy.orm import aliased

from velado.errors import Cancelled
from velado.service.documents import outputs
from velado.service.errors import Conflict, TooMany
from velado.service.jobs import failures
from velado.service.settings import Settings
from velado.service.store.locks import one_by_one
from velado.service.store.tables import Job, JobLine, Source, now

ATTEMPTS = 2
"""How often a job is tried whose process or worker is lost."""
ENDED = ("done", "failed", "cancelled")
INSPECT = "inspect"
LOCK = 0x6A6F6273
"""The advisory lock under which jobs of a PostgreSQL store are claimed, so that limits per user hold."""


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
    check_approval(settings, kind, document)
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


def check_approval(settings: Settings, kind: str, document: Mapping[str, Any] | None) -> None:
    """Raise where a run would give out a release that somebody must approve first: a table of a database is out at once."""
    if kind == "run" and settings.approval and any("connection" in (one or {}) for one in outputs(document or {})):
        raise Conflict(
            "approval-first", "releases must be approved here, and one that is written to a database is out before that",
            hint="Leave the connection out of 'output': the release is kept for download until it is approved.",
        )  # fmt: skip


def empty(db: Db) -> bool:
    """Whether no job waits; this costs next to nothing, so that workers can look often."""
    return db.execute(QUEUED).first() is None


QUEUED = select(Job.id).where(Job.state == "queued").limit(1)


def waiting(db: Db, settings: Settings, *, quick: bool) -> bool:
    """Whether there is a job to claim; this reads only."""
    return db.scalar(_first(settings, quick)) is not None


def claim(db: Db, settings: Settings, worker: str, *, quick: bool) -> Job | None:
    """Take the oldest job whose user has not enough running already; one statement, so that no two workers take it."""
    first = _first(settings, quick)
    one_by_one(db, LOCK)
    # Takes effect where several may write at once.
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


def _first(settings: Settings, quick: bool) -> Select[Any]:
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
    return first.order_by(Job.created, Job.id).limit(1)


def renew(db: Db, settings: Settings, worker: str, held: Iterable[str]) -> None:
    """Prolong the leases of jobs that are still held."""
    until = now() + timedelta(seconds=settings.lease_seconds)
    mine = (Job.id.in_(list(held)), Job.worker == worker, Job.state == "running")
    db.execute(update(Job).where(*mine).values(lease=until))


def held(db: Db, worker: str, jobs: Iterable[str]) -> dict[str, tuple[int, bool]]:
    """Which jobs a worker still holds: their attempt, and whether somebody asked them to end."""
    mine = (Job.id.in_(list(jobs)), Job.worker == worker, Job.state == "running")
    return {row.id: (row.attempt, row.asked) for row in db.execute(select(Job.id, Job.attempt, Job.asked).where(*mine))}


def report(db: Db, worker: str, job_id: str, step: Mapping[str, Any], stages: Iterable[str] = ()) -> None:
    """Write down where a job is, and which stages have begun."""
    mine = (Job.id == job_id, Job.worker == worker, Job.state == "running")
    job = db.scalars(update(Job).where(*mine).values(step=dict(step)).returning(Job)).first()
    if job is not None:
        for stage in stages:
            _log(db, job, "stage", stage=stage)


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
        if state != "done":
            _unread(db, job)
    return job


def give_back(db: Db, worker: str, job_id: str, attempt: int, *, spent: bool = True) -> None:
    """The process of a job is gone: the job is tried again, unless it was tried often enough.

    An attempt that its worker broke off because it stops is not ``spent``: it does not count.
    """
    job = db.get(Job, job_id, with_for_update=True, populate_existing=True)
    if job is not None and (job.worker, job.attempt, job.state) == (worker, attempt, "running"):
        job.most += 0 if spent else 1
        _again(db, job)


def expire(db: Db, worker: str) -> None:
    """A worker is certainly gone: nobody need wait for its leases to expire."""
    past = now() - timedelta(seconds=1)
    db.execute(update(Job).where(Job.worker == worker, Job.state == "running").values(lease=past))


def sweep(db: Db) -> int:
    """Put jobs back whose worker gives no sign of life any more; how many."""
    lost = select(Job).where(Job.state == "running", Job.lease < now()).with_for_update(skip_locked=True)
    found = list(db.scalars(lost))
    for job in found:
        _again(db, job)
    return len(found)


def cancel(db: Db, job: Job) -> None:
    """End a job: one that waits at once, one that runs as soon as its worker hears of it."""
    # A worker may have taken or ended it since it was read.
    db.refresh(job, with_for_update=True)
    if job.state in ENDED:
        raise Conflict("job-ended", "the job has ended already")
    job.asked = True
    if job.state == "queued":
        _cancelled(db, job)
        _log(db, job, "cancelled")


def retry(db: Db, job: Job) -> None:
    """Try a job again that failed or was cancelled."""
    db.refresh(job, with_for_update=True)
    if job.state not in ("failed", "cancelled"):
        raise Conflict("job-not-failed", "only a job that failed or was cancelled can be tried again")
    job.state, job.most, job.asked = "queued", job.attempt + ATTEMPTS, False
    job.error, job.finished, job.step = None, None, {}
    _unread(db, job, "new")
    _log(db, job, "retried")


def _again(db: Db, job: Job) -> None:
    job.worker = job.lease = None
    _log(db, job, "lost", attempt=job.attempt)
    if job.asked:
        _cancelled(db, job)
        _log(db, job, "cancelled")
    elif job.attempt >= job.most:
        job.state, job.finished = "failed", now()
        job.error = failures.told(failures.lost())
        _unread(db, job)
        _log(db, job, "failed", code="job-lost")
    else:
        job.state, job.step = "queued", {}


def _cancelled(db: Db, job: Job) -> None:
    job.state, job.finished = "cancelled", now()
    job.error = failures.told(Cancelled())
    _unread(db, job)


def _unread(db: Db, job: Job, state: str = "failed") -> None:
    """A source that could not be looked at says so."""
    source = db.get(Source, job.source_id) if job.kind == INSPECT and job.source_id else None
    if source is not None and source.state != "deleted":
        source.state = state


def _log(db: Db, job: Job, event: str, **detail: Any) -> None:
    last = db.scalar(select(func.max(JobLine.number)).where(JobLine.job_id == job.id)) or 0
    db.add(JobLine(job_id=job.id, number=last + 1, event=event, detail=detail))
    db.flush()
