"""Sessions of browsers. The cookie is a random token; the store has its hash, and that of the token against forged requests."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import delete
from sqlalchemy.orm import Session as Db

from velado.service.secrets import digest, new_token
from velado.service.settings import Settings
from velado.service.store.tables import Session, User, now

TOUCH = timedelta(seconds=60)
"""A session's last use is written down no more often."""


class Opened(NamedTuple):
    """What the browser is told, once: the cookie, and the token that requests which change something must repeat."""

    cookie: str
    csrf: str


def open_session(db: Db, user: User) -> Opened:
    """A new session; one that the browser may have had before is never taken over."""
    opened = Opened(new_token(), new_token())
    db.add(Session(hash=digest(opened.cookie), user_id=user.id, csrf=digest(opened.csrf)))
    user.seen = now()
    return opened


def find(db: Db, cookie: str, settings: Settings) -> tuple[Session, User] | None:
    """The session of a cookie, and whose it is, if it is still valid."""
    session = db.get(Session, digest(cookie))
    if session is None:
        return None
    moment = now()
    old = moment - session.created > timedelta(hours=settings.session_hours)
    idle = moment - session.seen > timedelta(minutes=settings.session_idle_minutes)
    user = db.get(User, session.user_id)
    if old or idle or user is None or not user.active:
        return None
    return session, user


def close(db: Db, cookie: str) -> None:
    """Sign out."""
    db.execute(delete(Session).where(Session.hash == digest(cookie)))


def close_all(db: Db, user_id: str) -> None:
    """Sign a user out everywhere, as when the password or the roles change."""
    db.execute(delete(Session).where(Session.user_id == user_id))
