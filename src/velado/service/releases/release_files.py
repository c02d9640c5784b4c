"""The files that a run left beside its release, and reports of it: where they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sqlalchemy import or_, select
from sqlalchemy.orm import Session as Db

from velado.errors import suggest
from velado.service.errors import Conflict, Invalid, NotFound
from velado.service.files import Files
from velado.service.store.tables import Job, Release

REPORT = "report"
Figures = Literal["figures", "shape"]


class ReportFile(NamedTuple):
    """A file of a report, and the job that wrote it."""

    job: Job
    about: Mapping[str, Any]


def part(said: Mapping[str, Any], table: str | None) -> Mapping[str, Any]:
    """What is said of one table of a release; a release of one table has no names for it."""
    tables = said.get("tables")
    if not isinstance(tables, Mapping):
        if table is not None:
            raise _unknown_table(table, ())
        return said
    if table not in tables:
        raise _unknown_table(table, tables)
    found: Mapping[str, Any] = tables[table]
    return found


def _unknown_table(table: str | None, known: Any) -> Invalid:
    return Invalid("unknown-table", "the release has no such table", hint=suggest(table or "", known), fields={"path": "table"})


def folder(db: Db, files: Files, release: Release) -> Path:
    """Where the files of a release are."""
    job = db.get(Job, release.job_id)
    if job is None:
        raise NotFound()
    return files.attempt(job.id, job.attempt)


def file_of(db: Db, files: Files, release: Release, which: str, table: str | None = None) -> Path:
    """A file that the run left beside the release: figures, shape, classes or rows."""
    job = db.get(Job, release.job_id)
    private = {} if job is None else (job.result or {}).get("private", {})
    several = isinstance(release.place.get("tables"), Mapping)
    name = part({"tables": private} if several else private, table).get(which)
    if not isinstance(name, str) or Path(name).name != name:
        # It was made part by part, or by operations only.
        raise NotFound()
    return folder(db, files, release) / name


def data(db: Db, files: Files, release: Release, table: str | None) -> tuple[Path, Mapping[str, Any]]:
    """The file of the released rows, and where the release is said to be."""
    place = part(release.place, table)
    if place.get("kind") != "file":
        raise Conflict(
            "release-in-database",
            "the release is a table of a database",
            hint="Read it there.",
            fields={"table": str(place.get("table", ""))},
        )
    name = str(place["file"])
    if Path(name).name != name:
        raise NotFound()
    return folder(db, files, release) / name, place


def figures(db: Db, files: Files, release: Release, table: str | None, which: Figures) -> dict[str, Any]:
    """What a run left beside its release: what only the owners may know (the evaluation against the whole input, and the
    private manifest), or how records and values are distributed."""
    try:
        found: dict[str, Any] = json.loads(file_of(db, files, release, which, table).read_text(encoding="utf-8"))
    except OSError:
        raise NotFound() from None
    return found


def reports(db: Db, release: Release) -> dict[str, ReportFile]:
    """The files of all reports by name; a newer one takes the place of an older one."""
    done = select(Job).where(Job.release_id == release.id, Job.kind == REPORT, Job.state == "done")
    found: dict[str, ReportFile] = {}
    for job in db.scalars(done.order_by(Job.created, Job.id)):
        for about in (job.result or {}).get("files", []):
            found[str(about["name"])] = ReportFile(job, about)
    return found


def delete_rows(db: Db, files: Files, release: Release) -> list[Path]:
    """Delete a release with the job that made it and all jobs about it; the folders to be removed after the commit."""
    jobs = list(db.scalars(select(Job).where(or_(Job.id == release.job_id, Job.release_id == release.id))))
    ids = {job.id for job in jobs}
    folders = [path for job, _, path in files.attempts() if job in ids]
    db.delete(release)
    db.flush()
    for job in jobs:
        db.delete(job)
    db.flush()
    return folders


def in_database(release: Release) -> bool:
    """Whether the release, or a part of it, is a table of a database."""
    tables = release.place.get("tables")
    places = tables.values() if isinstance(tables, Mapping) else (release.place,)
    return any(place.get("kind") == "table" for place in places)
