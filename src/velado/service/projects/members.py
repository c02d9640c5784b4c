"""The members of a project and its secrets."""

from __future__ import annotations

import re
import secrets as random
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.operations.keys import BYTES, DIGITS
from velado.sentences import Sentence
from velado.service.access.permissions import OWNER
from velado.service.errors import Conflict, Invalid, NotFound
from velado.service.projects.document_checks import SECRET_NAME
from velado.service.projects.versions import lock_project
from velado.service.store.tables import Group, GroupMember, Member, Project, Secret, User, now
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.schemas import Body, Name


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


def list_members(work: UnitOfWork, id: str) -> MembersAnswer:
    """Who has which role in a project."""
    with work.reading() as db:
        work.caller.project(db, id, "project.read")
        return _members(db, id)


def put_member(work: UnitOfWork, id: str, new: NewMember) -> MembersAnswer:
    """Add a user or a group to a project, or give it another role."""
    with work.writing() as db:
        project = lock_project(db, work.caller.project(db, id, "project.share"))
        user, group = _member_ids(db, new)
        which = Member.user_id == user if user is not None else Member.group_id == group
        member = db.scalars(select(Member).where(Member.project_id == project.id, which)).first()
        if member is None:
            member = Member(project_id=project.id, user_id=user, group_id=group, role=new.role)
            db.add(member)
        member.role = new.role
        db.flush()
        _check_owned(db, project.id)
        work.audit(db, "project.share", project.id, member=user or group, role=new.role)
        return _members(db, project.id)


def delete_member(work: UnitOfWork, id: str, member: str) -> None:
    """Take a member out of a project. Everybody may leave, but the last owner."""
    with work.writing() as db:
        project = lock_project(db, work.caller.project(db, id, "project.read"))
        found = db.get(Member, member)
        if found is None or found.project_id != project.id:
            raise NotFound()
        if found.user_id != work.caller.id:
            work.caller.project(db, id, "project.share")
        db.delete(found)
        db.flush()
        _check_owned(db, project.id)
        work.audit(db, "project.unshare", project.id, member=found.user_id or found.group_id, role=found.role)


def _check_owned(db: Db, project_id: str) -> None:
    """Raise unless somebody is left who owns the project."""
    owners = select(Member).where(Member.project_id == project_id, Member.role == OWNER)
    for member in db.scalars(owners):
        users = select(GroupMember.user_id).where(GroupMember.group_id == member.group_id).limit(1)
        if member.user_id is not None or db.scalar(users) is not None:
            return
    raise Conflict("last-owner", "a project has an owner", hint="Make somebody else its owner first.")


def _member_ids(db: Db, new: NewMember) -> tuple[str | None, str | None]:
    """The id of the user or of the group. Owners may ask for exact names: that one learns of a name this way is accepted."""
    if (new.user is None) == (new.group is None):
        raise Invalid("bad-request", "a member is a user or a group", fields={"path": "user"})
    if new.user is not None:
        user = db.scalars(select(User).where(User.name == new.user, User.active)).first()
        if user is None:
            raise Invalid("unknown-user", "there is no user of this name", fields={"path": "user"})
        return user.id, None
    group = db.scalars(select(Group).where(Group.name == new.group)).first()
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


def list_secrets(work: UnitOfWork, id: str) -> SecretsAnswer:
    """The names of a project's secrets."""
    with work.reading() as db:
        work.caller.project(db, id, "project.read")
        found = db.scalars(select(Secret).where(Secret.project_id == id).order_by(Secret.name))
        return SecretsAnswer(items=[SecretAnswer(name=s.name, created=s.created) for s in found])


def put_secret(work: UnitOfWork, id: str, name: str, key: str | None = None) -> tuple[SecretAnswer, bool]:
    """Keep a key of the operations of a project, sealed; nobody reads it again. Without a key, one is made up. And: is it new?"""
    made = random.token_hex(BYTES) if key is None else key.strip()
    with work.writing() as db:
        project = lock_project(db, work.caller.project(db, id, "project.edit"))
        _check_secret(name, made)
        secret, new = db.get(Secret, (project.id, name)), False
        if secret is None:
            secret, new = Secret(project_id=project.id, name=name, sealed=""), True
            db.add(secret)
        secret.sealed, secret.created = _seal_key(work, project, name, made), now()
        db.flush()
        work.audit(db, "project.secret", project.id, made=key is None)
        return SecretAnswer(name=name, created=secret.created), new


def delete_secret(work: UnitOfWork, id: str, name: str) -> None:
    """Forget a secret: what was encrypted under it can never be read again."""
    with work.writing() as db:
        project = work.caller.project(db, id, "project.edit")
        secret = db.get(Secret, (project.id, name))
        if secret is None:
            raise NotFound()
        db.delete(secret)
        work.audit(db, "project.secret-delete", project.id)


def _seal_key(work: UnitOfWork, project: Project, name: str, key: str) -> str:
    return work.service.secrets.seal(key.lower(), f"project:{project.id}:{name}")


def _check_secret(name: str, key: str) -> None:
    if not SECRET_NAME.fullmatch(name):
        message = Sentence("a secret is called by a letter, then letters, digits, - and _")
        raise Invalid("bad-name", message, fields={"path": "name"})
    if not re.fullmatch(DIGITS, key):
        # What was sent may be a key all the same, and is not repeated.
        raise Invalid(
            "bad-key", "a key is 64 hexadecimal digits", hint="Leave it out, and the service makes one up.", fields={"path": "key"}
        )
