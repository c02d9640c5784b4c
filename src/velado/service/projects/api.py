"""Resources of projects: their members and secrets, problems, versions and files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Response
from fastapi import Path as InPath

from velado.service.projects import checks, members, operations, singled_out
from velado.service.projects.checks import ChecksAnswer
from velado.service.projects.members import MembersAnswer, NewMember, NewSecret, SecretAnswer, SecretsAnswer
from velado.service.projects.schemas import ChangedProject, NewProject, ProjectAnswer, ProjectEntry, VersionAnswer, VersionEntry
from velado.service.projects.singled_out import SingledOutAnswer
from velado.service.web import downloads
from velado.service.web.call import Called
from velado.service.web.etags import etag, is_unchanged, matched_versions
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(tags=["projects"])
IfMatch = Annotated[str | None, Header(description="The ETag of the version that is changed")]
Search = Annotated[str | None, Query(max_length=200, description="A part of the name")]
IfNoneMatch = Annotated[str | None, Header(description="The ETag of what is known already")]
SecretName = Annotated[str, InPath(description="A letter, then letters, digits, - and _", max_length=64)]
Table = Annotated[str | None, Query(max_length=200, description="Of a project of several tables")]


@router.get("/projects/{id}/members")
def list_members(call: Called, id: str) -> MembersAnswer:
    """Who has which role in a project."""
    return members.list_members(call, id)


@router.put("/projects/{id}/members")
def put_member(call: Called, id: str, body: NewMember) -> MembersAnswer:
    """Add a user or a group to a project, or give it another role."""
    return members.put_member(call, id, body)


@router.delete("/projects/{id}/members/{member}", status_code=204)
def delete_member(call: Called, id: str, member: str) -> None:
    """Take a member out of a project. Everybody may leave, but the last owner."""
    members.delete_member(call, id, member)


@router.get("/projects/{id}/secrets")
def list_secrets(call: Called, id: str) -> SecretsAnswer:
    """The names of a project's secrets."""
    return members.list_secrets(call, id)


@router.put("/projects/{id}/secrets/{name}", response_model=SecretAnswer, responses={201: {"model": SecretAnswer}})
def put_secret(call: Called, id: str, name: SecretName, body: NewSecret, response: Response) -> SecretAnswer:
    """Keep a key of the operations of a project, sealed; nobody reads it again."""
    answer, new = members.put_secret(call, id, name, body.key)
    if new:
        response.status_code = 201
    return answer


@router.delete("/projects/{id}/secrets/{name}", status_code=204)
def delete_secret(call: Called, id: str, name: SecretName) -> None:
    """Forget a secret: what was encrypted under it can never be read again."""
    members.delete_secret(call, id, name)


@router.get("/projects/{id}/checks")
def check_project(call: Called, id: str) -> ChecksAnswer:
    """Everything that is wrong with a project, its table included."""
    return checks.check_project(call, id)


@router.get("/projects/{id}/singled-out")
def read_singled_out(call: Called, id: str, table: Table = None) -> SingledOutAnswer:
    """How many are unique on the quasi-identifiers of a project, and which published columns single people out.

    It is answered by a warm process, at once for small tables. The project need not be finished.
    """
    return singled_out.read_singled_out(call, id, table)


@router.get("/projects")
def list_projects(call: Called, limit: Limit = 100, after: After = None, search: Search = None) -> Listed[ProjectEntry]:
    """The projects of who asks, those changed last first."""
    return operations.list_projects(call, limit, after, search)


@router.post("/projects", status_code=201)
def create_project(call: Called, body: NewProject, response: Response) -> ProjectAnswer:
    """Make a project; who makes it owns it."""
    answer = operations.create_project(call, body)
    response.headers["Location"] = f"/api/v1/projects/{answer.id}"
    response.headers["ETag"] = etag(answer.version)
    return answer


@router.get("/projects/{id}", response_model=ProjectAnswer, responses={304: {"description": "Not changed"}})
def read_project(call: Called, id: str, response: Response, if_none_match: IfNoneMatch = None) -> Any:
    """A project with its document."""
    answer = operations.read_project(call, id)
    # Who may see more than before does not know the whole document by the version of the masked one.
    tag = etag(f"{answer.version} masked" if answer.masked else answer.version)
    if is_unchanged(call.request, tag):
        return Response(status_code=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return answer


@router.put("/projects/{id}")
def change_project(call: Called, id: str, body: ChangedProject, response: Response, if_match: IfMatch = None) -> ProjectAnswer:
    """Change a project: a new version, if the one that is changed is still the newest."""
    answer = operations.change_project(call, id, matched_versions(if_match), body)
    response.headers["ETag"] = etag(answer.version)
    return answer


@router.delete("/projects/{id}", status_code=204)
def delete_project(call: Called, id: str) -> None:
    """Delete a project with its versions, jobs, releases and all files; tables of databases stay."""
    operations.delete_project(call, id)


@router.get("/projects/{id}/versions")
def list_versions(call: Called, id: str, limit: Limit = 100, after: After = None) -> Listed[VersionEntry]:
    """All versions of a project, the newest first."""
    return operations.list_versions(call, id, limit, after)


@router.get("/projects/{id}/versions/{number}")
def read_version(call: Called, id: str, number: Annotated[int, downloads.Number]) -> VersionAnswer:
    """A project as it was."""
    return operations.read_version(call, id, number)


@router.post("/projects/{id}/undo")
def undo_change(call: Called, id: str, response: Response) -> ProjectAnswer:
    """Take the last change back that stands, by a new version; to do it again, PUT the version that was undone."""
    answer = operations.undo_change(call, id)
    response.headers["ETag"] = etag(answer.version)
    return answer


@router.get("/projects/{id}/file", response_class=Response, responses=downloads.answers("application/yaml", "application/json"))
def read_file(
    call: Called, id: str, format: Annotated[Literal["yaml", "json"], Query(description="How it is written")] = "yaml"
) -> Response:
    """The project as a file for people and for the command line; places of its data are to be filled in."""
    file = operations.read_file(call, id, format)
    return downloads.send_text(file.text, f"{file.name}.{format}", ETag=etag(file.version))
