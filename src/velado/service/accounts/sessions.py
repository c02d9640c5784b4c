"""Sessions of browsers. The cookie is a random token of which the store has the hash.

The token against forged requests is derived from the cookie, so that all tabs of a browser have the same one, and nobody who
has not the cookie can make it.
"""

from __future__ import annotations

import hashlib
import hmac
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
    """What the browser is told: the cookie, and the token that requests which change something must repeat."""

    cookie: str
    csrf: str


def open_session(db: Db, user: User) -> Opened:
    """A new session; one that the browser may have had before is never taken over."""
    cookie = new_token()
    db.add(Session(hash=digest(cookie), user_id=user.id))
    user.seen = now()
    db.flush()
    return Opened(cookie, csrf_of(cookie))


def csrf_of(cookie: str) -> str:
    """The token against forged requests of a session."""
    return derive(cookie, "csrf")


def derive(cookie: str, purpose: str) -> str:
    """Something that only who has the cookie can say, and that does not tell the cookie."""
    return hmac.new(cookie.encode(), f"velado studio {purpose}".encode(), hashlib.sha256).hexdigest()


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


def sweep(db: Db, settings: Settings) -> None:
    """Forget sessions that have ended by themselves."""
    moment = now()
    old = Session.created < moment - timedelta(hours=settings.session_hours)
    idle = Session.seen < moment - timedelta(minutes=settings.session_idle_minutes)
    db.execute(delete(Session).where(old | idle))
