"""What nobody uses any more is deleted, with every copy: old uploads, orphaned files, ended sessions, expired tokens."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, CursorResult, and_, delete, or_, select
from sqlalchemy.orm import Session as Db

from velado.results import Discreet
from velado.service.admin import audit, storage_usage
from velado.service.files import ID
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.sources.removal import empty_source, remove_files
from velado.service.store.tables import Session, SignIn, Source, Token, Upload, now

UNFINISHED = timedelta(days=7)
"""After so long an upload that was not finished is given up."""
GRACE = 3600
"""Seconds for which a file without an owner is left alone: its owner may just be written down."""
BY_ITSELF = "service"
"""Who cleans up when nobody asks for it."""


@dataclass(frozen=True, repr=False)
class Cleaned(Discreet):
    """What was deleted, and the bytes that are free now and were not."""

    NAMES: ClassVar[tuple[str, ...]] = ()
    sources: int = 0
    uploads: int = 0
    orphans: int = 0
    sessions: int = 0
    tokens: int = 0
    sign_ins: int = 0
    bytes: int = 0

    def as_dict(self) -> dict[str, int]:
        """JSON-ready."""
        return dict(vars(self))


def clean(service: Service, actor: str = BY_ITSELF) -> Cleaned:
    """Delete what is past its time. Safe at any moment, in several processes at once."""
    with service.store.reading() as db:
        settings = service.store.live(db)
    moment = now()
    tables, bytes = _unused_sources(service, settings, moment)
    files, more = _unused_uploads(service, settings, moment)
    orphans, rest = _orphans(service)
    with service.store.writing() as db:
        sessions, tokens, sign_ins = _delete_expired(db, settings, moment)
        found = Cleaned(tables, files, orphans, sessions, tokens, sign_ins, bytes + more + rest)
        if actor != BY_ITSELF or tables or files or orphans:
            audit.append(db, service.secrets, actor, "storage.clean", "", **found.as_dict())
    return found


run = clean


def _unused_sources(service: Service, settings: Settings, moment: datetime) -> tuple[int, int]:
    """Tables that were sent, and that nobody used for so many days."""
    if not settings.retention_days:
        return 0, 0
    before = moment - timedelta(days=settings.retention_days)

    def expire_source(db: Db, source: Source | None) -> list[Path]:
        upload = db.get(Upload, source.upload_id) if source is not None and source.upload_id else None
        if source is None or source.used >= before or (upload is not None and upload.used >= before):
            return []
        gone = empty_source(db, service.files, source)
        audit.append(db, service.secrets, BY_ITSELF, "source.expire", source.id)
        return gone

    old = select(Source.id).where(Source.kind == "upload", Source.state != "deleted", Source.used < before)
    return _each(service, old, Source, expire_source)


def _unused_uploads(service: Service, settings: Settings, moment: datetime) -> tuple[int, int]:
    """Files without a source, such as those of hierarchies, and those that were never finished."""
    past: list[ColumnElement[bool]] = [and_(Upload.state == "receiving", Upload.used < moment - UNFINISHED)]
    if settings.retention_days:
        past.append(Upload.used < moment - timedelta(days=settings.retention_days))

    def expire_upload(db: Db, upload: Upload | None) -> list[Path]:
        if upload is None or db.scalars(select(Source.id).where(Source.upload_id == upload.id)).first() is not None:
            return []
        db.delete(upload)
        audit.append(db, service.secrets, BY_ITSELF, "upload.expire", upload.id)
        return [service.files.upload(upload.id)]

    return _each(service, select(Upload.id).where(or_(*past)), Upload, expire_upload)


def _each(service: Service, ids: Any, kind: Any, unused: Callable[[Db, Any], list[Path]]) -> tuple[int, int]:
    """Delete one thing after the other, each in a transaction; its files go when that is committed."""
    with service.store.reading() as db:
        found = list(db.scalars(ids))
    count = bytes = 0
    for id in found:
        with service.store.writing() as db:
            gone = unused(db, db.get(kind, id))
        count += bool(gone)
        bytes += sum(map(storage_usage.size, gone))
        remove_files(service.files, gone)
    return count, bytes


def _orphans(service: Service) -> tuple[int, int]:
    """Files of uploads and copies that belong to nothing; those of jobs are swept by the worker."""
    old = time.time() - GRACE
    # The files are looked at before the store: what is made meanwhile is not among them.
    found = [(kind, id, path) for kind, id, path in storage_usage.everything(service.files) if kind != "jobs" and ID.fullmatch(id)]
    with service.store.reading() as db:
        owned = {
            "uploads": set(db.scalars(select(Upload.id))),
            "copies": set(db.scalars(select(Source.id).where(Source.state != "deleted"))),
        }
    count = bytes = 0
    for kind, id, path in found:
        left = path.suffix == ".part" or id not in owned[kind]
        if left and _change_time(path) < old:
            count, bytes = count + 1, bytes + storage_usage.size(path)
            remove_files(service.files, [path])
    return count, bytes


def _change_time(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return time.time()


def _delete_expired(db: Db, settings: Settings, moment: datetime) -> tuple[int, int, int]:
    old, idle = (moment - timedelta(hours=settings.session_hours), moment - timedelta(minutes=settings.session_idle_minutes))
    ended = (
        delete(Session).where(or_(Session.created < old, Session.seen < idle)),
        delete(Token).where(Token.expires < moment),
        delete(SignIn).where(SignIn.expires < moment),
    )
    found: list[CursorResult[Any]] = [db.execute(one) for one in ended]  # type: ignore[misc]
    return found[0].rowcount, found[1].rowcount, found[2].rowcount
