"""Attempts to sign in are counted before they are looked at: per name, whether it exists or not, and per address."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service.errors import TooMany
from velado.service.secrets import digest
from velado.service.settings import Settings
from velado.service.store import locks
from velado.service.store.tables import SignIn, now

LOCK = 0x7468726F
"""The advisory lock of PostgreSQL under which attempts are counted and administrators looked for."""
PER_ADDRESS = 10
"""Many people may share one address: it has so many times the attempts of one name."""


class HeldUp(TooMany):
    """Too many attempts; the answer says when to come again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(
            "sign-in-held-up",
            Sentence("too many attempts to sign in"),
            hint="Wait, then try again; an administrator can give you a link.",
            fields={"seconds": seconds},
        )
        self.headers: Mapping[str, str] = {"Retry-After": str(seconds)}


def count(db: Db, settings: Settings, name: str | None, address: str) -> list[str]:
    """Write an attempt down as failed until it succeeds; raise if there were too many. The ids of what was written."""
    one_by_one(db)
    moment = now()
    db.execute(delete(SignIn).where(SignIn.expires < moment))
    keys = {_key("address", address): settings.sign_in_attempts * PER_ADDRESS}
    if name is not None:
        keys[_key("name", name)] = settings.sign_in_attempts
    waits = [_wait(db, key, most, moment) for key, most in keys.items()]
    if any(waits):
        raise HeldUp(max(waits))
    until = moment + timedelta(minutes=settings.sign_in_minutes)
    rows = [SignIn(kind="failure", key=key, expires=until) for key in keys]
    db.add_all(rows)
    db.flush()
    return [row.id for row in rows]


def clear_failures(db: Db, counted: list[str], name: str | None) -> None:
    """The attempt was none of the failed ones, and the name begins anew; its address does not, or an own account would
    free it.
    """
    db.execute(delete(SignIn).where(SignIn.id.in_(counted)))
    if name is not None:
        db.execute(delete(SignIn).where(SignIn.kind == "failure", SignIn.key == _key("name", name)))


def one_by_one(db: Db) -> None:
    """Until the end of the transaction nobody else passes here; SQLite has one writer anyway."""
    locks.one_by_one(db, LOCK)


def _wait(db: Db, key: str, most: int, moment: datetime) -> int:
    """Seconds until the next attempt is allowed."""
    failures = select(SignIn.expires).where(SignIn.kind == "failure", SignIn.key == key)
    ends = list(db.scalars(failures.order_by(SignIn.expires.desc()).limit(most)))
    return max(1, math.ceil((ends[-1] - moment).total_seconds())) if len(ends) >= most else 0


def _key(kind: str, value: str) -> str:
    return digest(f"{kind}:{value}")
