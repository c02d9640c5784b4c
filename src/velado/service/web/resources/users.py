"""Users: who may sign in, and with which roles. For administrators."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service.accounts import links, passwords, users
from velado.service.accounts.throttle import one_by_one
from velado.service.errors import NotFound
from velado.service.permissions import INSTANCE_ROLES
from velado.service.sources import remove_files
from velado.service.store.tables import User
from velado.service.web.call import Called
from velado.service.web.shapes import After, Body, Limit, Listed

router = APIRouter(prefix="/users", tags=["users"])

Language = Literal["", "en", "es", "pt"]
Line = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Role = Annotated[str, Field(max_length=40)]
Roles = Annotated[
    list[Role], Field(max_length=len(INSTANCE_ROLES), description="Of: administrator, steward, learner, auditor")
]
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


def shown(user: User) -> UserShown:
    """What an administrator sees of a user: nothing that one could sign in with."""
    return UserShown(
        id=user.id, name=user.name, full_name=user.full_name, email=user.email, roles=user.roles, language=user.language,
        active=user.active, local=user.password is not None, provider=user.subject is not None, created=user.created,
        seen=user.seen,
    )  # fmt: skip


@router.get("")
def list_users(
    call: Called, limit: Limit = 100, after: After = None, active: Annotated[bool | None, Query()] = None
) -> Listed[UserShown]:
    """All users, by name."""
    call.caller.require("users.manage")
    wanted = select(User).where(User.name > (after or "")).order_by(User.name)
    if active is not None:
        wanted = wanted.where(User.active.is_(active))
    with call.reading() as db:
        found = list(db.scalars(wanted.limit(limit + 1)))
    return Listed(items=[shown(u) for u in found[:limit]], next=found[limit - 1].name if len(found) > limit else None)


@router.post("", status_code=201)
def create(body: NewUser, call: Called, response: Response) -> UserShown:
    """Make a user."""
    call.caller.require("users.manage")
    given = body.model_dump(exclude={"name", "roles"})
    with call.writing() as db:
        user = users.create(db, body.name, body.roles, **given)
        call.audit(db, "user.made", user.id, roles=user.roles)
    response.headers["Location"] = f"/api/v1/users/{user.id}"
    return shown(user)


@router.get("/{id}")
def read(id: str, call: Called) -> UserShown:
    """A user."""
    call.caller.require("users.manage")
    with call.reading() as db:
        return shown(_user(db, id))


@router.patch("/{id}")
def change(id: str, body: UserChange, call: Called) -> UserShown:
    """Change a user; other roles end the user's sessions, and who is not active any more can do nothing."""
    call.caller.require("users.manage")
    with call.writing() as db:
        # Before the audit log's own lock, as everybody takes them.
        one_by_one(db)
        user = _user(db, id)
        if body.roles is not None:
            users.set_roles(db, user, body.roles)
            call.audit(db, "user.roles", id, roles=user.roles)
        if body.active is not None:
            users.set_active(db, user, body.active)
            call.audit(db, "user.activated" if body.active else "user.deactivated", id)
        others = body.model_dump(exclude={"roles", "active"}, exclude_none=True)
        for name, value in others.items():
            setattr(user, name, value)
        if others:
            call.audit(db, "user.profile", id)
    return shown(user)


@router.put("/{id}/password", status_code=204)
def set_password(id: str, body: PasswordGiven, call: Called) -> None:
    """Set a user's password; the user's sessions end."""
    call.caller.require("users.manage")
    call.require_session()
    with call.writing() as db:
        users.set_password(db, _user(db, id), body.password)
        call.audit(db, "user.password", id)


@router.post("/{id}/link", status_code=201)
def make_link(id: str, call: Called, response: Response) -> LinkMade:
    """Make a link by which the user sets a new password, once."""
    call.caller.require("users.manage")
    call.require_session()
    with call.writing() as db:
        token = links.make_link(db, _user(db, id), reset=True)
        call.audit(db, "user.link", id)
    response.headers["Location"] = "/api/v1/session/link"
    return LinkMade(token=token, minutes=links.RESET_MINUTES)


@router.delete("/{id}", status_code=204)
def delete(id: str, call: Called) -> None:
    """Delete a user with the user's uploads, connections and sources."""
    call.caller.require("users.manage")
    with call.writing() as db:
        removed = users.remove(db, call.service.files, _user(db, id))
        call.audit(db, "user.deleted", id, uploads=removed.uploads, sources=removed.sources)
    remove_files(call.service.files, removed.files)


def _user(db: Db, id: str) -> User:
    user = db.get(User, id)
    if user is None:
        raise NotFound()
    return user
