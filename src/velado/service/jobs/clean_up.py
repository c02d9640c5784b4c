"""What nobody needs any more is removed: jobs of dead workers are given back, and what they left is deleted."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from sqlalchemy import delete, select

from velado.service.files import Files
from velado.service.jobs import process_identity, queue
from velado.service.jobs.warm_processes import FOLDER
from velado.service.service import Service
from velado.service.store.tables import Job, Source, WorkerRow, now

QUESTIONS = timedelta(hours=1)
"""How long answers to questions are kept."""
DEAD = 3
"""Leases without a sign of life after which a worker is forgotten."""


def sweep(service: Service) -> None:
    """Give back jobs with expired leases; forget old questions and dead workers; remove what no job counts."""
    gone = now() - timedelta(seconds=DEAD * service.settings.lease_seconds)
    with service.store.writing() as db:
        for worker in list(db.scalars(select(WorkerRow))):
            if process_identity.has_ended(worker.detail):
                queue.expire(db, worker.id)
                db.delete(worker)
        queue.sweep(db)
        db.execute(delete(Job).where(Job.quick, Job.state.in_(queue.ENDED), Job.created < now() - QUESTIONS))
        db.execute(delete(WorkerRow).where(WorkerRow.seen < gone))
    remove_attempts(service)
    remove_warm(service)
    remove_copies(service)


def remove_attempts(service: Service) -> None:
    """Remove folders of attempts that no done job counts and no running job uses."""
    # The folders are looked at before the store: what is made meanwhile is not among them.
    found = list(service.files.attempts())
    with service.store.reading() as db:
        used = select(Job.id, Job.attempt).where(Job.state.in_(("done", "running")))
        counted = {(row.id, row.attempt) for row in db.execute(used)}
    for job, attempt, path in found:
        if (job, attempt) not in counted:
            Files.remove(path)


def remove_warm(service: Service) -> None:
    """Remove what warm processes of dead workers left."""
    folder = service.settings.folder / FOLDER
    found = list(folder.iterdir()) if folder.is_dir() else []
    with service.store.reading() as db:
        alive = set(db.scalars(select(WorkerRow.id)))
    for path in found:
        if path.name.partition("-")[0] not in alive:
            Files.remove(path)


def remove_copies(service: Service) -> None:
    """Remove copies of sources that were deleted while a job made them."""
    found = list(service.files.copies())
    with service.store.reading() as db:
        there = set(db.scalars(select(Source.id).where(Source.state != "deleted")))
    for path in found:
        if path.name.partition(".")[0] not in there:
            Files.remove(path)


def tidy(folder: Path) -> None:
    """Leave in the folder of an attempt only its result, nothing temporary."""
    for path in (folder / "tmp", *folder.glob(".velado-*")):
        Files.remove(path)
