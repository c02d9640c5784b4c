"""What administrators do with users: who may sign in, and with which roles."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service.access.permissions import INSTANCE_ROLES
from velado.service.accounts import links, passwords, users
from velado.service.accounts.throttle import one_by_one
from velado.service.errors import NotFound
from velado.service.sources.removal import remove_files
from velado.service.store.tables import User
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.schemas import Body, Listed

Language = Literal["", "en", "es", "pt"]
Line = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Role = Annotated[str, Field(max_length=40)]
Roles = Annotated[list[Role], Field(max_length=len(INSTANCE_ROLES), description="Of: administrator, steward, learner, auditor")]
Password = Annotated[str, Field(max_length=passwords.MOST)]


class NewUser(Body):
    """A user who is to be made; without a password one signs in by a link, or through a provider."""

    name: Annotated[str, Field(max_length=64, json_schema_extra={"pattern": users.PATTERN})]
    roles: Roles = Field(default_factory=list)
    password: Password | None = None
    full_name: Line = ""
    email: Line = ""
    language: Language = ""


class UserChange(Body):
    """What is to be different."""

    roles: Roles | None = None
    active: bool | None = None
    full_name: Line | None = None
    email: Line | None = None
    language: Language | None = None


class PasswordGiven(Body):
    """A new password."""

    password: Password


class UserShown(BaseModel):
    """A user. ``local``: has a password; ``provider``: signs in through the provider."""

    id: str
    name: str
    full_name: str
    email: str
    roles: list[str]
    language: str
    active: bool
    local: bool
    provider: bool
    created: datetime
    seen: datetime | None


class LinkMade(BaseModel):
    """A link for a new password: its ``token`` is shown this once, and used at POST /session/link."""

    token: str
    minutes: int


def describe_user(user: User) -> UserShown:
    """What an administrator sees of a user: nothing that one could sign in with."""
    return UserShown(
        id=user.id,
        name=user.name,
        full_name=user.full_name,
        email=user.email,
        roles=user.roles,
        language=user.language,
        active=user.active,
        local=user.password is not None,
        provider=user.subject is not None,
        created=user.created,
        seen=user.seen,
    )


def list_users(work: UnitOfWork, limit: int = 100, after: str | None = None, active: bool | None = None) -> Listed[UserShown]:
    """All users, by name."""
    work.caller.require("users.manage")
    wanted = select(User).where(User.name > (after or "")).order_by(User.name)
    if active is not None:
        wanted = wanted.where(User.active.is_(active))
    with work.reading() as db:
        found = list(db.scalars(wanted.limit(limit + 1)))
    return Listed(items=[describe_user(u) for u in found[:limit]], next=found[limit - 1].name if len(found) > limit else None)


def create_user(work: UnitOfWork, body: NewUser) -> UserShown:
    """Make a user."""
    work.caller.require("users.manage")
    given = body.model_dump(exclude={"name", "roles"})
    with work.writing() as db:
        user = users.create(db, body.name, body.roles, **given)
        work.audit(db, "user.made", user.id, roles=user.roles)
    return describe_user(user)


def read_user(work: UnitOfWork, id: str) -> UserShown:
    """A user."""
    work.caller.require("users.manage")
    with work.reading() as db:
        return describe_user(_user(db, id))


def change_user(work: UnitOfWork, id: str, body: UserChange) -> UserShown:
    """Change a user; other roles end the user's sessions, and who is not active any more can do nothing."""
    work.caller.require("users.manage")
    with work.writing() as db:
        # Before the audit log's own lock, as everybody takes them.
        one_by_one(db)
        user = _user(db, id)
        if body.roles is not None:
            users.set_roles(db, user, body.roles)
            work.audit(db, "user.roles", id, roles=user.roles)
        if body.active is not None:
            users.set_active(db, user, body.active)
            work.audit(db, "user.activated" if body.active else "user.deactivated", id)
        others = body.model_dump(exclude={"roles", "active"}, exclude_none=True)
        for name, value in others.items():
            setattr(user, name, value)
        if others:
            work.audit(db, "user.profile", id)
    return describe_user(user)


def set_password(work: UnitOfWork, id: str, body: PasswordGiven) -> None:
    """Set a user's password; the user's sessions end."""
    work.caller.require("users.manage")
    work.caller.require_session()
    with work.writing() as db:
        users.set_password(db, _user(db, id), body.password)
        work.audit(db, "user.password", id)


def make_link(work: UnitOfWork, id: str) -> LinkMade:
    """Make a link by which the user sets a new password, once."""
    work.caller.require("users.manage")
    work.caller.require_session()
    with work.writing() as db:
        token = links.make_link(db, _user(db, id), reset=True)
        work.audit(db, "user.link", id)
    return LinkMade(token=token, minutes=links.RESET_MINUTES)


def delete_user(work: UnitOfWork, id: str) -> None:
    """Delete a user with the user's uploads, connections and sources."""
    work.caller.require("users.manage")
    with work.writing() as db:
        removed = users.remove(db, work.service.files, _user(db, id))
        work.audit(db, "user.deleted", id, uploads=removed.uploads, sources=removed.sources)
    remove_files(work.service.files, removed.files)


def _user(db: Db, id: str) -> User:
    user = db.get(User, id)
    if user is None:
        raise NotFound()
    return user
