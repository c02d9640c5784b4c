"""What is downloaded: names that are safe in a header, and streams of files of the service's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import Path as InPath
from fastapi import Response
from fastapi.responses import StreamingResponse

from velado.service.errors import NotFound
from velado.service.projects.exchange import plain_name
from velado.service.web.security import attachment

BLOCK = 1 << 20
Number: Any = InPath(ge=0, lt=2**53)
"""A number in an address."""
TYPES = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "yaml": "application/yaml",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
    "html": "text/html",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pdf": "application/pdf",
    "zip": "application/zip",
    "ics": "text/calendar",
    "txt": "text/plain",
}
"""What the files that jobs write are, by their suffixes; anything else is bytes."""
BYTES = "application/octet-stream"


def headers(name: str) -> dict[str, str]:
    """Headers of a download: a name in plain letters, the true one beside it (RFC 6266), and nothing that keeps a copy."""
    return {"Content-Disposition": attachment(plain_name(name)), "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def type_of(name: str) -> str:
    """The media type of a file by its suffix."""
    return TYPES.get(name.rpartition(".")[2].lower(), BYTES)


def answers(*media: str) -> dict[int | str, dict[str, Any]]:
    """What the reference says of a download."""
    return {200: {"description": "The file", "content": {m: {"schema": _schema(m)} for m in media}}}


def _schema(media: str) -> dict[str, Any]:
    return {} if media in (TYPES["json"], TYPES["yaml"]) else {"type": "string"}


TABLES = tuple(TYPES[suffix] for suffix in ("csv", "tsv", "parquet", "xlsx", "arrow"))
"""What a release is."""


def send_text(text: str, name: str, **more: str) -> Response:
    """A text as a file."""
    return Response(text, media_type=type_of(name), headers={**headers(name), **more})


def stream(path: Path, name: str, media: str | None = None, **more: str) -> StreamingResponse:
    """A file as a stream. It is opened at once, so that it is whole even if it is deleted meanwhile."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed by the stream
    except OSError:
        raise NotFound() from None
    size = path.stat().st_size
    sent = {**headers(name), "Content-Length": str(size), **more}
    return StreamingResponse(_blocks(file), media_type=media or type_of(name), headers=sent)


def _blocks(file: Any) -> Iterator[bytes]:
    with file:
        while block := file.read(BLOCK):
            yield block
