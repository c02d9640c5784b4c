"""ETags: what a reader knows of a thing, and what a change says that it changes."""

from __future__ import annotations

import re
from collections.abc import Container

from fastapi import Request

TAG = re.compile(r'(?:W/)?("[^"]*")')
NUMBER = re.compile('"[1-9][0-9]{0,15}"')
EVERY = range(2**53)


def etag(version: object) -> str:
    """The tag of a version."""
    return f'"{version}"'


def _tags(header: str) -> set[str]:
    return {"*"} if header.strip() == "*" else set(TAG.findall(header))


def is_unchanged(request: Request, tag: str) -> bool:
    """Whether the reader has this version already, so that 304 is the answer."""
    return bool(_tags(request.headers.get("if-none-match", "")) & {tag, "*"})


def matched_versions(header: str | None) -> Container[int] | None:
    """The versions that a change says that it changes (the header If-Match); None: it does not say."""
    if header is None:
        return None
    tags = _tags(header)
    return EVERY if "*" in tags else {int(tag[1:-1]) for tag in tags if NUMBER.fullmatch(tag)}
