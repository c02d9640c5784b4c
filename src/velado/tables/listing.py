"""Stub."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Listed:
    """A table or view."""

    schema: str | None
    name: str
    kind: str
    rows: int | None
    columns: tuple[tuple[str, str], ...]
    bytes: int | None = None
