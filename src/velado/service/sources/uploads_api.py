"""Files, sent in pieces: announce one, send its bytes from the offset on, ask how far it got after a cut connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from velado.service.admin import storage_usage
from velado.service.errors import Refused
from velado.service.sources import uploads
from velado.service.sources.upload_stream import BLOCK, Receiver
from velado.service.sources.uploads import NewUpload, UploadAnswer
from velado.service.web.call import Called
from velado.service.web.problems import MEDIA
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(tags=["uploads"])
LOOKED = 4
"""After so many blocks it is looked whether there is still room on the disk."""
RAW = {
    "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}
IDLE: dict[int | str, dict[str, Any]] = {
    408: {"description": "Request Timeout", "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
}


@router.get("/uploads")
def list_uploads(call: Called, limit: Limit = 100, after: After = None) -> Listed[UploadAnswer]:
    """Your uploads, newest first."""
    return uploads.list_uploads(call, limit, after)


@router.post("/uploads", status_code=201)
def announce(body: NewUpload, call: Called, response: Response) -> UploadAnswer:
    """Announce a file. Its bytes follow by PATCH."""
    upload = uploads.announce(call, body)
    response.headers["Location"] = f"/api/v1/uploads/{upload.id}"
    return upload


@router.get("/uploads/{id}")
def get_upload(id: str, call: Called, response: Response) -> UploadAnswer:
    """How far an upload got."""
    upload = uploads.get_upload(call, id)
    response.headers["Upload-Offset"] = str(upload.offset)
    return upload


@router.head("/uploads/{id}", response_class=Response)
def head_upload(id: str, call: Called) -> Response:
    """How far an upload got: the headers Upload-Offset and Upload-Length."""
    upload = uploads.get_upload(call, id)
    return Response(headers={"Upload-Offset": str(upload.offset), "Upload-Length": str(upload.bytes)})


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
    length = request.headers.get("content-length", "")
    receiver, announced, room = await run_in_threadpool(
        uploads.begin_sending, call, id, offset, int(length) if length.isdigit() else None
    )
    try:
        problem = await _receive(request, receiver, announced, room)
        upload = await run_in_threadpool(uploads.end_sending, call, id, receiver)
    finally:
        receiver.close()
    if problem is not None:
        raise problem
    response.headers["Upload-Offset"] = str(upload.offset)
    return upload


@router.delete("/uploads/{id}", status_code=204)
def delete_upload(id: str, call: Called) -> None:
    """Delete an upload; one that a source is made from is deleted with that source."""
    uploads.delete_upload(call, id)


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
                problem = uploads.too_many_bytes(announced)
                break
            block.append(piece)
            size += len(piece)
            if size >= BLOCK:
                if writing is not None:
                    await writing
                writing = asyncio.ensure_future(run_in_threadpool(receiver.write, block))
                block, size, blocks = [], 0, blocks + 1
                if blocks % LOOKED == 0 and not await run_in_threadpool(room):
                    problem = storage_usage.nearly_full()
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
