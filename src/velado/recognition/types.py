"""How the values of a column are read: integers, numbers, dates or text, and what stands for a missing value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from velado.numbers import CODE, notation_of
from velado.tables.formats.csv import MISSING_MARKERS

DATE_FORMATS = ("%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S")


@dataclass(frozen=True)
class Reading:
    """How a column is read: its type, the format of its dates, and which of its values stand for a missing one."""

    type: str
    format: str | None = None
    missing: tuple[str, ...] = ()


def reading_of(amount: Mapping[str, int]) -> Reading:
    """The reading of a column, from its values that are not missing with their numbers of records."""
    markers = tuple(m for m in MISSING_MARKERS if m in amount)
    kind, pattern = _typed([v for v in amount if v not in markers] or list(amount))
    if kind == "text":
        # A marker such as "-" is only plausible if the rest of the column is of another kind.
        markers = tuple(m for m in markers if m in ("?", "NA", "N/A", "NULL", "NaN"))
    return Reading(kind, pattern, markers)


def _typed(values: Sequence[str]) -> tuple[str, str | None]:
    """integer, number, date or text, and the format of a date.

    Leading zeros make a text (007 is not 7), and so do numbers that can be read in two ways (only 1,000 and 2,500).
    """
    sample = list(values)[:5000]
    if not sample:
        return "text", None
    if all(re.fullmatch(r"[+-]?(0|[1-9][0-9]*)", v) for v in values):
        return "integer", None
    if not any(CODE.match(v) for v in values) and notation_of(values) is not None:
        return "number", None
    if any(ch.isdigit() for ch in sample[0]):
        for pattern in DATE_FORMATS:
            if all(_is_date(v, pattern) for v in sample):
                return "date", pattern
    return "text", None


def _is_date(value: str, pattern: str) -> bool:
    try:
        datetime.strptime(value, pattern)
    except ValueError:
        return False
    return True
