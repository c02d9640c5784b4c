"""The audit log: who did what with which thing. Lines are only added, each is chained to the one before, and none holds
a value of the data.

The hash of a line is an HMAC under the service's key over the hash before and the line, so that who can write to the
database, but has not the key, can neither change nor take out a line unnoticed. How many lines there are is sealed by the
same key, so that the last ones cannot be taken away either; who puts a whole older state of the database back is noticed by
who kept the hash of a later line.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from velado.service.secrets import Secrets
from velado.service.store.locks import one_by_one
from velado.service.store.tables import AuditHead, AuditLine, now

LOCK = 0x61756474
DISCLOSURES = {
    "records.read": "rows of an original table",
    "hierarchy.read": "all values of a column, as a file",
    "release.private": "figures that tell of suppressed records",
    "release.rows": "rows of a release",
    "release.download": "a release, as a file",
    "report.read": "a report, as a file",
    "result.read": "the whole result of a job, or a comparison as a file",
    "plan.download": "appointments of people, as a file",
}
"""What is written down although it is only read: data that leave the service. Nothing else is written by a GET."""
FIRST = "0" * 64
AGAIN = timedelta(minutes=10)
"""A reading that is repeated within this time is one line."""
LOOKED_AT = 500
"""Lines among which it is looked for."""


class Verified(NamedTuple):
    """What the check of the log found: its lines, the first that is ``broken`` or lacks, and the hash of the last."""

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
    line.hash = secrets.sign(_canonical_json(FIRST if last is None else last.hash, line))
    db.add(line)
    head = db.get(AuditHead, 1)
    if head is not None:
        head.number, head.seal = line.number, _seal(secrets, line)
    elif last is None:
        db.add(AuditHead(number=line.number, seal=_seal(secrets, line)))
    # Without a head a log that has lines was tampered with: it does not get one by going on.
    db.flush()


def has_recent_line(db: Session, actor: str, action: str, subject: str, detail: dict[str, Any]) -> bool:
    """Whether one of the last lines says the same, of a few minutes ago: a page that is looked at again and again."""
    last = db.scalar(select(func.max(AuditLine.number))) or 0
    since = (now() - AGAIN).isoformat(timespec="microseconds")
    same = (AuditLine.actor == actor, AuditLine.action == action, AuditLine.subject == subject)
    found = select(AuditLine).where(AuditLine.number > last - LOOKED_AT, AuditLine.created >= since, *same)
    return any(line.detail == detail for line in db.scalars(found))


def seal(db: Session, secrets: Secrets) -> None:
    """Say where a log ends that was written before its end was sealed."""
    last = db.scalars(select(AuditLine).order_by(AuditLine.number.desc()).limit(1)).first()
    if last is not None:
        db.add(AuditHead(number=last.number, seal=_seal(secrets, last)))


def verify(db: Session, secrets: Secrets) -> Verified:
    """Follow the chain from its begin to its end. A log without a line is broken: signing in is one."""
    # Before the lines: what is added meanwhile is chained to the last that it tells of.
    head, sealed = db.get(AuditHead, 1), False
    before, count = FIRST, 0
    for line in lines(db):
        count += 1
        if line.number != count or not hmac.compare_digest(
            line.hash.encode(), secrets.sign(_canonical_json(before, line)).encode()
        ):
            return Verified(count, line.number, before)
        before = line.hash
        if head is not None and line.number == head.number:
            sealed = hmac.compare_digest(head.seal.encode(), _seal(secrets, line).encode())
    return Verified(count, None if sealed else count + 1, before)


def _seal(secrets: Secrets, last: AuditLine) -> str:
    return secrets.sign(json.dumps(["head", last.number, last.hash]))


def _canonical_json(before: str, line: AuditLine) -> str:
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
