"""The members of a project and its secrets."""

from __future__ import annotations

import re
import secrets as random
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from fastapi import Path as InPath
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.operations.keys import BYTES, DIGITS
from velado.sentences import Sentence
from velado.service import projects
from velado.service.documents import SECRET_NAME
from velado.service.errors import Invalid, NotFound
from velado.service.store.tables import Group, Member, Project, Secret, User, now
from velado.service.web.call import Call, Called
from velado.service.web.shapes import Body, Name

router = APIRouter(tags=["projects"])
SecretName = Annotated[str, InPath(description="A letter, then letters, digits, - and _", max_length=64)]


class MemberAnswer(BaseModel):
    """A user or a group in a project."""

    id: str
    kind: Literal["user", "group"]
    name: str
    full_name: str = ""
    role: str


class MembersAnswer(BaseModel):
    """All members of a project."""

    items: list[MemberAnswer]


class NewMember(Body):
    """A user or a group by its exact name, and the role that it is to have."""

    user: Name | None = None
    group: Name | None = None
    role: Literal["owner", "editor", "analyst", "approver", "reader"]


class NewSecret(Body):
    """A key of 64 hexadecimal digits; without one, the service makes it up."""

    key: str | None = Field(None, max_length=200)


class SecretAnswer(BaseModel):
    """A secret; what it is, nobody is told."""

    name: str
    created: datetime


class SecretsAnswer(BaseModel):
    """The secrets of a project."""

    items: list[SecretAnswer]


@router.get("/projects/{id}/members")
def list_members(call: Called, id: str) -> MembersAnswer:
    """Who has which role in a project."""
    with call.reading() as db:
        call.caller.project(db, id, "project.read")
        return _members(db, id)


@router.put("/projects/{id}/members")
def put_member(call: Called, id: str, body: NewMember) -> MembersAnswer:
    """Add a user or a group to a project, or give it another role."""
    with call.writing() as db:
        project = projects.locked(db, call.caller.project(db, id, "project.share"))
        user, group = _named(db, body)
        which = Member.user_id == user if user is not None else Member.group_id == group
        member = db.scalars(select(Member).where(Member.project_id == project.id, which)).first()
        if member is None:
            member = Member(project_id=project.id, user_id=user, group_id=group, role=body.role)
            db.add(member)
        member.role = body.role
        db.flush()
        projects.check_owned(db, project.id)
        call.audit(db, "project.share", project.id, member=user or group, role=body.role)
        return _members(db, project.id)


@router.delete("/projects/{id}/members/{member}", status_code=204)
def delete_member(call: Called, id: str, member: str) -> None:
    """Take a member out of a project. Everybody may leave, but the last owner."""
    with call.writing() as db:
        project = projects.locked(db, call.caller.project(db, id, "project.read"))
        found = db.get(Member, member)
        if found is None or found.project_id != project.id:
            raise NotFound()
        if found.user_id != call.caller.id:
            call.caller.project(db, id, "project.share")
        db.delete(found)
        db.flush()
        projects.check_owned(db, project.id)
        call.audit(db, "project.unshare", project.id, member=found.user_id or found.group_id, role=found.role)


def _named(db: Db, body: NewMember) -> tuple[str | None, str | None]:
    """The id of the user or of the group. Owners may ask for exact names: that one learns of a name this way is accepted."""
    if (body.user is None) == (body.group is None):
        raise Invalid("bad-request", "a member is a user or a group", fields={"path": "user"})
    if body.user is not None:
        user = db.scalars(select(User).where(User.name == body.user, User.active)).first()
        if user is None:
            raise Invalid("unknown-user", "there is no user of this name", fields={"path": "user"})
        return user.id, None
    group = db.scalars(select(Group).where(Group.name == body.group)).first()
    if group is None:
        raise Invalid("unknown-group", "there is no group of this name", fields={"path": "group"})
    return None, group.id


def _members(db: Db, id: str) -> MembersAnswer:
    users = select(Member, User.name, User.full_name).join(User, User.id == Member.user_id)
    groups = select(Member, Group.name).join(Group, Group.id == Member.group_id)
    items = [
        MemberAnswer(id=m.id, kind="user", name=name, full_name=full, role=m.role)
        for m, name, full in db.execute(users.where(Member.project_id == id).order_by(User.name))
    ]
    items += [
        MemberAnswer(id=m.id, kind="group", name=name, role=m.role)
        for m, name in db.execute(groups.where(Member.project_id == id).order_by(Group.name))
    ]
    return MembersAnswer(items=items)


@router.get("/projects/{id}/secrets")
def list_secrets(call: Called, id: str) -> SecretsAnswer:
    """The names of a project's secrets."""
    with call.reading() as db:
        call.caller.project(db, id, "project.read")
        found = db.scalars(select(Secret).where(Secret.project_id == id).order_by(Secret.name))
        return SecretsAnswer(items=[SecretAnswer(name=s.name, created=s.created) for s in found])


@router.put("/projects/{id}/secrets/{name}", response_model=SecretAnswer, responses={201: {"model": SecretAnswer}})
def put_secret(call: Called, id: str, name: SecretName, body: NewSecret, response: Response) -> SecretAnswer:
    """Keep a key of the operations of a project, sealed; nobody reads it again."""
    key = random.token_hex(BYTES) if body.key is None else body.key.strip()
    with call.writing() as db:
        project = projects.locked(db, call.caller.project(db, id, "project.edit"))
        _check_secret(name, key)
        secret = db.get(Secret, (project.id, name))
        if secret is None:
            secret = Secret(project_id=project.id, name=name, sealed="")
            db.add(secret)
            response.status_code = 201
        secret.sealed, secret.created = _sealed(call, project, name, key), now()
        db.flush()
        call.audit(db, "project.secret", project.id, made=body.key is None)
        return SecretAnswer(name=name, created=secret.created)


@router.delete("/projects/{id}/secrets/{name}", status_code=204)
def delete_secret(call: Called, id: str, name: SecretName) -> None:
    """Forget a secret: what was encrypted under it can never be read again."""
    with call.writing() as db:
        project = call.caller.project(db, id, "project.edit")
        secret = db.get(Secret, (project.id, name))
        if secret is None:
            raise NotFound()
        db.delete(secret)
        call.audit(db, "project.secret-delete", project.id)


def _sealed(call: Call, project: Project, name: str, key: str) -> str:
    return call.service.secrets.seal(key.lower(), f"project:{project.id}:{name}")


def _check_secret(name: str, key: str) -> None:
    if not SECRET_NAME.fullmatch(name):
        message = Sentence("a secret is called by a letter, then letters, digits, - and _")
        raise Invalid("bad-name", message, fields={"path": "name"})
    if not re.fullmatch(DIGITS, key):
        # What was sent may be a key all the same, and is not repeated.
        raise Invalid(
            "bad-key", "a key is 64 hexadecimal digits",
            hint="Leave it out, and the service makes one up.", fields={"path": "key"},
        )  # fmt: skip
