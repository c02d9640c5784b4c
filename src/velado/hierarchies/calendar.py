"""Date hierarchies: day → month → year → decade …"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from velado.errors import InputError, suggest
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.scale import ISO, Scale, days_of

MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,9})?")
"""The canonical text of a time."""
DAY = re.compile(r"\d{4}-\d\d-\d\d")
"""The canonical text of a day."""


def _week(day: date, year_first: bool) -> str:
    monday = day - timedelta(days=day.weekday())
    shown = monday.isoformat() if year_first else f"{monday.day:02d}/{monday.month:02d}/{monday.year:04d}"
    return f"week of {shown}"


def _years(day: date, span: int) -> str:
    first = day.year // span * span
    return f"{first}-{first + span - 1}"


UNITS: dict[str, Callable[[date, bool], str]] = {
    "week": _week,
    "month": lambda d, year_first: f"{d.year:04d}-{d.month:02d}" if year_first else f"{d.month:02d}/{d.year:04d}",
    "quarter": lambda d, _: f"{d.year:04d}-Q{(d.month + 2) // 3}",
    "year": lambda d, _: f"{d.year:04d}",
    "five-years": lambda d, _: _years(d, 5),
    "decade": lambda d, _: _years(d, 10),
    "century": lambda d, _: _years(d, 100),
}


def parse_dates(column: str, values: Sequence[str], format: str | None) -> list[datetime]:
    """All values as moments, days as midnights; an error names those that do not match the format.

    Without a format they are canonical texts of dates or of times.

    >>> parse_dates("seen", ["2020-01-02", "2020-01-02 06:30:00"], None)
    [datetime.datetime(2020, 1, 2, 0, 0), datetime.datetime(2020, 1, 2, 6, 30)]
    """
    if format is not None and "%H" in format and all(map(DAY.fullmatch, values)):
        # Days of a typed column, such as those of a sheet, which a format with hours was written for.
        format = None
    pattern = format or ISO
    days, wrong = [], []
    for value in values:
        try:
            if format is None and MOMENT.fullmatch(value):
                days.append(datetime.fromisoformat(value))
            else:
                days.append(datetime.combine(datetime.strptime(value, pattern), time()))
        except ValueError:
            wrong.append(value)
    if wrong:
        raise InputError(
            "not-a-date", f"{len(wrong)} value(s) do not match the date format '{pattern}'", column=column, values=wrong,
            hint="Write the column's 'format', for example format: \"%d/%m/%Y\".",
        )  # fmt: skip
    return days


def dates(column: str, spec: Any, values: Sequence[str], format: str | None = None) -> Hierarchy:
    """Calendar units per level, for instance ``[month, year, decade]``; months keep the column's order of parts.

    >>> dates("birth", ["month", "year"], ["07/03/1981"], "%d/%m/%Y").rows()
    [['07/03/1981', '03/1981', '1981']]
    """
    units = [spec] if isinstance(spec, str) else spec
    if not isinstance(units, Sequence) or not units:
        raise InputError("bad-hierarchy", f"'dates' needs a list of units, got {spec!r}", column=column)
    for unit in units:
        if not isinstance(unit, str) or unit not in UNITS:
            raise InputError(
                "bad-hierarchy", f"unknown date unit {unit!r}", column=column, hint=suggest(str(unit), UNITS)
            )
    pattern = format or ISO
    year_first = pattern.find("%Y") < pattern.find("%m")
    days = parse_dates(column, values, format)
    rows = [
        [value, *(UNITS[u](day.date(), year_first) for u in units)]
        for day, value in sorted(zip(days, values, strict=True))
    ]
    hierarchy = Hierarchy.from_rows(column, rows or [["", *("" for _ in units)]])
    return replace(hierarchy, scale=date_scale(sorted(days), pattern)) if rows else hierarchy


def date_scale(days: Sequence[datetime], format: str | None) -> Scale:
    """Dates by their distance in days, times by fractions of days."""
    return Scale(np.array([days_of(day) for day in days], dtype=float), "date", format or ISO)
