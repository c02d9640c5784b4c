"""Pages of equivalence classes: of those of one or two people nothing is told but that they are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from velado.service.access.redaction.rules import FEWER, SMALL


def count_columns(columns: Sequence[str]) -> list[int]:
    """Which columns count records or people: a quasi-identifier may have the name of a figure; it stands before it."""
    last = {name.partition(" #")[0]: j for j, name in enumerate(columns)}
    return [last[name] for name in ("records", "people") if name in last]


def redact_classes(columns: Sequence[str], rows: Sequence[list[Any]]) -> list[list[Any]]:
    """The rows of a page, one per class."""
    counts = count_columns(columns)
    return [
        [FEWER if j in counts else None for j in range(len(row))] if any(row[j] < SMALL for j in counts) else row for row in rows
    ]
