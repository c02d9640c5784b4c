"""Sources: what they are made from, how they are inspected, and how they go, with every copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service.documents import references
from velado.service.files import Files
from velado.service.jobs import queue
from velado.service.receiving import forget
from velado.service.settings import Settings
from velado.service.store.tables import Job, Project, Source, Upload

SAMPLES = ("hospital", "caoba", "covid_ceara")
"""Built-in tables of invented people."""
TELLING = ("explore", "compare", "balance", "attack", "node", "hierarchy", "checks", "singled-out", "rows")
"""Kinds of jobs about projects whose results show values, or classes, of the table."""


def inspect(db: Db, settings: Settings, source: Source, user_id: str) -> Job:
    """Submit the job that finds out what a source is; one that still waits or runs for it is ended."""
    for job in db.scalars(select(Job).where(Job.source_id == source.id, Job.kind == "inspect")):
        if job.state not in queue.ENDED:
            queue.cancel(db, job)
    source.state, source.rows, source.columns = "new", None, []
    source.profile = source.suggestion = None
    source.copied = False
    return queue.submit(db, settings, "inspect", user_id, {}, source_id=source.id)


def last_inspection(db: Db, source: Source) -> Job | None:
    """The job that was to find out what a source is."""
    of = (Job.source_id == source.id, Job.kind == "inspect")
    return db.scalars(select(Job).where(*of).order_by(Job.created.desc(), Job.id.desc()).limit(1)).first()


def remove_source(db: Db, files: Files, source: Source) -> list[Path]:
    """Delete a source: its jobs, its copy, and its upload if no other source uses it; the files to remove after commit."""
    gone = empty_source(db, files, source)
    db.delete(source)
    db.flush()
    return gone


def empty_source(db: Db, files: Files, source: Source) -> list[Path]:
    """Delete all that is known of a table, and mark its source as deleted; the files to remove after commit."""
    return empty_sources(db, files, [source])


def empty_sources(db: Db, files: Files, sources: Sequence[Source]) -> list[Path]:
    """Delete all that is known of several tables, as of one."""
    ids = {source.id for source in sources}
    gone = remove_jobs(db, files, [*db.scalars(select(Job).where(Job.source_id.in_(ids))), *_telling(db, ids)])
    for source in sources:
        gone += _without_table(db, files, source)
    return gone


def _without_table(db: Db, files: Files, source: Source) -> list[Path]:
    gone = [files.copy(source.id), *files.parts_of(source.id)]
    upload = db.get(Upload, source.upload_id) if source.upload_id else None
    source.upload_id, source.state = None, "deleted"
    source.rows, source.columns, source.profile, source.suggestion, source.copied = None, [], None, None, False
    db.flush()
    if upload is not None and not _used(db, upload):
        gone.append(files.upload(upload.id))
        db.delete(upload)
        db.flush()
    return gone


def remove_jobs(db: Db, files: Files, jobs: Iterable[Job]) -> list[Path]:
    """Delete jobs; the worker of one that runs ends it when it finds it gone. The folders to remove after commit."""
    ids = []
    for job in list(jobs):
        ids.append(job.id)
        db.delete(job)
    db.flush()
    return [path for job_id, _, path in files.attempts() if job_id in ids] if ids else []


def remove_files(files: Files, gone: Iterable[Path]) -> None:
    """Remove files of things that are deleted."""
    for path in gone:
        forget(path)
        files.remove(path)


def _telling(db: Db, sources: set[str]) -> Iterator[Job]:
    """Jobs of projects on one of the sources whose results show values or classes of it; releases are no part of it."""
    for job in db.scalars(select(Job).where(Job.project_id.is_not(None), Job.kind.in_(TELLING))):
        if sources & references(job.document or {})["sources"]:
            yield job


def _used(db: Db, upload: Upload) -> bool:
    """Whether another source, or a project's hierarchy or table of substitutes, uses an upload."""
    if db.scalars(select(Source.id).where(Source.upload_id == upload.id)).first() is not None:
        return True
    return any(upload.id in references(document)["uploads"] for document in db.scalars(select(Project.document)))
