"""Projects, their versions, members and problems."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service import projects
from velado.service.begun import Begun, begin
from velado.service.store.tables import Job, Project, Release, User, Version
from velado.service.usable import mine, roles_in
from velado.service.web import downloads, paged
from velado.service.web.call import Call, Called
from velado.service.web.resources import checks, members, singled_out
from velado.service.web.shapes import After, Body, Id, Limit, Listed, Name
from velado.service.web.tags import check_match, etag, known

router = APIRouter(tags=["projects"])
router.include_router(members.router)
router.include_router(checks.router)
router.include_router(singled_out.router)

LONGEST_TEXT = 8_000_000
IfMatch = Annotated[str | None, Header(description="The ETag of the version that is changed")]
Search = Annotated[str | None, Query(max_length=200, description="A part of the name")]
IfNoneMatch = Annotated[str | None, Header(description="The ETag of what is known already")]


class Verdict(BaseModel):
    """How the last run of a project ended. ``code`` says why it failed."""

    job: str
    state: str
    finished: datetime | None
    code: str | None = None
    release: str | None = None
    release_state: str | None = None


class ProjectEntry(BaseModel):
    """A project in a list. ``roles`` are those of who asks."""

    id: str
    name: str
    version: int
    created: datetime
    changed: datetime
    roles: list[str]
    last: Verdict | None = None


class ProjectNote(BaseModel):
    """What its maker should know of a project that comes from elsewhere; ``path`` is a place in what was sent, ``value`` what stands there."""

    path: str
    kind: str
    message: str
    value: str = ""


class ProjectAnswer(BaseModel):
    """A project. ``actions`` are what who asks may do in it; ``notes`` are told once, when it is made."""

    id: str
    name: str
    version: int
    created: datetime
    changed: datetime
    roles: list[str]
    actions: list[str]
    document: dict[str, Any]
    notes: list[ProjectNote] = Field(default_factory=list)


class NewProject(Body):
    """A project from at most one of these; from none of them it is empty.

    ``document``: as the service keeps it. ``yaml``: the text of a project file, YAML or JSON. ``anonylitics``: the JSON text of
    an Anonylitics project. ``copy_of``: the id of a project. ``source``: the id of a source; the document is what was
    suggested for it.
    """

    name: Name | None = None
    document: dict[str, Any] | None = None
    yaml: str | None = Field(None, max_length=LONGEST_TEXT)
    anonylitics: str | None = Field(None, max_length=LONGEST_TEXT)
    copy_of: Id | None = None
    source: Id | None = None


class ChangedProject(Body):
    """A new version of a project."""

    document: dict[str, Any]
    name: Name | None = None


class VersionEntry(BaseModel):
    """A version: who made it, when, and which change it took back."""

    number: int
    created: datetime
    user: str | None
    undoes: int | None


class VersionAnswer(VersionEntry):
    """A project as it was."""

    document: dict[str, Any]


@router.get("/projects")
def list_projects(call: Called, limit: Limit = 100, after: After = None, search: Search = None) -> Listed[ProjectEntry]:
    """The projects of who asks, those changed last first."""
    call.caller.require("account.use")
    with call.reading() as db:
        own = select(Project).where(Project.id.in_(mine(call.caller)))
        if search and search.strip():
            own = own.where(Project.name.icontains(search.strip(), autoescape=True))
        found, following = paged.newest(db, own, Project.changed, Project.id, limit, after)
        ids = [p.id for p in found]
        verdicts, roles = _verdicts(db, ids), roles_in(db, call.caller, ids)
        items = [
            ProjectEntry(
                id=p.id, name=p.name, version=p.version, created=p.created, changed=p.changed,
                roles=sorted(roles.get(p.id, ())), last=verdicts.get(p.id),
            )
            for p in found
        ]  # fmt: skip
    return Listed(items=items, next=following)


@router.post("/projects", status_code=201)
def create_project(call: Called, body: NewProject, response: Response) -> ProjectAnswer:
    """Make a project; who makes it owns it."""
    call.caller.require("projects.create")
    with call.writing() as db:
        begun: Begun = begin(db, call.caller, body.model_dump(exclude={"name"}, exclude_none=True), call.language)
        project = projects.create(db, call.caller, body.name or begun.name, begun.document)
        call.audit(db, "project.create", project.id, origin=begun.origin)
        answer = _answer(db, call, project)
    answer.notes = [ProjectNote(**note) for note in begun.notes]
    response.headers["Location"] = f"/api/v1/projects/{project.id}"
    response.headers["ETag"] = etag(project.version)
    return answer


@router.get("/projects/{id}", response_model=ProjectAnswer, responses={304: {"description": "Not changed"}})
def read_project(call: Called, id: str, response: Response, if_none_match: IfNoneMatch = None) -> Any:
    """A project with its document."""
    with call.reading() as db:
        project = call.caller.project(db, id, "project.read")
        tag = etag(project.version)
        if known(call.request, tag):
            return Response(status_code=304, headers={"ETag": tag})
        response.headers["ETag"] = tag
        return _answer(db, call, project)


@router.put("/projects/{id}")
def change_project(
    call: Called, id: str, body: ChangedProject, response: Response, if_match: IfMatch = None
) -> ProjectAnswer:
    """Change a project: a new version, if the one that is changed is still the newest."""
    with call.writing() as db:
        project = projects.locked(db, call.caller.project(db, id, "project.edit"))
        check_match(if_match, etag(project.version))
        before = project.version
        projects.change(db, call.caller, project, body.document, body.name)
        if project.version != before:
            call.audit(db, "project.change", project.id, version=project.version)
        response.headers["ETag"] = etag(project.version)
        return _answer(db, call, project)


@router.delete("/projects/{id}", status_code=204)
def delete_project(call: Called, id: str) -> None:
    """Delete a project with its versions, jobs, releases and all files; tables of databases stay."""
    with call.writing() as db:
        project = projects.locked(db, call.caller.project(db, id, "project.delete"))
        folders = projects.delete(db, call.service.files, project)
        call.audit(db, "project.delete", id)
    for folder in folders:
        call.service.files.remove(folder)


@router.get("/projects/{id}/versions")
def list_versions(call: Called, id: str, limit: Limit = 100, after: After = None) -> Listed[VersionEntry]:
    """All versions of a project, the newest first."""
    with call.reading() as db:
        call.caller.project(db, id, "project.read")
        query = select(Version).where(Version.project_id == id).order_by(Version.number.desc()).limit(limit + 1)
        if after is not None and after.isdecimal() and len(after) < 16:
            query = query.where(Version.number < int(after))
        found = list(db.scalars(query))
        items = [VersionEntry(**_version(db, one)) for one in found[:limit]]
    return Listed(items=items, next=str(items[-1].number) if len(found) > limit else None)


@router.get("/projects/{id}/versions/{number}")
def read_version(call: Called, id: str, number: Annotated[int, downloads.Number]) -> VersionAnswer:
    """A project as it was."""
    with call.reading() as db:
        call.caller.project(db, id, "project.read")
        found = projects.version(db, id, number)
        return VersionAnswer(**_version(db, found), document=found.document)


@router.post("/projects/{id}/undo")
def undo_change(call: Called, id: str, response: Response) -> ProjectAnswer:
    """Take the last change back that stands, by a new version; to do it again, PUT the version that was undone."""
    with call.writing() as db:
        project = projects.locked(db, call.caller.project(db, id, "project.edit"))
        undone = projects.undo(db, call.caller, project)
        call.audit(db, "project.undo", project.id, version=project.version, undoes=undone)
        response.headers["ETag"] = etag(project.version)
        return _answer(db, call, project)


@router.get(
    "/projects/{id}/file", response_class=Response, responses=downloads.answers("application/yaml", "application/json")
)
def read_file(
    call: Called, id: str, format: Annotated[Literal["yaml", "json"], Query(description="How it is written")] = "yaml"
) -> Response:
    """The project as a file for people and for the command line; places of its data are to be filled in."""
    with call.reading() as db:
        project = call.caller.project(db, id, "project.read")
        text = projects.as_file(db, call.caller, project, format)
    headers = downloads.headers(f"{project.name}.{format}") | {"ETag": etag(project.version)}
    return Response(text, media_type=f"application/{format}", headers=headers)


def _version(db: Db, version: Version) -> dict[str, Any]:
    user = None if version.user_id is None else db.get(User, version.user_id)
    return {
        "number": version.number, "created": version.created, "undoes": version.undoes,
        "user": None if user is None else user.name,
    }  # fmt: skip


def _answer(db: Db, call: Call, project: Project) -> ProjectAnswer:
    return ProjectAnswer(
        id=project.id, name=project.name, version=project.version, created=project.created, changed=project.changed,
        roles=sorted(call.caller.project_roles(db, project.id)), actions=sorted(call.caller.actions_in(db, project.id)),
        document=project.document,
    )  # fmt: skip


def _verdicts(db: Db, ids: list[str]) -> dict[str, Verdict]:
    """How the last run of each project ended."""
    runs = select(
        Job.id, Job.project_id, Job.state, Job.finished, Job.error, Release.id.label("release"), Release.state.label("release_state")
    ).outerjoin(Release, Release.job_id == Job.id)  # fmt: skip
    runs = runs.where(Job.project_id.in_(ids), Job.kind == "run").order_by(Job.created, Job.id)
    return {
        row.project_id: Verdict(
            job=row.id, state=row.state, finished=row.finished, release=row.release, release_state=row.release_state,
            code=None if not row.error else row.error.get("code"),
        )
        for row in db.execute(runs)
    }  # fmt: skip
