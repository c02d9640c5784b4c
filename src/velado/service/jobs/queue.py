"""The queue of jobs, a table of the store: submit, claim, renew, finish, cancel, retry.

A worker holds a job by a lease that it renews. Whoever finds an expired lease puts the job back, or gives it up after
`ATTEMPTS`. Only the worker that holds the lease of the current attempt can finish a job: a result counts once.

Users take turns, whoever submitted more: next is a job of the user of whom the fewest run, and among those of who has waited
longest since one was started. A user's own jobs come in the order in which they were submitted, brief ones first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as Db

from velado.errors import Cancelled
from velado.service.access.permissions import STEWARD
from velado.service.admin import storage_usage
from velado.service.errors import Conflict, TooMany
from velado.service.jobs import failure_messages
from velado.service.jobs.kinds import BRIEF
from velado.service.projects.document_checks import outputs
from velado.service.settings import Settings
from velado.service.store.locks import one_by_one
from velado.service.store.tables import Job, JobLine, Source, User, now

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
    """A new job at the end of the queue; a user has only so many waiting, and so many bytes in the store."""
    check_approval(settings, kind, document)
    user = db.get(User, user_id)
    waiting = select(func.count()).select_from(Job).where(Job.user_id == user_id, Job.state == "queued", Job.quick.is_(quick))
    limit = most_waiting(settings, user)
    if (db.scalar(waiting) or 0) >= limit:
        raise TooMany(
            "too-many-jobs", "too many of your jobs are waiting", hint="Wait for one, or cancel one.", fields={"limit": limit}
        )
    job = Job(
        kind=kind,
        user_id=user_id,
        parameters=dict(parameters),
        project_id=project_id,
        version=version,
        document=None if document is None else dict(document),
        source_id=source_id,
        release_id=release_id,
        quick=quick,
        bytes=0 if document is None else len(json.dumps(document)),
    )
    db.add(job)
    storage_usage.check_stored(db, settings, user)
    _log(db, job, "submitted")
    return job


def check_approval(settings: Settings, kind: str, document: Mapping[str, Any] | None) -> None:
    """Raise where a run would give out a release that somebody must approve first: a table of a database is out at once."""
    if kind == "run" and settings.approval and any("connection" in (one or {}) for one in outputs(document or {})):
        raise Conflict(
            "approval-first",
            "releases must be approved here, and one that is written to a database is out before that",
            hint="Leave the connection out of 'output': the release is kept for download until it is approved.",
        )


def empty(db: Db) -> bool:
    """Whether no job waits; this costs next to nothing, so that workers can look often."""
    return db.execute(QUEUED).first() is None


QUEUED = select(Job.id).where(Job.state == "queued").limit(1)


def waiting(db: Db, settings: Settings, *, quick: bool, brief: bool = False) -> bool:
    """Whether there is a job to claim; this reads only."""
    return _next(db, settings, quick, brief) is not None


def claim(db: Db, settings: Settings, worker: str, *, quick: bool, brief: bool = False) -> Job | None:
    """Take the job whose turn it is, of a user who has not enough running already; ``brief``: only one of those.

    All who claim do so one by one, so that no two workers take the same.
    """
    one_by_one(db, LOCK)
    chosen = _next(db, settings, quick, brief)
    claimed = (
        update(Job)
        .where(Job.id == chosen, Job.state == "queued")
        .values(
            state="running",
            worker=worker,
            attempt=Job.attempt + 1,
            started=now(),
            finished=None,
            step={},
            error=None,
            lease=now() + timedelta(seconds=settings.lease_seconds),
        )
        .returning(Job)
    )
    job = db.scalars(claimed.execution_options(populate_existing=True)).first()
    if job is not None:
        _log(db, job, "started", attempt=job.attempt)
    return job


def _next(db: Db, settings: Settings, quick: bool, brief: bool) -> str | None:
    """The job whose turn it is."""
    wanted = [Job.state == "queued", Job.quick.is_(quick), *([Job.kind.in_(BRIEF)] if brief else [])]
    oldest = select(Job.user_id, func.min(Job.created)).where(*wanted).group_by(Job.user_id)
    waiting = {row[0]: row[1] for row in db.execute(oldest)}
    held = select(Job.user_id, func.count()).where(Job.state == "running", Job.quick.is_(quick)).group_by(Job.user_id)
    running = {row[0]: row[1] for row in db.execute(held)} if waiting else {}

    def turn(user_id: str | None) -> tuple[Any, ...]:
        last = db.scalar(select(func.max(Job.started)).where(Job.user_id == user_id, Job.quick.is_(quick)))
        return running.get(user_id, 0), last is not None, last or waiting[user_id], waiting[user_id]

    # A place that is kept for brief jobs is there also for who has others running.
    ready = [one for one in waiting if brief or running.get(one, 0) < _most_running(settings, db, one, quick)]
    if not ready:
        return None
    mine = select(Job.id).where(*wanted, Job.user_id == min(ready, key=turn))
    return db.scalar(mine.order_by(Job.kind.not_in(BRIEF), Job.created, Job.id).limit(1))


def _most_running(settings: Settings, db: Db, user_id: str | None, quick: bool) -> int:
    """How many jobs of a user run at once; questions never have all warm processes."""
    if quick:
        return max(1, settings.explorers - 1)
    return _by_role(db.get(User, user_id) if user_id else None, settings.jobs_per_user, settings.learner_jobs)


def most_waiting(settings: Settings, user: User | None) -> int:
    """How many jobs of a user may wait, and how many questions."""
    return _by_role(user, settings.jobs_queued, settings.learner_jobs_queued)


def _by_role(user: User | None, stewards: int, others: int) -> int:
    return stewards if user is None or STEWARD in user.roles else min(stewards, others)


def renew(db: Db, settings: Settings, worker: str, held: Iterable[str]) -> None:
    """Prolong the leases of jobs that are still held."""
    until = now() + timedelta(seconds=settings.lease_seconds)
    mine = (Job.id.in_(list(held)), Job.worker == worker, Job.state == "running")
    db.execute(update(Job).where(*mine).values(lease=until))


def held_jobs(db: Db, worker: str, jobs: Iterable[str]) -> dict[str, tuple[int, bool]]:
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
            state=state,
            finished=now(),
            lease=None,
            result=None if result is None else dict(result),
            error=None if error is None else dict(error),
        )
        .returning(Job)
    )
    job = db.scalars(ended.execution_options(populate_existing=True)).first()
    if job is not None:
        _weigh(job)
        _log(db, job, state, **({"code": str(error["code"])} if error and "code" in error else {}))
        if state != "done":
            _fail_source(db, job)
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
        _mark_cancelled(db, job)
        _log(db, job, "cancelled")


def retry(db: Db, job: Job) -> None:
    """Try a job again that failed or was cancelled."""
    db.refresh(job, with_for_update=True)
    if job.state not in ("failed", "cancelled") or job.quick:
        raise Conflict("job-not-failed", "only a job that failed or was cancelled can be tried again")
    job.state, job.most, job.asked = "queued", job.attempt + ATTEMPTS, False
    job.error, job.finished, job.step = None, None, {}
    _fail_source(db, job, "new")
    _log(db, job, "retried")


def _again(db: Db, job: Job) -> None:
    job.worker = job.lease = None
    _log(db, job, "lost", attempt=job.attempt)
    if job.asked:
        _mark_cancelled(db, job)
        _log(db, job, "cancelled")
    elif job.attempt >= job.most:
        job.state, job.finished = "failed", now()
        job.error = failure_messages.describe_error(failure_messages.lost_job())
        _weigh(job)
        _fail_source(db, job)
        _log(db, job, "failed", code="job-lost")
    else:
        job.state, job.step = "queued", {}


def _weigh(job: Job) -> None:
    """What an ended job keeps. A question that was answered needs its document no more: many are asked."""
    job.document = None if job.quick else job.document
    job.bytes = sum(len(json.dumps(part)) for part in (job.document, job.result) if part is not None)


def _mark_cancelled(db: Db, job: Job) -> None:
    job.state, job.finished = "cancelled", now()
    _weigh(job)
    job.error = failure_messages.describe_error(Cancelled())
    _fail_source(db, job)


def _fail_source(db: Db, job: Job, state: str = "failed") -> None:
    """A source that could not be looked at says so."""
    source = db.get(Source, job.source_id) if job.kind == INSPECT and job.source_id else None
    if source is not None and source.state != "deleted":
        source.state = state


def _log(db: Db, job: Job, event: str, **detail: Any) -> None:
    last = db.scalar(select(func.max(JobLine.number)).where(JobLine.job_id == job.id)) or 0
    db.add(JobLine(job_id=job.id, number=last + 1, event=event, detail=detail))
    db.flush()
