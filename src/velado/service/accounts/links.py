"""Links that sign in once: of the service for one person, and of an administrator for who forgot a password."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service.errors import Refused
from velado.service.secrets import digest, new_token
from velado.service.store.tables import SignIn, User, now

KIND = "link"
MINUTES = 10
RESET_MINUTES = 24 * 60
"""A link that goes by mail must live as long as somebody does not read it."""


class BadLink(Refused):
    """A link that never was, was used, or is too old: nobody can tell which."""

    status = 401

    def __init__(self) -> None:
        super().__init__(
            "bad-link", Sentence("the link is not valid any more"), hint="Each link works once, and not for long: ask for another."
        )


def make_link(db: Db, user: User, *, reset: bool = False) -> str:
    """The token of a new link; ``reset``: who uses it must set a password. Links from before end."""
    drop(db, user.id)
    token = new_token()
    until = now() + timedelta(minutes=RESET_MINUTES if reset else MINUTES)
    db.add(SignIn(kind=KIND, key=digest(token), detail={"user": user.id, "reset": reset}, expires=until))
    db.flush()
    return token


def peek(db: Db, token: str) -> bool:
    """Whether the link asks for a new password; raise if it is not valid."""
    row = db.scalars(select(SignIn).where(*_valid(token))).first()
    if row is None:
        raise BadLink()
    return bool(row.detail["reset"])


def use(db: Db, token: str) -> User:
    """Whose link it is. It is gone afterwards: of two that come at once, one is refused."""
    detail = db.scalars(delete(SignIn).where(*_valid(token)).returning(SignIn.detail)).first()
    user = None if detail is None else db.get(User, detail["user"])
    if user is None or not user.active:
        raise BadLink()
    return user


def drop(db: Db, user_id: str) -> None:
    """End all links of a user."""
    for row in db.scalars(select(SignIn).where(SignIn.kind == KIND)):
        if row.detail["user"] == user_id:
            db.delete(row)
    db.flush()


def _valid(token: str) -> tuple[ColumnElement[bool], ...]:
    return (SignIn.kind == KIND, SignIn.key == digest(token), SignIn.expires > now())
