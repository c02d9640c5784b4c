"""What people do with their own account: who they are, their password, their tokens, signing out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from sqlalchemy import select

from velado.sentences import Sentence
from velado.service.access.caller import Caller
from velado.service.access.permissions import SCOPES, instance_actions, scope_actions
from velado.service.accounts import passwords, sessions, sign_in, throttle, tokens, users
from velado.service.errors import NotFound, Refused
from velado.service.store.tables import Token, User
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.schemas import Body, Listed, Name

Language = Literal["", "en", "es", "pt"]
Password = Annotated[str, Field(max_length=passwords.MOST)]


class NewPassword(Body):
    """Another password, and the one until now."""

    old: Password
    new: Password


class Profile(Body):
    """What people say of themselves."""

    language: Language | None = None
    full_name: Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")] | None = None


class Who(BaseModel):
    """Who asks, and what they may do. ``csrf`` goes into the header X-CSRF-Token of requests that change something."""

    id: str
    name: str
    full_name: str
    language: str
    roles: list[str]
    actions: list[str]
    local: bool = Field(description="Whether there is a password; else one signs in through a provider or by links")
    csrf: str | None = None
    token: str | None = Field(None, description="The id of the token that asks")
    since: datetime | None = Field(None, description="When the user signed in last")


class WrongPassword(Refused):
    """The password until now is another one."""

    status = 403

    def __init__(self) -> None:
        super().__init__("wrong-password", Sentence("the old password is wrong"), fields={"path": "old"})


class NewToken(Body):
    """A token that is to be made."""

    name: Name
    scopes: Annotated[list[Annotated[str, Field(max_length=40)]], Field(min_length=1, max_length=len(SCOPES))] = Field(
        description="Of: read, run, records, download, manage"
    )
    days: Annotated[int, Field(ge=1, le=1_000_000)] = 90


class TokenShown(BaseModel):
    """A token, without what makes it one."""

    id: str
    name: str
    scopes: list[str]
    created: datetime
    expires: datetime
    used: datetime | None


class TokenMade(TokenShown):
    """A new token; ``token`` is shown this once."""

    token: str


def read_account(work: UnitOfWork, csrf: str | None) -> Who:
    """Who asks, and what they may do."""
    with work.reading() as db:
        user = work.user(db)
    return describe_account(user, work.caller, csrf)


def change_profile(work: UnitOfWork, body: Profile, csrf: str | None = None) -> Who:
    """Change the own language or full name."""
    work.caller.require_session()
    with work.writing() as db:
        user = work.user(db)
        for name, value in body.model_dump(exclude_none=True).items():
            setattr(user, name, value)
        work.audit(db, "user.profile", user.id)
    return describe_account(user, work.caller, csrf)


def change_password(work: UnitOfWork, body: NewPassword, address: str) -> sign_in.SignedIn:
    """Change the own password; all other sessions end, and this one begins anew."""
    work.caller.require_session()
    with work.writing() as db:
        counted = throttle.count(db, work.settings(db), work.caller.name, address)
    with work.reading() as db:
        stored = work.user(db).password
    if not passwords.verify(stored, body.old):
        with work.writing() as db:
            work.audit(db, "user.password.failed", work.caller.id)
        raise WrongPassword()
    with work.writing() as db:
        user = work.user(db)
        users.set_password(db, user, body.new, own=True)
        throttle.clear_failures(db, counted, work.caller.name)
        work.audit(db, "user.password", user.id)
        return sign_in.open_for(db, work.service, user, None, by="password")


def sign_out(work: UnitOfWork, cookie: str) -> None:
    """End the session of a browser."""
    work.caller.require_session()
    with work.writing() as db:
        sessions.close(db, cookie)
        work.audit(db, "session.closed", work.caller.id)


def list_tokens(work: UnitOfWork, limit: int = 100, after: str | None = None) -> Listed[TokenShown]:
    """The own tokens."""
    work.caller.require("account.use")
    wanted = select(Token).where(Token.user_id == work.caller.id, Token.id > (after or "")).order_by(Token.id)
    with work.reading() as db:
        found = list(db.scalars(wanted.limit(limit + 1)))
    shown = [TokenShown.model_validate(token, from_attributes=True) for token in found[:limit]]
    return Listed(items=shown, next=shown[-1].id if len(found) > limit else None)


def make_token(work: UnitOfWork, body: NewToken) -> TokenMade:
    """Make a token; its text is in this answer and never again."""
    work.caller.require_session()
    work.caller.require("account.use")
    with work.writing() as db:
        days = tokens.checked_days(work.settings(db), body.days)
        token, text = tokens.make(db, work.user(db), body.name, body.scopes, days)
        work.audit(db, "token.made", token.id, scopes=token.scopes, days=days)
    return TokenMade(**TokenShown.model_validate(token, from_attributes=True).model_dump(), token=text)


def revoke_token(work: UnitOfWork, id: str) -> None:
    """Revoke a token at once; a token may revoke itself."""
    if work.caller.token != id:
        work.caller.require_session()
    with work.writing() as db:
        token = db.get(Token, id)
        if token is None or token.user_id != work.caller.id:
            raise NotFound()
        tokens.revoke(db, token)
        work.audit(db, "token.revoked", id)


def describe_account(user: User, caller: Caller, csrf: str | None) -> Who:
    """What people are told of themselves."""
    return Who(
        id=user.id,
        name=user.name,
        full_name=user.full_name,
        language=user.language,
        roles=user.roles,
        actions=sorted(instance_actions(caller.roles) & scope_actions(caller.scopes)),
        local=user.password is not None,
        csrf=csrf,
        token=caller.token,
        since=user.seen,
    )
