"""Projects: listed, made, read, changed, undone, deleted, written as files. Who may is asked here, for pages and routes alike."""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from typing import Any, TypeVar

from sqlalchemy import RowMapping, Select, select
from sqlalchemy.orm import Session as Db

from velado.service.access.allowed_references import member_projects, roles_in
from velado.service.access.caller import Caller
from velado.service.admin import storage_usage
from velado.service.errors import Changed, NotFound, Unconditional
from velado.service.projects import versions
from velado.service.projects.create import begin
from velado.service.projects.document_checks import references
from velado.service.projects.exchange import plain_name, to_file, to_text
from velado.service.projects.schemas import (
    ChangedProject,
    NewProject,
    ProjectAnswer,
    ProjectEntry,
    ProjectFile,
    ProjectNote,
    Verdict,
    VersionAnswer,
    VersionEntry,
)
from velado.service.releases.schemas import exposes
from velado.service.store.tables import Connection, Job, Project, Release, Source, Upload, User, Version
from velado.service.unit_of_work import UnitOfWork
from velado.service.web import paging
from velado.service.web.schemas import Listed


def list_projects(work: UnitOfWork, limit: int = 100, after: str | None = None, search: str | None = None) -> Listed[ProjectEntry]:
    """The projects of who asks, those changed last first."""
    work.caller.require("account.use")
    with work.reading() as db:
        own = select(Project).where(Project.id.in_(member_projects(work.caller)))
        if search and search.strip():
            own = own.where(Project.name.icontains(search.strip(), autoescape=True))
        found, following = paging.newest(db, own, Project.changed, Project.id, limit, after)
        ids = [p.id for p in found]
        verdicts, roles = _verdicts(db, ids), roles_in(db, work.caller, ids)
    items = [ProjectEntry(**_facts(p), roles=sorted(roles.get(p.id, ())), last=verdicts.get(p.id)) for p in found]
    return Listed(items=items, next=following)


def create_project(work: UnitOfWork, new: NewProject) -> ProjectAnswer:
    """Make a project; who makes it owns it."""
    work.caller.require("projects.create")
    with work.writing() as db:
        begun = begin(db, work.caller, new.model_dump(exclude={"name"}, exclude_none=True), work.language)
        project = versions.create(db, work.caller, new.name or begun.name, begun.document)
        storage_usage.check_stored(db, work.settings(db), work.user(db))
        work.audit(db, "project.create", project.id, origin=begun.origin)
        answer = _answer(db, work, project)
    answer.notes = [ProjectNote(**note) for note in begun.notes]
    return answer


def read_project(work: UnitOfWork, id: str) -> ProjectAnswer:
    """A project with its document."""
    with work.reading() as db:
        return _answer(db, work, work.caller.project(db, id, "project.read"))


def change_project(work: UnitOfWork, id: str, known: Container[int] | None, change: ChangedProject) -> ProjectAnswer:
    """A new version of a project, if the newest is one that is ``known`` to who changes it; None: they do not say which."""
    with work.writing() as db:
        project = versions.lock_project(db, work.caller.project(db, id, "project.edit"))
        if known is None:
            raise Unconditional()
        if project.version not in known:
            raise Changed(current=str(project.version))
        if versions.change(db, work.caller, project, change.document, change.name):
            storage_usage.check_stored(db, work.settings(db), work.user(db))
            work.audit(db, "project.change", project.id, version=project.version)
        return _answer(db, work, project)


def undo_change(work: UnitOfWork, id: str) -> ProjectAnswer:
    """Take the last change back that stands, by a new version."""
    with work.writing() as db:
        project = versions.lock_project(db, work.caller.project(db, id, "project.edit"))
        undone = versions.undo(db, work.caller, project)
        storage_usage.check_stored(db, work.settings(db), work.user(db))
        work.audit(db, "project.undo", project.id, version=project.version, undoes=undone)
        return _answer(db, work, project)


def delete_project(work: UnitOfWork, id: str) -> None:
    """Delete a project with its versions, jobs, releases and all files; tables of databases stay."""
    files = work.service.files
    with work.writing() as db:
        project = versions.lock_project(db, work.caller.project(db, id, "project.delete"))
        jobs = set(db.scalars(select(Job.id).where(Job.project_id == project.id)))
        folders = [path for job, _, path in files.attempts() if job in jobs]
        db.delete(project)
        db.flush()
        work.audit(db, "project.delete", id)
    for folder in folders:
        files.remove(folder)


def list_versions(work: UnitOfWork, id: str, limit: int = 100, after: str | None = None) -> Listed[VersionEntry]:
    """The versions of a project, the newest first."""
    with work.reading() as db:
        work.caller.project(db, id, "project.read")
        found, following = _newest_versions(db, _select_versions(id), limit, after)
    return Listed(items=[VersionEntry(**one) for one in found], next=following)


def read_versions(work: UnitOfWork, id: str, limit: int = 100, after: str | None = None) -> Listed[VersionAnswer]:
    """The versions of a project with their documents, the newest first."""
    with work.reading() as db:
        project = work.caller.project(db, id, "project.read")
        found, following = _newest_versions(db, _select_versions(id, Version.document), limit, after)
        return Listed(items=[_version_answer(db, work, project, one) for one in found], next=following)


def read_version(work: UnitOfWork, id: str, number: int) -> VersionAnswer:
    """A project as it was."""
    with work.reading() as db:
        project = work.caller.project(db, id, "project.read")
        found = db.execute(_select_versions(id, Version.document).where(Version.number == number)).mappings().first()
        if found is None:
            raise NotFound()
        return _version_answer(db, work, project, found)


def read_file(work: UnitOfWork, id: str, format: str = "yaml") -> ProjectFile:
    """The project file for people, YAML or JSON; names of what the caller may not see are placeholders, and values left out."""
    with work.reading() as db:
        project = work.caller.project(db, id, "project.read")
        document, masked = versions.visible_document(db, work.caller, project)
        found = to_file(document, _names(db, work.caller, project))
    found = {"velado": found.get("velado", 1), "name": project.name, **found}
    if format == "json":
        text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    else:
        text = (f"# {versions.MASKED.into(work.language)}\n" if masked else "") + to_text(found)
    return ProjectFile(project.name, project.version, text)


def _names(db: Db, caller: Caller, project: Project) -> dict[str, Any]:
    """What the things that a project names are called; addresses of databases are for their owners only."""
    named, seen = references(project.document), "profile.read" in caller.actions_in(db, project.id)
    connections = {c.id: c.address for c in _load_by_ids(db, Connection, named["connections"]) if c.user_id == caller.id}
    sources: dict[str, Any] = {}
    for source in _load_by_ids(db, Source, named["sources"]):
        own = db.get(Connection, source.connection_id) if source.connection_id else None
        if own is not None and own.user_id == caller.id:
            sources[source.id] = {"address": own.address, "place": source.place}
        elif seen and own is None:
            sources[source.id] = {"name": plain_name(source.name), "options": source.options}
    uploads = {u.id: plain_name(u.name) for u in _load_by_ids(db, Upload, named["uploads"]) if seen}
    return {"sources": sources, "uploads": uploads, "connections": connections}


Thing = TypeVar("Thing", Connection, Source, Upload)


def _load_by_ids(db: Db, kind: type[Thing], ids: set[str]) -> list[Thing]:
    return list(db.scalars(select(kind).where(kind.id.in_(ids))))


def _select_versions(id: str, *more: Any) -> Select[Any]:
    """The versions of a project as entries of a list, and ``more`` of each."""
    columns = (Version.number, Version.created, Version.undoes, User.name.label("user"), *more)
    return select(*columns).outerjoin(User, User.id == Version.user_id).where(Version.project_id == id)


def _newest_versions(db: Db, query: Select[Any], limit: int, after: str | None) -> tuple[Sequence[RowMapping], str | None]:
    """A page of versions, and what ``after`` must be for the next one."""
    if after is not None and after.isdecimal() and len(after) < 16:
        query = query.where(Version.number < int(after))
    found = db.execute(query.order_by(Version.number.desc()).limit(limit + 1)).mappings().all()
    return found[:limit], str(found[limit - 1]["number"]) if len(found) > limit else None


def _version_answer(db: Db, work: UnitOfWork, project: Project, found: RowMapping) -> VersionAnswer:
    document, masked = versions.visible_document(db, work.caller, project, found["document"])
    return VersionAnswer(**{**found, "document": document}, masked=masked)


def _facts(project: Project) -> dict[str, Any]:
    return {key: getattr(project, key) for key in ("id", "name", "version", "created", "changed")}


def _answer(db: Db, work: UnitOfWork, project: Project) -> ProjectAnswer:
    document, masked = versions.visible_document(db, work.caller, project)
    roles, actions = work.caller.project_roles(db, project.id), work.caller.actions_in(db, project.id)
    return ProjectAnswer(**_facts(project), roles=sorted(roles), actions=sorted(actions), document=document, masked=masked)


def _verdicts(db: Db, ids: list[str]) -> dict[str, Verdict]:
    """How the last run of each project ended."""
    released = (Release.id.label("release"), Release.state.label("release_state"))
    runs = select(Job.id, Job.project_id, Job.state, Job.finished, Job.error, *released).outerjoin(
        Release, Release.job_id == Job.id
    )
    runs = runs.where(Job.project_id.in_(ids), Job.kind == "run").order_by(Job.created, Job.id)
    last = {row.project_id: row for row in db.execute(runs)}
    summaries = select(Release.id, Release.summary).where(Release.id.in_([row.release for row in last.values() if row.release]))
    exposed = {row.id for row in db.execute(summaries) if exposes(row.summary)}
    return {
        id: Verdict(
            job=row.id,
            state=row.state,
            finished=row.finished,
            release=row.release,
            release_state=row.release_state,
            code=None if not row.error else row.error.get("code"),
            exposed=row.release in exposed,
        )
        for id, row in last.items()
    }
