"""Requests that wait for a job. Who waits reads one row now and then, in a thread for a moment only."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import select

from velado.service.access.redaction import redact_error
from velado.service.errors import NotFound, TooMany, Unavailable
from velado.service.jobs import failure_messages, queue
from velado.service.service import Service
from velado.service.store.tables import Job
from velado.service.unit_of_work import UnitOfWork

STEP = 0.05
"""Seconds between two looks at first."""
WAITING = 24
"""Requests that wait in threads of a process at once; it has 40."""
WAITING_OF_ONE = 6
"""Those of one user."""
_waiting: Counter[str] = Counter()
_lock = threading.Lock()
LONGEST = 0.5
"""Seconds between two looks of who has waited long."""


def wait_for(work: UnitOfWork, job_id: str, seconds: float, *, values: bool) -> dict[str, Any]:
    """The result of a job that ends soon; raises why it failed, or that there is no answer yet.

    ``values``: whether who asks may read records; else the error has no values of the table.
    For functions that run in a thread. Who may see the job has been checked by who submitted it. Only so many wait at
    once: else a worker that does not answer would hold all threads, and with them every other request.
    """
    work.close()
    with _place(work.caller.id):
        until = time.monotonic() + seconds
        while (found := _outcome(work.service, job_id, values)) is None:
            # A process that is being ended waits for its threads: nobody hears the answer any more.
            if time.monotonic() > until or not threading.main_thread().is_alive():
                raise no_answer(job_id)
            time.sleep(STEP)
        return found


@contextmanager
def _place(user: str) -> Iterator[None]:
    """A place to wait in; nobody has all of them."""
    with _lock:
        if _waiting[user] >= WAITING_OF_ONE or _waiting.total() >= WAITING:
            raise TooMany("too-many-waiting", "too many requests wait for an answer", hint="Try again later.")
        _waiting[user] += 1
    try:
        yield
    finally:
        with _lock:
            _waiting[user] -= 1
            if not _waiting[user]:
                del _waiting[user]


async def wait_for_end(service: Service, job_id: str, seconds: float, stage: str | None = None) -> None:
    """Come back when a job has ended (or is at another stage than this), or after some seconds; no thread is held."""
    until, pause = time.monotonic() + seconds, STEP
    while not await run_in_threadpool(_has_ended, service, job_id, stage):
        left = until - time.monotonic()
        if left <= 0:
            return
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 1.1, LONGEST)


def no_answer(job_id: str) -> Unavailable:
    """Nothing has answered in time: no worker runs, or all of them are busy."""
    return Unavailable(
        "no-answer",
        "no worker has answered in time",
        hint="Try again. Without a worker (velado studio worker) nothing is done.",
        fields={"job": job_id},
    )


def _row(service: Service, job_id: str, *columns: Any) -> Any:
    with service.store.reading() as db:
        return db.execute(select(*columns).where(Job.id == job_id)).first()


def _has_ended(service: Service, job_id: str, stage: str | None) -> bool:
    row = _row(service, job_id, Job.state, Job.step)
    if row is None or row.state in queue.ENDED:
        return True
    return stage is not None and (row.step or {}).get("stage", "") != stage


def _outcome(service: Service, job_id: str, values: bool) -> dict[str, Any] | None:
    row = _row(service, job_id, Job.state)
    if row is None:
        raise NotFound()
    if row.state not in queue.ENDED:
        return None
    state, result, error = _row(service, job_id, Job.state, Job.result, Job.error)
    if state == "done":
        return dict(result or {})
    kept = error if isinstance(error, Mapping) else failure_messages.describe_error(failure_messages.lost_job())
    raise failure_messages.job_failure(kept if values else redact_error(kept))
