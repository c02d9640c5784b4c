"""Date hierarchies: day → month → year → decade …"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from velado.dates import ISO, Formats, day_format, formats_of, month_first, read_in, year_first
from velado.declarations import declare
from velado.errors import InputError, suggest, way_to
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.leaves import Leaves
from velado.hierarchies.scale import Scale, days_of
from velado.sentences import Sentence, join_sentences

MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,9})?(\+00)?")
"""The canonical text of a time; of one with a zone, which is in UTC."""
DAY = re.compile(r"\d{4}-\d\d-\d\d")
"""The canonical text of a day."""


def _day(day: date, year_first: bool) -> str:
    return day.isoformat() if year_first else f"{day.day:02d}/{day.month:02d}/{day.year:04d}"


def _week(day: date, year_first: bool) -> str:
    # The first days of the calendar have no Monday.
    return f"week of {_day(day - timedelta(days=min(day.weekday(), day.toordinal() - 1)), year_first)}"


def _years(day: date, span: int) -> str:
    first = day.year // span * span
    return f"{first}-{first + span - 1}"


UNITS: dict[str, Callable[[date, bool], str]] = {
    "day": _day,
    "week": _week,
    "month": lambda d, year_first: f"{d.year:04d}-{d.month:02d}" if year_first else f"{d.month:02d}/{d.year:04d}",
    "quarter": lambda d, _: f"{d.year:04d}-Q{(d.month + 2) // 3}",
    "year": lambda d, _: f"{d.year:04d}",
    "five-years": lambda d, _: _years(d, 5),
    "decade": lambda d, _: _years(d, 10),
    "century": lambda d, _: _years(d, 100),
}


DAYS = ("day", "week")
"""Units whose labels show a day."""


def parse_dates(column: str, values: Sequence[str], format: Formats) -> list[datetime]:
    """All values as moments, days as midnights; an error names those that no format fits, or two in different ways.

    Without a format they are canonical texts of dates or of times.

    >>> parse_dates("seen", ["2020-01-02", "2020-01-02 06:30:00"], None)
    [datetime.datetime(2020, 1, 2, 0, 0), datetime.datetime(2020, 1, 2, 6, 30)]
    """
    formats = formats_of(format)
    if any("%H" in f for f in formats) and all(map(DAY.fullmatch, values)):
        # Days of a typed column, such as those of a sheet, which a format with hours was written for.
        formats = ()
    days, wrong, ambiguous = [], [], []
    for value in values:
        if not formats and MOMENT.fullmatch(value):
            try:
                days.append(datetime.fromisoformat(value.removesuffix("+00")))
            except ValueError:
                wrong.append(value)
            continue
        read = read_in(value, formats or (ISO,))
        if read is None:
            wrong.append(value)
        elif read.ambiguous:
            ambiguous.append(value)
        else:
            days.append(read.moment)
    if wrong:
        raise not_dates(column, wrong, formats)
    if ambiguous:
        raise ambiguous_dates(column, ambiguous)
    return days


def not_dates(
    column: str, wrong: Sequence[str], formats: Sequence[str], number: int | None = None, *, moved: bool = False
) -> InputError:
    """The error for values that no format of a column fits; ``number`` of them, if not all may be shown.

    ``moved``: or that are moved out of the calendar.
    """
    shown = join_sentences(Sentence(" or "), [f"'{f}'" for f in formats or (ISO,)])
    many = len(wrong) if number is None else number
    if moved:
        message = Sentence(
            "{count:,} value(s) do not match the date format {formats}, or leave the calendar", count=many, formats=shown
        )
    else:
        message = Sentence("{count:,} value(s) do not match the date format {formats}", count=many, formats=shown)
    return InputError(
        "not-a-date",
        message,
        column=column,
        values=wrong,
        hint="Write the column's 'format', for example format: \"%d/%m/%Y\", or a list of formats; name what stands for "
        "a missing value in 'source: {missing: [...]}'.",
    )


def ambiguous_dates(column: str, values: Sequence[str], number: int | None = None) -> InputError:
    """The error for values that two formats of a column read as different days; ``number`` of them."""
    many = len(values) if number is None else number
    return InputError(
        "ambiguous-date",
        Sentence("two formats of the column read {count:,} value(s) as different days", count=many),
        column=column,
        values=values,
        hint="Leave one of the two formats out, or write these dates so that one reading is left.",
    )


@declare(
    title="calendar",
    meaning="calendar units per level, such as [month, year, decade]",
    example={"dates": ["month", "year", "decade"]},
)
def dates(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """Calendar units per level, for instance ``[month, year, decade]``; months keep the column's order of parts.

    >>> dates("birth", ["month", "year"], Leaves(["07/03/1981"], "%d/%m/%Y")).rows()
    [['07/03/1981', '03/1981', '1981']]
    """
    units = [spec] if isinstance(spec, str) else spec
    if not isinstance(units, Sequence) or not units:
        raise InputError("bad-hierarchy", Sentence("'dates' needs a list of units, got {given}", given=repr(spec)), column=column)
    for place, unit in enumerate(units):
        if not isinstance(unit, str) or unit not in UNITS:
            raise InputError(
                "bad-hierarchy",
                Sentence("unknown date unit {given}", given=repr(unit)),
                column=column,
                hint=suggest(str(unit), UNITS),
                fields={} if isinstance(spec, str) else {"path": way_to(place)},
            )
    days = parse_dates(column, leaves.values, leaves.format)
    first = year_first(formats_of(leaves.format))
    # Month before day would be read the other way round by half of the world.
    iso = first or any(month_first(f) for f in formats_of(leaves.format))
    rows = [
        [value, *(UNITS[u](day.date(), iso if u in DAYS else first) for u in units)]
        for day, value in sorted(zip(days, leaves.values, strict=True))
    ]
    hierarchy = Hierarchy.from_rows(column, rows or [["", *("" for _ in units)]])
    return replace(hierarchy, scale=date_scale(sorted(days), leaves.format)) if rows else hierarchy


def date_scale(days: Sequence[datetime], format: Formats) -> Scale:
    """Dates by their distance in days, times by fractions of days."""
    numbers = np.array([days_of(day) for day in days], dtype=float)
    formats = formats_of(format)
    shown = day_format(formats)
    return Scale(numbers, "date", shown, rewritten=bool(formats) and formats != (shown,))
