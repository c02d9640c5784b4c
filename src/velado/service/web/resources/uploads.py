"""Files, sent in pieces: announce one, send its bytes from the offset on, ask how far it got after a cut connection."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Db
from starlette.requests import ClientDisconnect

from velado.sentences import Sentence
from velado.service import usage
from velado.service.accounts.sessions import TOUCH
from velado.service.belongings import CHANGE, own, sources_with
from velado.service.errors import Conflict, Invalid, NotFound, Refused, TooLarge, TooMany, Unavailable
from velado.service.receiving import BLOCK, Receiver, forget, held
from velado.service.store.tables import Upload, User, now
from velado.service.web.call import Call, Called
from velado.service.web.paged import newest
from velado.service.web.problems import MEDIA
from velado.service.web.shapes import After, Body, Limit, Listed, Name
from velado.tables.source import FORMATS

router = APIRouter(tags=["uploads"])
LOOKED = 4
"""After so many blocks it is looked whether there is still room on the disk."""
UNFINISHED = 100
"""Uploads that a user may have begun and not finished."""
RAW = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
IDLE: dict[int | str, dict[str, Any]] = {
    408: {"description": "Request Timeout", "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
}


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


@router.get("/uploads")
def list_uploads(call: Called, limit: Limit = 100, after: After = None) -> Listed[UploadAnswer]:
    """Your uploads, newest first."""
    call.caller.require("account.use")
    with call.reading() as db:
        mine = select(Upload).where(Upload.user_id == call.caller.id)
        found, following = newest(db, mine, Upload.created, Upload.id, limit, after)
        return Listed(items=[_answer(call, upload) for upload in found], next=following)


@router.post("/uploads", status_code=201)
def announce(body: NewUpload, call: Called, response: Response) -> UploadAnswer:
    """Announce a file. Its bytes follow by PATCH."""
    call.caller.require("uploads.create")
    name = re.split(r"[/\\]", body.name)[-1].strip() or "table"
    _check_suffix(name)
    with call.writing() as db:
        # One after the other for each user, so that the limits hold.
        db.get(User, call.caller.id, with_for_update=True)
        _check_room(call, db, body.bytes)
        upload = Upload(
            user_id=call.caller.id, name=name, bytes=body.bytes, sha256=body.sha256.lower() if body.sha256 else None
        )
        db.add(upload)
        db.flush()
        call.audit(db, "upload.create", upload.id, bytes=upload.bytes)
    response.headers["Location"] = f"/api/v1/uploads/{upload.id}"
    return _answer(call, upload)


@router.get("/uploads/{id}")
def get_upload(id: str, call: Called, response: Response) -> UploadAnswer:
    """How far an upload got."""
    with call.reading() as db:
        answer = _answer(call, own(db, call.caller, Upload, id, "account.use"))
    response.headers["Upload-Offset"] = str(answer.offset)
    return answer


@router.head("/uploads/{id}", response_class=Response)
def head_upload(id: str, call: Called) -> Response:
    """How far an upload got: the headers Upload-Offset and Upload-Length."""
    with call.reading() as db:
        answer = _answer(call, own(db, call.caller, Upload, id, "account.use"))
    return Response(headers={"Upload-Offset": str(answer.offset), "Upload-Length": str(answer.bytes)})


@router.patch("/uploads/{id}", openapi_extra=RAW, responses=IDLE)
async def send(
    id: str,
    request: Request,
    call: Called,
    response: Response,
    offset: Annotated[int, Header(alias="Upload-Offset", ge=0, le=2**53)],
) -> UploadAnswer:
    """Send bytes from the offset on, as the raw body. With the last one the upload is complete.

    What arrived stays when the connection breaks: ask for the offset, and go on from there.
    """
    receiver, announced, room = await run_in_threadpool(_begin, call, id, offset)
    try:
        problem = await _receive(request, receiver, announced, room)
        upload = await run_in_threadpool(_end, call, id, receiver)
    finally:
        receiver.close()
    if problem is not None:
        raise problem
    answer = _answer(call, upload)
    response.headers["Upload-Offset"] = str(answer.offset)
    return answer


@router.delete("/uploads/{id}", status_code=204)
def delete_upload(id: str, call: Called) -> None:
    """Delete an upload; one that a source is made from is deleted with that source."""
    with ExitStack() as stack:
        with call.writing() as db:
            upload = own(db, call.caller, Upload, id, CHANGE)
            _check_unused(db, upload)
            path = call.service.files.upload(id)
            # What a request still writes would take room that nobody counts.
            stack.enter_context(held(path))
            db.delete(upload)
            call.audit(db, "upload.delete", id)
        forget(path)
        call.service.files.remove(path)


def _check_unused(db: Db, upload: Upload) -> None:
    used = sources_with(db, upload)
    if used:
        raise Conflict(
            "upload-in-use", "a source is made from this upload", hint="Delete the source: the upload goes with it.",
            fields={"sources": [source.id for source in used]},
        )  # fmt: skip


def _begin(call: Call, id: str, offset: int) -> tuple[Receiver, int, Callable[[], bool]]:
    """Open the file for this request, if it may write to it; how many bytes were announced, and whether there is room."""
    call.caller.require("uploads.create")
    with call.reading() as db:
        upload = own(db, call.caller, Upload, id, CHANGE)
        keep = call.settings(db).free_bytes
    if upload.state != "receiving":
        raise Conflict("upload-complete", "the upload is complete", fields={"offset": upload.bytes})
    files = call.service.files
    receiver = Receiver(files.upload(id), offset)
    try:
        _check_there(call, id)
        length = call.request.headers.get("content-length", "")
        if length.isdigit() and offset + int(length) > upload.bytes:
            raise _too_many(upload.bytes)
        if files.free() < keep:
            raise _no_room()
    except BaseException:
        receiver.close()
        raise
    return receiver, upload.bytes, lambda: files.free() >= keep


def _check_there(call: Call, id: str) -> None:
    """Raise if an upload was deleted before its file was locked, and leave no file behind."""
    with call.reading() as db:
        if db.get(Upload, id) is not None:
            return
    call.service.files.remove(call.service.files.upload(id))
    raise NotFound()


async def _receive(request: Request, receiver: Receiver, announced: int, room: Callable[[], bool]) -> Refused | None:
    """Write what arrives, a block in a thread while the next one comes; what stopped it, so that what arrived is kept."""
    block: list[bytes] = []
    size, blocks, expected = 0, 0, receiver.offset
    writing: asyncio.Future[None] | None = None
    problem: Refused | None = None
    try:
        async for piece in request.stream():
            expected += len(piece)
            if expected > announced:
                problem = _too_many(announced)
                break
            block.append(piece)
            size += len(piece)
            if size >= BLOCK:
                if writing is not None:
                    await writing
                writing = asyncio.ensure_future(run_in_threadpool(receiver.write, block))
                block, size, blocks = [], 0, blocks + 1
                if blocks % LOOKED == 0 and not await run_in_threadpool(room):
                    problem = _no_room()
                    break
    except ClientDisconnect:
        problem = Refused("upload-cut", "the connection broke", hint="Ask for the offset, and go on from there.")
    except Refused as refused:
        # The sender was silent for too long.
        problem = refused
    if writing is not None:
        await writing
    await run_in_threadpool(receiver.write, block)
    return problem


def _end(call: Call, id: str, receiver: Receiver) -> Upload:
    """With the last byte the upload is complete, if its digest is the announced one; until then its file says all."""
    with call.reading() as db:
        upload = own(db, call.caller, Upload, id, CHANGE)
    whole = receiver.offset == upload.bytes
    if not whole and now() - upload.used < TOUCH:
        return upload
    digest = receiver.digest() if whole else None
    with call.writing() as db:
        upload = own(db, call.caller, Upload, id, CHANGE)
        upload.received, upload.used = receiver.offset, now()
        wrong = digest is not None and upload.sha256 not in (None, digest)
        if wrong:
            receiver.empty()
            upload.received = 0
        elif digest is not None:
            upload.state, upload.sha256 = "complete", digest
            call.audit(db, "upload.complete", id, bytes=upload.bytes)
    if wrong:
        raise Invalid(
            "wrong-digest", "what arrived is not what was announced: its SHA-256 is another one",
            hint="Send the file again, from its begin.", fields={"offset": 0},
        )  # fmt: skip
    return upload


def _check_suffix(name: str) -> None:
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    if suffix not in FORMATS:
        raise Invalid(
            "unknown-format", Sentence("Velado does not read files that end in '{suffix}'", suffix=suffix),
            hint=Sentence("Choose one of: {known}", known=", ".join(FORMATS)),
            fields={"path": "name", "known": list(FORMATS)},
        )  # fmt: skip


def _check_room(call: Call, db: Db, bytes: int) -> None:
    """The limits of a file, of a user and of the disk."""
    settings, files = call.settings(db), call.service.files
    if bytes > settings.upload_bytes:
        message = Sentence("the file is larger than {limit:,} bytes", limit=settings.upload_bytes)
        raise TooLarge("upload-too-large", message, fields={"limit": settings.upload_bytes})
    begun = select(func.count()).where(Upload.user_id == call.caller.id, Upload.state == "receiving")
    if (db.scalar(begun) or 0) >= UNFINISHED:
        raise TooMany(
            "too-many-uploads", "too many of your uploads are not finished", hint="Finish or delete one.",
            fields={"limit": UNFINISHED},
        )  # fmt: skip
    if usage.of_user(db, files, call.caller.id) + bytes > settings.user_bytes:
        message = Sentence("your files would take more than {limit:,} bytes", limit=settings.user_bytes)
        hint = "Delete sources and releases that you do not need."
        raise TooLarge("no-room-left", message, hint=hint, fields={"limit": settings.user_bytes})
    if files.free() - usage.promised(db, files) - bytes < settings.free_bytes:
        raise _no_room()


def _too_many(bytes: int) -> TooLarge:
    message = Sentence("more bytes than the {announced:,} that were announced", announced=bytes)
    return TooLarge("more-than-announced", message, fields={"bytes": bytes})


def _no_room() -> Unavailable:
    return Unavailable("disk-nearly-full", "the disk of the service is nearly full", hint="Ask an administrator.")


def _answer(call: Call, upload: Upload) -> UploadAnswer:
    offset = upload.bytes if upload.state == "complete" else usage.size(call.service.files.upload(upload.id))
    return UploadAnswer(
        id=upload.id, name=upload.name, bytes=upload.bytes, offset=offset, state=upload.state,
        sha256=upload.sha256 if upload.state == "complete" else None, created=upload.created, used=upload.used,
    )  # fmt: skip
