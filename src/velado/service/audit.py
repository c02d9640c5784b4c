"""The audit log: who did what with which thing. Lines are only added, each is chained to the one before, and none holds
a value of the data.

The hash of a line is an HMAC under the service's key over the hash before and the line, so that who can write to the
database, but has not the key, can neither change nor take out a line unnoticed. Taking away the last lines is noticed by
who kept the hash of a later one.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from velado.service.secrets import Secrets
from velado.service.store.locks import one_by_one
from velado.service.store.tables import AuditLine, now

LOCK = 0x61756474
FIRST = "0" * 64


class Verified(NamedTuple):
    """What the check of the log found: its lines, the first that is ``broken``, and the hash of the last."""

    lines: int
    broken: int | None
    head: str


def append(db: Session, secrets: Secrets, actor: str, action: str, subject: str = "", **detail: Any) -> None:
    """Add a line in the transaction of what it tells of. ``detail``: ids, names of roles and kinds, counts."""
    one_by_one(db, LOCK)
    db.flush()
    last = db.scalars(select(AuditLine).order_by(AuditLine.number.desc()).limit(1)).first()
    line = AuditLine(
        number=1 if last is None else last.number + 1,
        created=now().isoformat(timespec="microseconds"),
        actor=actor,
        action=action,
        subject=subject,
        detail=detail,
    )
    line.hash = secrets.sign(_said(FIRST if last is None else last.hash, line))
    db.add(line)
    db.flush()


def verify(lines: Iterable[AuditLine], secrets: Secrets) -> Verified:
    """Follow the chain from its begin."""
    before, count = FIRST, 0
    for line in lines:
        count += 1
        if line.number != count or not hmac.compare_digest(
            line.hash.encode(), secrets.sign(_said(before, line)).encode()
        ):
            return Verified(count, line.number, before)
        before = line.hash
    return Verified(count, None, before)


def _said(before: str, line: AuditLine) -> str:
    parts = [before, line.number, line.created, line.actor, line.action, line.subject, line.detail]
    return json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def lines(db: Session) -> Iterable[AuditLine]:
    """All lines from the first on, a thousand in memory at a time."""
    for (line,) in db.execute(select(AuditLine).order_by(AuditLine.number).execution_options(yield_per=1000)):
        yield line


def page(
    db: Session,
    limit: int,
    *,
    before: int | None = None,
    actor: str | None = None,
    action: str | None = None,
    subject: str | None = None,
    since: datetime | None = None,
) -> list[AuditLine]:
    """Lines before a number, the newest first; ``action`` may be the beginning of actions, up to a dot."""
    wanted = select(AuditLine).order_by(AuditLine.number.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(AuditLine.number < before)
    if actor is not None:
        wanted = wanted.where(AuditLine.actor == actor)
    if action is not None:
        wanted = wanted.where((AuditLine.action == action) | AuditLine.action.startswith(f"{action}.", autoescape=True))
    if subject is not None:
        wanted = wanted.where(AuditLine.subject == subject)
    if since is not None:
        wanted = wanted.where(AuditLine.created >= since.isoformat(timespec="microseconds"))
    return list(db.scalars(wanted))


def has(db: Session, hash: str) -> bool:
    """Whether a line has this hash: one that was said before is still there."""
    return hash == FIRST or db.scalars(select(AuditLine.number).where(AuditLine.hash == hash)).first() is not None
