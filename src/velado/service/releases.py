"""Releases: which files they have, who may have them, approval and withdrawal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from sqlalchemy import or_, select
from sqlalchemy.orm import Session as Db

from velado.errors import suggest
from velado.sentences import Sentence
from velado.service.accounts.caller import Caller
from velado.service.errors import Conflict, Invalid, NotFound, Refused
from velado.service.files import Files
from velado.service.settings import Settings
from velado.service.store.tables import Job, Release, now

MADE, APPROVED, WITHDRAWN = "made", "approved", "withdrawn"
REPORT = "report"


class OwnRelease(Refused):
    """Who made a release does not approve it."""

    status: ClassVar[int] = 403

    def __init__(self) -> None:
        super().__init__(
            "own-release", "you made this release; a second person approves it",
            hint="Ask another approver of the project.",
        )  # fmt: skip


class Report(NamedTuple):
    """A file of a report, and the job that wrote it."""

    job: Job
    about: Mapping[str, Any]


def release_of(db: Db, caller: Caller, id: str, action: str) -> Release:
    """A release with which an action is allowed; to who may see none of its project's, it does not exist."""
    release = db.get(Release, id)
    if release is None:
        raise NotFound()
    caller.project(db, release.project_id, action)
    return release


def given_out(release: Release, settings: Settings) -> bool:
    """Whether its data may be downloaded in its state."""
    return release.state == APPROVED or (release.state == MADE and not settings.approval)


def check_given_out(release: Release, settings: Settings) -> None:
    """Raise unless its data may be downloaded in its state."""
    if release.state == WITHDRAWN:
        raise Conflict("release-withdrawn", "the release was withdrawn")
    if settings.approval and release.state != APPROVED:
        raise Conflict(
            "not-approved", "a second person must approve the release first", hint="Ask an approver of the project."
        )


def check_evidence(db: Db, caller: Caller, release: Release, settings: Settings) -> None:
    """Who judges a release, or works in its project, reads what is told of it before it is approved and after; nobody else."""
    before = {"results.read", "release.approve"} & caller.actions_in(db, release.project_id)
    if not before and not caller.may("evidence.read"):
        check_given_out(release, settings)


def approve(db: Db, caller: Caller, release: Release) -> None:
    """A second person approves a release that was made."""
    job = db.get(Job, release.job_id)
    if caller.id in (release.user_id, None if job is None else job.user_id):
        raise OwnRelease()
    if release.state != MADE:
        raise _wrong_state(release)
    _judge(release, caller, APPROVED)


def withdraw(release: Release, caller: Caller) -> None:
    """Nobody downloads a release any more."""
    if release.state == WITHDRAWN:
        raise _wrong_state(release)
    _judge(release, caller, WITHDRAWN)


def _judge(release: Release, caller: Caller, state: str) -> None:
    release.state, release.judged_by, release.judged = state, caller.id, now()


def _wrong_state(release: Release) -> Conflict:
    message = Sentence("the release was {state} already", state=STATES[release.state])
    return Conflict("release-judged", message, fields={"state": release.state})


STATES = {APPROVED: Sentence("approved"), WITHDRAWN: Sentence("withdrawn"), MADE: Sentence("made")}


def locked(db: Db, release: Release) -> Release:
    """The release as it is now, held until the end of the transaction: one judgement comes after the other."""
    db.refresh(release, with_for_update=True)
    return release


def delete(db: Db, files: Files, release: Release) -> list[Path]:
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
    return Invalid(
        "unknown-table", "the release has no such table", hint=suggest(table or "", known), fields={"path": "table"}
    )


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
        # It was made part by part, or light.
        raise NotFound()
    return folder(db, files, release) / name


def data(db: Db, files: Files, release: Release, table: str | None) -> tuple[Path, Mapping[str, Any]]:
    """The file of the released rows, and where the release is said to be."""
    place = part(release.place, table)
    if place.get("kind") != "file":
        raise Conflict(
            "release-in-database", "the release is a table of a database", hint="Read it there.",
            fields={"table": str(place.get("table", ""))},
        )  # fmt: skip
    name = str(place["file"])
    if Path(name).name != name:
        raise NotFound()
    return folder(db, files, release) / name, place


def figures(
    db: Db, files: Files, release: Release, table: str | None, which: Literal["figures", "shape"] = "figures"
) -> dict[str, Any]:
    """What a run left beside its release: what only the owners may know (the evaluation against the whole input, and the
    private manifest), or how records and values are distributed."""
    try:
        found: dict[str, Any] = json.loads(file_of(db, files, release, which, table).read_text(encoding="utf-8"))
    except OSError:
        raise NotFound() from None
    return found


def reports(db: Db, release: Release) -> dict[str, Report]:
    """The files of all reports by name; a newer one takes the place of an older one."""
    done = select(Job).where(Job.release_id == release.id, Job.kind == REPORT, Job.state == "done")
    found: dict[str, Report] = {}
    for job in db.scalars(done.order_by(Job.created, Job.id)):
        for about in (job.result or {}).get("files", []):
            found[str(about["name"])] = Report(job, about)
    return found


def in_database(release: Release) -> bool:
    """Whether the release, or a part of it, is a table of a database."""
    tables = release.place.get("tables")
    places = tables.values() if isinstance(tables, Mapping) else (release.place,)
    return any(place.get("kind") == "table" for place in places)
