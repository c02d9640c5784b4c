"""Releases: what can be done with them, and who may."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service.access.allowed_references import member_projects
from velado.service.access.caller import Caller
from velado.service.errors import NotFound
from velado.service.jobs.kinds import KINDS
from velado.service.jobs.parameters import Report as ReportParameters
from velado.service.jobs.quick_jobs import JobBegun, job_receipt, of_project
from velado.service.releases import approval, release_files
from velado.service.releases.rows import read_rows, read_sorted_rows, redact_page
from velado.service.releases.schemas import (
    DistributionsAnswer,
    Judged,
    Page,
    ReleaseChoice,
    ReleaseEntry,
    ReportEntry,
    ReportsAnswer,
)
from velado.service.store.store import remember
from velado.service.store.tables import Job, Project, Release, User
from velado.service.unit_of_work import UnitOfWork
from velado.service.web import paging
from velado.service.web.schemas import Listed

PrivatePart = Literal["evaluation", "manifest", "distributions"]
PRIVATE: dict[PrivatePart, tuple[release_files.Figures, str]] = {
    "evaluation": ("figures", "evaluation"),
    "manifest": ("figures", "manifest"),
    "distributions": ("shape", "whole"),
}
"""In which file of a release, and under which name there, its private parts are."""
STAYS = Sentence("The table stays in the database: take it away there if nobody is to read it any more.")


class DataFile(NamedTuple):
    """A file that is handed out, and its name for who gets it."""

    path: Path
    name: str


def list_all_releases(work: UnitOfWork, limit: int = 100, after: str | None = None) -> Listed[ReleaseEntry]:
    """The releases of all projects of who asks, of all projects for auditors; the newest first."""
    work.caller.require("account.use")
    with work.reading() as db:
        query = select(Release)
        if not work.caller.may("evidence.read"):
            query = query.where(Release.project_id.in_(member_projects(work.caller)))
        return _page(db, work, query, limit, after)


def list_releases(work: UnitOfWork, project: str, limit: int = 100, after: str | None = None) -> Listed[ReleaseEntry]:
    """The releases of a project, the newest first."""
    with work.reading() as db:
        work.caller.project(db, project, "release.read")
        return _page(db, work, select(Release).where(Release.project_id == project), limit, after)


def newest_release(work: UnitOfWork, project: str) -> ReleaseEntry | None:
    """The newest release of a project; None if there is none."""
    with work.reading() as db:
        return remember(db, ("newest release", project), lambda: next(iter(list_releases(work, project, 1).items), None))


def list_choices(work: UnitOfWork, project: str, limit: int = 100) -> list[ReleaseChoice]:
    """The releases of a project to choose one from, the newest first, without what is large."""
    with work.reading() as db:
        work.caller.project(db, project, "release.read")
        query = select(Release.id, Release.job_id, Release.version, Release.state, Release.created)
        found = query.where(Release.project_id == project).order_by(Release.created.desc(), Release.id.desc()).limit(limit)
        return [ReleaseChoice(*row) for row in db.execute(found)]


def read_release(work: UnitOfWork, id: str) -> ReleaseEntry:
    """A release and its main figures."""
    with work.reading() as db:
        return _entries(db, work, [release_of(db, work.caller, id, "release.read")])[0]


def read_evaluation(work: UnitOfWork, id: str, table: str | None = None) -> dict[str, Any]:
    """What everybody may know of a release."""
    with work.reading() as db:
        release = release_of(db, work.caller, id, "release.read")
        return _translate_summary(release_files.part(release.summary, table), work.language)


def read_manifest(work: UnitOfWork, id: str, table: str | None = None) -> dict[str, Any]:
    """What proves a release: input, project, models, digest."""
    with work.reading() as db:
        release = release_of(db, work.caller, id, "release.read")
        return dict(release_files.part(release.manifest, table) if table else release.manifest)


def read_private(work: UnitOfWork, id: str, table: str | None, what: PrivatePart) -> dict[str, Any]:
    """Figures that tell of suppressed records; who reads them is written down."""
    with work.disclosing() as db:
        release = release_of(db, work.caller, id, "release.private")
        which, name = PRIVATE[what]
        found = dict(release_files.figures(db, work.service.files, release, table, which).get(name) or {})
        work.audit(db, "release.private", release.id, what=what)
    return found


def read_distributions(work: UnitOfWork, id: str, table: str | None = None, *, private: bool = False) -> DistributionsAnswer:
    """How records and values are distributed; ``private``: with suppressed records and small groups, which is written down."""
    if private:
        return DistributionsAnswer(**read_private(work, id, table, "distributions"))
    with work.reading() as db:
        release = release_of(db, work.caller, id, "release.read")
        approval.check_evidence(db, work.caller, release, work.settings(db))
        return DistributionsAnswer(**release_files.figures(db, work.service.files, release, table, "shape")["public"])


def list_classes(
    work: UnitOfWork, id: str, offset: int, limit: int, table: str | None = None, sort: str | None = None, descending: bool = False
) -> Page:
    """The equivalence classes of a release with size, risk and figures of sensitive columns, the riskiest first."""
    with work.reading() as db:
        release = release_of(db, work.caller, id, "release.download")
        allowed = work.caller.actions_in(db, release.project_id)
        if "results.read" not in allowed:
            approval.check_given_out(release, work.settings(db))
        path = release_files.file_of(db, work.service.files, release, "classes", table)
    whole = "records.read" in allowed
    found = read_rows(path, offset, limit) if sort is None else read_sorted_rows(path, offset, limit, sort, descending, not whole)
    return found if whole else redact_page(found)


def list_rows(work: UnitOfWork, id: str, offset: int = 0, limit: int = 100, table: str | None = None) -> Page:
    """The released rows, page by page; who reads them is written down."""
    with work.reading() as db:
        path = release_files.file_of(db, work.service.files, _visible_release(db, work, id), "rows", table)
    # While a page is read nobody waits to write; it is given out if it still may be.
    found = read_rows(path, offset, limit)
    with work.disclosing() as db:
        work.audit(db, "release.rows", _visible_release(db, work, id).id, rows=len(found.rows))
    return found


def _visible_release(db: Db, work: UnitOfWork, id: str) -> Release:
    """Who may read the records may look at a release before it is approved; a withdrawn one is nobody's."""
    release = release_of(db, work.caller, id, "release.download")
    before = release.state == approval.MADE and "records.read" in work.caller.actions_in(db, release.project_id)
    if not before:
        approval.check_given_out(release, work.settings(db))
    return release


def download_data(work: UnitOfWork, id: str, table: str | None = None) -> DataFile:
    """The released rows as a file; that it is handed out is written down."""
    with work.disclosing() as db:
        release = release_of(db, work.caller, id, "release.download")
        approval.check_given_out(release, work.settings(db))
        path, place = release_files.data(db, work.service.files, release, table)
        project = db.get_one(Project, release.project_id)
        work.audit(db, "release.download", release.id, bytes=_bytes(path), project=project.id)
    # The original may lie where the release is saved, under the name that the project has from it.
    return DataFile(path, f"{project.name}{f' {table}' if table else ''}_anonymous.{place.get('format', 'csv')}")


def list_reports(work: UnitOfWork, id: str) -> ReportsAnswer:
    """The reports of a release that were written."""
    with work.reading() as db:
        found = release_files.reports(db, release_of(db, work.caller, id, "release.read"))
    files = (ReportEntry(**file.about, created=file.job.created, job=file.job.id) for _, file in sorted(found.items()))
    return ReportsAnswer(items=list(files))


def write_reports(work: UnitOfWork, id: str, wanted: ReportParameters) -> JobBegun:
    """Write the report of a release, in formats and languages: a job."""
    with work.writing() as db:
        release = release_of(db, work.caller, id, KINDS[release_files.REPORT].action)
        project = db.get_one(Project, release.project_id)
        parameters, run = wanted.model_dump(exclude_none=True), db.get_one(Job, release.job_id)
        job = of_project(
            db, work, release_files.REPORT, project, parameters, document=run.document, version=release.version, release=release.id
        )
        work.audit(db, "job.submit", job.id, kind=job.kind, project=project.id)
    return job_receipt(job)


def read_report(work: UnitOfWork, id: str, name: str) -> Path:
    """The file of a report; that it is handed out is written down."""
    with work.disclosing() as db:
        release = release_of(db, work.caller, id, "release.read")
        approval.check_evidence(db, work.caller, release, work.settings(db))
        found = release_files.reports(db, release).get(name)
        if found is None:
            raise NotFound()
        path = work.service.files.attempt(found.job.id, found.job.attempt) / Path(name).name
        work.audit(db, "report.read", release.id, bytes=_bytes(path))
    return path


def approve_release(work: UnitOfWork, id: str) -> Judged:
    """Approve a release, as a second person."""
    with work.writing() as db:
        release = approval.lock_release(db, release_of(db, work.caller, id, "release.approve"))
        approval.approve(db, work.caller, release)
        work.audit(db, "release.approve", release.id, project=release.project_id)
        return Judged(**dict(_entries(db, work, [release])[0]))


def withdraw_release(work: UnitOfWork, id: str) -> Judged:
    """Withdraw a release: nobody downloads it any more. A table in a database stays where it is."""
    with work.writing() as db:
        release = approval.lock_release(db, release_of(db, work.caller, id, "release.withdraw"))
        approval.withdraw(release, work.caller)
        work.audit(db, "release.withdraw", release.id, project=release.project_id)
        notes = [STAYS.into(work.language)] if release_files.in_database(release) else []
        return Judged(**dict(_entries(db, work, [release])[0]), notes=notes)


def delete_release(work: UnitOfWork, id: str) -> None:
    """Delete a release with its files, its reports and the job that made it; a table in a database stays."""
    with work.writing() as db:
        release = approval.lock_release(db, release_of(db, work.caller, id, "release.delete"))
        work.audit(db, "release.delete", release.id, project=release.project_id)
        folders = release_files.delete_rows(db, work.service.files, release)
    for folder in folders:
        work.service.files.remove(folder)


def release_of(db: Db, caller: Caller, id: str, action: str) -> Release:
    """A release with which an action is allowed; to who may see none of its project's, it does not exist."""
    release = db.get(Release, id)
    if release is None:
        raise NotFound()
    caller.project(db, release.project_id, action)
    return release


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        raise NotFound() from None


def _page(db: Db, work: UnitOfWork, query: Any, limit: int, after: str | None) -> Listed[ReleaseEntry]:
    found, following = paging.newest(db, query, Release.created, Release.id, limit, after)
    seen = [one for one in found if "release.read" in work.caller.actions_in(db, one.project_id)]
    return Listed(items=_entries(db, work, seen), next=following)


def _entries(db: Db, work: UnitOfWork, releases: list[Release]) -> list[ReleaseEntry]:
    """Releases as they are told; the names of all their people are looked up at once."""
    settings = work.settings(db)
    users = {id for release in releases for id in (release.user_id, release.judged_by) if id is not None}
    names = {work.caller.id: work.caller.name}
    if others := users - names.keys():
        names |= dict(db.execute(select(User.id, User.name).where(User.id.in_(others))).all())
    return [
        ReleaseEntry(
            id=release.id,
            project=release.project_id,
            project_name=db.get_one(Project, release.project_id).name,
            job=release.job_id,
            version=release.version,
            state=release.state,
            created=release.created,
            user=names.get(release.user_id or ""),
            judged_by=names.get(release.judged_by or ""),
            judged=release.judged,
            place=release.place,
            summary=_translate_summary(release.summary, work.language),
            downloadable=approval.given_out(release, settings)
            and "release.download" in work.caller.actions_in(db, release.project_id),
        )
        for release in releases
    ]


def _translate_summary(summary: Any, language: str) -> dict[str, Any]:
    """The public figures, notes in a language."""
    found = dict(summary)
    if isinstance(found.get("tables"), dict):
        found["tables"] = {name: _translate_summary(part, language) for name, part in found["tables"].items()}
    if isinstance(found.get("notes"), list):
        found["notes"] = [{**note, "message": _translate_message(note.get("message"), language)} for note in found["notes"]]
    return found


def _translate_message(message: Any, language: str) -> str:
    return str(message.get(language, message.get("en", ""))) if isinstance(message, dict) else str(message)
