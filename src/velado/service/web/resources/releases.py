"""Verified releases: evaluation, manifest, classes, data, reports, approval."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service import releases
from velado.service.errors import NotFound
from velado.service.jobs.kinds import KINDS
from velado.service.jobs.parameters import Report as ReportParameters
from velado.service.releases import release_of
from velado.service.settings import Settings
from velado.service.store.tables import Job, Project, Release, User
from velado.service.usable import mine
from velado.service.web import downloads, paged
from velado.service.web.asking import JobBegun, begun, of_project
from velado.service.web.call import Call, Called
from velado.service.web.resources import distributions, release_rows
from velado.service.web.shapes import After, Limit, Listed

router = APIRouter(tags=["releases"])
router.include_router(release_rows.router)
router.include_router(distributions.router)
Private = Annotated[bool, Query(description="With what only owners and editors may know")]
OneTable = Annotated[str | None, Query(max_length=300, description="Which table, of a release of several")]
SANDBOX = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'none'"
)
"""A report is a page of its own: no script runs in it, and it reaches nothing."""
STAYS = Sentence("The table stays in the database: take it away there if nobody is to read it any more.")


class ReleaseEntry(BaseModel):
    """A release. ``state``: made, approved, withdrawn; ``judged_by`` approved or withdrew it."""

    id: str
    project: str
    project_name: str
    job: str
    version: int
    state: str
    created: datetime
    user: str | None
    judged_by: str | None
    judged: datetime | None
    place: dict[str, Any]
    summary: dict[str, Any]
    downloadable: bool = Field(description="Whether its data may be downloaded in its state, by who asks")


class Judged(ReleaseEntry):
    """A release that was approved or withdrawn; ``notes`` are what is left to do."""

    notes: list[str] = Field(default_factory=list)


class ReportEntry(BaseModel):
    """A file of a report."""

    name: str
    format: str
    language: str
    bytes: int
    created: datetime
    job: str


class ReportsAnswer(BaseModel):
    """The reports of a release."""

    items: list[ReportEntry]


@router.get("/releases")
def list_all_releases(call: Called, limit: Limit = 100, after: After = None) -> Listed[ReleaseEntry]:
    """The releases of all projects of who asks, of all projects for auditors; the newest first."""
    call.caller.require("account.use")
    with call.reading() as db:
        query = select(Release)
        if not call.caller.may("evidence.read"):
            query = query.where(Release.project_id.in_(mine(call.caller)))
        return _page(db, call, query, limit, after)


@router.get("/projects/{id}/releases")
def list_releases(call: Called, id: str, limit: Limit = 100, after: After = None) -> Listed[ReleaseEntry]:
    """The releases of a project, the newest first."""
    with call.reading() as db:
        call.caller.project(db, id, "release.read")
        return _page(db, call, select(Release).where(Release.project_id == id), limit, after)


@router.get("/releases/{id}")
def read_release(call: Called, id: str) -> ReleaseEntry:
    """A release and its main figures."""
    with call.reading() as db:
        return ReleaseEntry(**_entry(db, call, release_of(db, call.caller, id, "release.read")))


@router.get("/releases/{id}/evaluation")
def read_evaluation(call: Called, id: str, private: Private = False, table: OneTable = None) -> dict[str, Any]:
    """What everybody may know of a release; private: measured against the whole input."""
    if private:
        return _private(call, id, table, "evaluation")
    with call.reading() as db:
        release = release_of(db, call.caller, id, "release.read")
        return _spoken(releases.part(release.summary, table), call.language)


@router.get("/releases/{id}/manifest")
def read_manifest(call: Called, id: str, private: Private = False, table: OneTable = None) -> dict[str, Any]:
    """What proves a release: input, project, models, digest."""
    if private:
        return _private(call, id, table, "manifest")
    with call.reading() as db:
        release = release_of(db, call.caller, id, "release.read")
        return dict(releases.part(release.manifest, table) if table else release.manifest)


def _private(call: Call, id: str, table: str | None, what: str) -> dict[str, Any]:
    """Figures that tell of suppressed records; who reads them is written down."""
    with call.writing() as db:
        release = release_of(db, call.caller, id, "release.private")
        found = dict(releases.figures(db, call.service.files, release, table).get(what) or {})
        call.audit(db, "release.private", release.id, what=what)
    return found


@router.get("/releases/{id}/data", response_class=Response, responses=downloads.answers(*downloads.TABLES))
def download_data(call: Called, id: str, table: OneTable = None) -> Response:
    """The released rows as a file."""
    with call.writing() as db:
        release = release_of(db, call.caller, id, "release.download")
        releases.check_given_out(release, call.settings(db))
        path, place = releases.data(db, call.service.files, release, table)
        project = db.get_one(Project, release.project_id)
        bytes = _bytes(path)
        call.audit(db, "release.download", release.id, bytes=bytes, project=project.id)
    # The original may lie where the release is saved, under the name that the project has from it.
    name = f"{project.name}{f' {table}' if table else ''}_anonymous.{place.get('format', 'csv')}"
    return downloads.stream(path, name)


@router.get("/releases/{id}/reports")
def list_reports(call: Called, id: str) -> ReportsAnswer:
    """The reports of a release that were written."""
    with call.reading() as db:
        release = release_of(db, call.caller, id, "release.read")
        found = releases.reports(db, release)
    return ReportsAnswer(
        items=[
            ReportEntry(
                name=name, format=str(report.about["format"]), language=str(report.about["language"]),
                bytes=int(report.about["bytes"]), created=report.job.created, job=report.job.id,
            )
            for name, report in sorted(found.items())
        ]
    )  # fmt: skip


@router.post("/releases/{id}/reports", status_code=202)
def write_reports(call: Called, id: str, body: ReportParameters, response: Response) -> JobBegun:
    """Write the report of a release, in formats and languages."""
    with call.writing() as db:
        release = release_of(db, call.caller, id, KINDS[releases.REPORT].action)
        project = db.get_one(Project, release.project_id)
        run = db.get_one(Job, release.job_id)
        parameters = body.model_dump(exclude_none=True)
        job = of_project(
            db, call, releases.REPORT, project, parameters, document=run.document, version=release.version, release=release.id
        )  # fmt: skip
        call.audit(db, "job.submit", job.id, kind=job.kind, project=project.id)
    response.headers["Location"] = f"/api/v1/jobs/{job.id}"
    return begun(job)


@router.get(
    "/releases/{id}/reports/{name}",
    response_class=Response,
    responses=downloads.answers("text/html", "application/pdf", downloads.TYPES["xlsx"]),
)
def read_report(
    call: Called, id: str, name: str, download: Annotated[bool, Query(description="As a file, not as a page")] = False
) -> Response:
    """A report: HTML as a page of its own in which nothing runs, others as files."""
    with call.writing() as db:
        release = release_of(db, call.caller, id, "release.read")
        releases.check_evidence(db, call.caller, release, call.settings(db))
        found = releases.reports(db, release).get(name)
        if found is None:
            raise NotFound()
        path = call.service.files.attempt(found.job.id, found.job.attempt) / Path(name).name
        call.audit(db, "report.read", release.id, bytes=_bytes(path))
    page = name.endswith(".html") and not download
    more = {"Content-Security-Policy": SANDBOX, **({"Content-Disposition": "inline"} if page else {})}
    return downloads.stream(path, name, "text/html; charset=utf-8" if name.endswith(".html") else None, **more)


@router.post("/releases/{id}/approve")
def approve_release(call: Called, id: str) -> Judged:
    """Approve a release, as a second person."""
    with call.writing() as db:
        release = releases.locked(db, release_of(db, call.caller, id, "release.approve"))
        releases.approve(db, call.caller, release)
        call.audit(db, "release.approve", release.id, project=release.project_id)
        return Judged(**_entry(db, call, release))


@router.post("/releases/{id}/withdraw")
def withdraw_release(call: Called, id: str) -> Judged:
    """Withdraw a release: nobody downloads it any more. A table in a database stays where it is."""
    with call.writing() as db:
        release = releases.locked(db, release_of(db, call.caller, id, "release.withdraw"))
        releases.withdraw(release, call.caller)
        call.audit(db, "release.withdraw", release.id, project=release.project_id)
        return Judged(**_entry(db, call, release), notes=_notes(release, call.language))


@router.delete("/releases/{id}", status_code=204)
def delete_release(call: Called, id: str) -> None:
    """Delete a release with its files, its reports and the job that made it; a table in a database stays."""
    with call.writing() as db:
        release = releases.locked(db, release_of(db, call.caller, id, "release.delete"))
        call.audit(db, "release.delete", release.id, project=release.project_id)
        folders = releases.delete(db, call.service.files, release)
    for folder in folders:
        call.service.files.remove(folder)


def _notes(release: Release, language: str) -> list[str]:
    return [STAYS.into(language)] if releases.in_database(release) else []


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        raise NotFound() from None


def _page(db: Db, call: Call, query: Any, limit: int, after: str | None) -> Listed[ReleaseEntry]:
    found, following = paged.newest(db, query, Release.created, Release.id, limit, after)
    settings = call.settings(db)
    allowed = {id: call.caller.actions_in(db, id) for id in {release.project_id for release in found}}
    items = [
        ReleaseEntry(**_entry(db, call, release, settings, allowed[release.project_id]))
        for release in found
        if "release.read" in allowed[release.project_id]
    ]
    return Listed(items=items, next=following)


def _entry(
    db: Db, call: Call, release: Release, settings: Settings | None = None, allowed: frozenset[str] | None = None
) -> dict[str, Any]:
    allowed = call.caller.actions_in(db, release.project_id) if allowed is None else allowed
    users = {id: db.get(User, id) for id in (release.user_id, release.judged_by) if id is not None}
    names = {id: None if user is None else user.name for id, user in users.items()}
    given = releases.given_out(release, settings or call.settings(db))
    return {
        "id": release.id, "project": release.project_id, "project_name": db.get_one(Project, release.project_id).name,
        "job": release.job_id, "version": release.version, "state": release.state, "created": release.created,
        "user": names.get(release.user_id or ""), "judged_by": names.get(release.judged_by or ""), "judged": release.judged,
        "place": release.place, "summary": _spoken(release.summary, call.language),
        "downloadable": given and "release.download" in allowed,
    }  # fmt: skip


def _spoken(summary: Any, language: str) -> dict[str, Any]:
    """The public figures, notes in a language."""
    found = dict(summary)
    if isinstance(found.get("tables"), dict):
        found["tables"] = {name: _spoken(part, language) for name, part in found["tables"].items()}
    if isinstance(found.get("notes"), list):
        found["notes"] = [{**note, "message": _said(note.get("message"), language)} for note in found["notes"]]
    return found


def _said(message: Any, language: str) -> str:
    return str(message.get(language, message.get("en", ""))) if isinstance(message, dict) else str(message)
