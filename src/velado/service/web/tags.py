"""ETags: what a reader knows of a thing, and what a change says that it changes."""

from __future__ import annotations

import re

from fastapi import Request

from velado.service.errors import Changed, Unconditional

TAG = re.compile(r'(?:W/)?("[^"]*")')


def etag(version: object) -> str:
    """The tag of a version."""
    return f'"{version}"'


def _tags(header: str) -> set[str]:
    return {"*"} if header.strip() == "*" else set(TAG.findall(header))


def known(request: Request, tag: str) -> bool:
    """Whether the reader has this version already, so that 304 is the answer."""
    return bool(_tags(request.headers.get("if-none-match", "")) & {tag, "*"})


def check_match(header: str | None, tag: str) -> None:
    """Raise unless a change says which version it changes (the header If-Match), and it is this one."""
    if header is None:
        raise Unconditional()
    if not _tags(header) & {tag, "*"}:
        raise Changed(current=tag.strip('"'))
