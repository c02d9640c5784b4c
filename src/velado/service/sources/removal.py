"""How sources go: with every copy, and all that jobs know of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service.files import Files
from velado.service.projects.document_checks import references
from velado.service.sources.upload_stream import forget
from velado.service.store.tables import Job, Project, Source, Upload

TELLING = ("explore", "compare", "balance", "attack", "node", "hierarchy", "checks", "singled-out", "rows")
"""Kinds of jobs about projects whose results show values, or classes, of the table."""


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
    gone = remove_jobs(db, files, [*db.scalars(select(Job).where(Job.source_id.in_(ids))), *_revealing_jobs(db, ids)])
    for source in sources:
        gone += _without_table(db, files, source)
    return gone


def _without_table(db: Db, files: Files, source: Source) -> list[Path]:
    gone = [files.copy(source.id), *files.parts_of(source.id)]
    upload = db.get(Upload, source.upload_id) if source.upload_id else None
    source.upload_id, source.state = None, "deleted"
    source.rows, source.columns, source.profile, source.suggestion, source.copied = None, [], None, None, False
    db.flush()
    if upload is not None and not _is_used(db, upload):
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


def _revealing_jobs(db: Db, sources: set[str]) -> Iterator[Job]:
    """Jobs of projects on one of the sources whose results show values or classes of it; releases are no part of it."""
    for job in db.scalars(select(Job).where(Job.project_id.is_not(None), Job.kind.in_(TELLING))):
        if sources & references(job.document or {})["sources"]:
            yield job


def _is_used(db: Db, upload: Upload) -> bool:
    """Whether another source, or a project's hierarchy or table of substitutes, uses an upload."""
    if db.scalars(select(Source.id).where(Source.upload_id == upload.id)).first() is not None:
        return True
    return any(upload.id in references(document)["uploads"] for document in db.scalars(select(Project.document)))
