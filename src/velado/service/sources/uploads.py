"""What can be done with files that are sent, and by whom: announce one, go on where it stopped, complete it, delete it."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service.access.ownership import CHANGE, own, sources_with
from velado.service.accounts.sessions import TOUCH
from velado.service.admin import storage_usage
from velado.service.errors import Conflict, Invalid, NotFound, TooLarge, TooMany
from velado.service.sources.upload_stream import Receiver, forget, lock_upload
from velado.service.store.tables import Upload, User, now
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.paging import newest
from velado.service.web.schemas import Body, Listed, Name
from velado.tables.source import FORMATS

UNFINISHED = 100
"""Uploads that a user may have begun and not finished."""


class NewUpload(Body):
    """A file that is announced. ``name`` tells the format; the file itself is called otherwise."""

    name: Name
    bytes: Annotated[int, Field(ge=1, le=2**53)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")] | None = None


class UploadAnswer(BaseModel):
    """A file and how far it got. ``state``: receiving, complete."""

    id: str
    name: str
    bytes: int
    offset: int
    state: str
    sha256: str | None
    created: datetime
    used: datetime


def list_uploads(work: UnitOfWork, limit: int = 100, after: str | None = None) -> Listed[UploadAnswer]:
    """Your uploads, newest first."""
    work.caller.require("account.use")
    with work.reading() as db:
        mine = select(Upload).where(Upload.user_id == work.caller.id)
        found, following = newest(db, mine, Upload.created, Upload.id, limit, after)
        return Listed(items=[_answer(work, upload) for upload in found], next=following)


def announce(work: UnitOfWork, body: NewUpload) -> UploadAnswer:
    """Announce a file; its bytes follow."""
    work.caller.require("uploads.create")
    name = re.split(r"[/\\]", body.name)[-1].strip() or "table"
    _check_suffix(name)
    with work.writing() as db:
        # One after the other for each user, so that the limits hold.
        db.get(User, work.caller.id, with_for_update=True)
        _check_room(work, db, body.bytes)
        upload = Upload(user_id=work.caller.id, name=name, bytes=body.bytes, sha256=body.sha256.lower() if body.sha256 else None)
        db.add(upload)
        db.flush()
        work.audit(db, "upload.create", upload.id, bytes=upload.bytes)
    return _answer(work, upload)


def get_upload(work: UnitOfWork, id: str) -> UploadAnswer:
    """How far an upload got."""
    with work.reading() as db:
        return _answer(work, own(db, work.caller, Upload, id, "account.use"))


def delete_upload(work: UnitOfWork, id: str) -> None:
    """Delete an upload; one that a source is made from is deleted with that source."""
    with ExitStack() as stack:
        with work.writing() as db:
            upload = own(db, work.caller, Upload, id, CHANGE)
            _check_unused(db, upload)
            path = work.service.files.upload(id)
            # What a request still writes would take room that nobody counts.
            stack.enter_context(lock_upload(path))
            db.delete(upload)
            work.audit(db, "upload.delete", id)
        forget(path)
        work.service.files.remove(path)


def _check_unused(db: Db, upload: Upload) -> None:
    used = sources_with(db, upload)
    if used:
        raise Conflict(
            "upload-in-use",
            "a source is made from this upload",
            hint="Delete the source: the upload goes with it.",
            fields={"sources": [source.id for source in used]},
        )


def begin_sending(work: UnitOfWork, id: str, offset: int, length: int | None) -> tuple[Receiver, int, Callable[[], bool]]:
    """Open the file for ``length`` bytes, if it may be written to; how many were announced, and whether there is room."""
    work.caller.require("uploads.create")
    with work.reading() as db:
        upload = own(db, work.caller, Upload, id, CHANGE)
        keep = work.settings(db).free_bytes
    if upload.state != "receiving":
        raise Conflict("upload-complete", "the upload is complete", fields={"offset": upload.bytes})
    files = work.service.files
    receiver = Receiver(files.upload(id), offset)
    try:
        _check_there(work, id)
        if length is not None and offset + length > upload.bytes:
            raise too_many_bytes(upload.bytes)
        if files.free() < keep:
            raise storage_usage.nearly_full()
    except BaseException:
        receiver.close()
        raise
    return receiver, upload.bytes, lambda: files.free() >= keep


def _check_there(work: UnitOfWork, id: str) -> None:
    """Raise if an upload was deleted before its file was locked, and leave no file behind."""
    # Anew: what was read before the lock is old.
    work.close()
    with work.reading() as db:
        there = db.get(Upload, id) is not None
    # The bytes take their time.
    work.close()
    if there:
        return
    work.service.files.remove(work.service.files.upload(id))
    raise NotFound()


def end_sending(work: UnitOfWork, id: str, receiver: Receiver) -> UploadAnswer:
    """With the last byte the upload is complete, if its digest is the announced one; until then its file says all."""
    with work.reading() as db:
        upload = own(db, work.caller, Upload, id, CHANGE)
    whole = receiver.offset == upload.bytes
    if not whole and now() - upload.used < TOUCH:
        return _answer(work, upload)
    digest = receiver.digest() if whole else None
    with work.writing() as db:
        upload = own(db, work.caller, Upload, id, CHANGE)
        upload.received, upload.used = receiver.offset, now()
        wrong = digest is not None and upload.sha256 not in (None, digest)
        if wrong:
            receiver.empty()
            upload.received = 0
        elif digest is not None:
            upload.state, upload.sha256 = "complete", digest
            work.audit(db, "upload.complete", id, bytes=upload.bytes)
    if wrong:
        raise Invalid(
            "wrong-digest",
            "what arrived is not what was announced: its SHA-256 is another one",
            hint="Send the file again, from its begin.",
            fields={"offset": 0},
        )
    return _answer(work, upload)


def _check_suffix(name: str) -> None:
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    if suffix not in FORMATS:
        raise Invalid(
            "unknown-format",
            Sentence("Velado does not read files that end in '{suffix}'", suffix=suffix),
            hint=Sentence("Choose one of: {known}", known=", ".join(FORMATS)),
            fields={"path": "name", "known": list(FORMATS)},
        )


def _check_room(work: UnitOfWork, db: Db, bytes: int) -> None:
    """The limits of a file, of a user and of the disk."""
    settings, files = work.settings(db), work.service.files
    if bytes > settings.upload_bytes:
        message = Sentence("the file is larger than {limit:,} bytes", limit=settings.upload_bytes)
        raise TooLarge("upload-too-large", message, fields={"limit": settings.upload_bytes})
    begun = select(func.count()).where(Upload.user_id == work.caller.id, Upload.state == "receiving")
    if (db.scalar(begun) or 0) >= UNFINISHED:
        raise TooMany(
            "too-many-uploads",
            "too many of your uploads are not finished",
            hint="Finish or delete one.",
            fields={"limit": UNFINISHED},
        )
    taken, free = (storage_usage.of_user(db, files, work.caller.id), files.free() - storage_usage.announced_bytes(db, files))
    storage_usage.check_room(settings, work.caller.roles, taken + bytes, free - bytes)


def too_many_bytes(bytes: int) -> TooLarge:
    """More bytes arrive than were announced."""
    message = Sentence("more bytes than the {announced:,} that were announced", announced=bytes)
    return TooLarge("more-than-announced", message, fields={"bytes": bytes})


def _answer(work: UnitOfWork, upload: Upload) -> UploadAnswer:
    offset = upload.bytes if upload.state == "complete" else storage_usage.size(work.service.files.upload(upload.id))
    return UploadAnswer(
        id=upload.id,
        name=upload.name,
        bytes=upload.bytes,
        offset=offset,
        state=upload.state,
        sha256=upload.sha256 if upload.state == "complete" else None,
        created=upload.created,
        used=upload.used,
    )
