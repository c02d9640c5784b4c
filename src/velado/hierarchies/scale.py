"""The order and distances of a column's values: numbers, dates, or a list in order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

import numpy as np

from velado.dates import ISO, read_date
from velado.numbers import POINT, Notation
from velado.results import Discreet

HALF = 0.0005 / 86_400
"""Half a millisecond in days: as far as the text of a time may be from it."""


@dataclass(frozen=True, repr=False)
class Scale(Discreet):
    """A position for every leaf of a column, so that it can be cut between two values.

    ``numbers`` are the leaves as numbers (days since year 1 for dates, the place in the list for ordered
    categories), NaN for a missing value. ``kind``: number, date or order; ``format`` is how labels write days, ``notation``
    how they write numbers. Times are fractions of days: where there are any, all are written as times, to the millisecond.
    ``rewritten``: the column writes its dates in another way than labels do, or in several, so that single ones are
    written anew.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("kind", "format")
    numbers: np.ndarray
    kind: str = "number"
    format: str = ISO
    notation: Notation = POINT
    rewritten: bool = False

    @cached_property
    def whole(self) -> bool:
        """Whether all positions are whole numbers."""
        known = self.numbers[~np.isnan(self.numbers)]
        return bool((known == np.floor(known)).all())

    @cached_property
    def negative(self) -> bool:
        """Whether some number is below zero: then all labels have brackets, and none begins with a sign."""
        return bool((self.numbers < 0).any())

    def text(self, number: float) -> str:
        """A number as the column writes it; whole columns cut what is behind the point."""
        if self.kind == "date":
            return self._moment(number)
        if self.whole or number == int(number):
            return str(int(number))
        return self.notation.write_number(format(round(Decimal(repr(float(number))), 9).normalize(), "f"))

    def _moment(self, number: float) -> str:
        day = date.fromordinal(int(number))
        if self.whole:
            return day.isoformat() if self.format == ISO else day.strftime(self.format)
        seconds = timedelta(milliseconds=round(number % 1 * 86_400_000))
        shown = (datetime.fromordinal(int(number)) + seconds).isoformat(" ")
        return shown.rstrip("0") if "." in shown else shown

    def limits(self, label: str) -> tuple[float, float] | None:
        """The first and last day (or time) of a label ``day..day`` or ``day``; None for anything else.

        Numbers say what they are.
        """
        if self.kind != "date" or (".." not in label and not self.rewritten):
            return None
        parts = label.split("..", 1) if ".." in label else [label, label]
        if self.whole:
            low, high = (read_date(part, self.format) for part in parts)
            return None if low is None or high is None else (low.toordinal(), high.toordinal())
        try:
            first, last = map(datetime.fromisoformat, parts)
        except ValueError:
            return None
        return days_of(first) - HALF, days_of(last) + HALF

    def day(self, label: str) -> float:
        """The day (or time) of a label that is one; NaN for anything else."""
        if self.kind != "date":
            return np.nan
        try:
            return days_of(datetime.strptime(label, self.format) if self.whole else datetime.fromisoformat(label))
        except ValueError:
            return np.nan

    def between(self, low: str, high: str) -> str:
        """An interval of two texts of numbers, which belong to it, in the notation that `velado.hierarchies.labels` reads."""
        if self.kind == "date":
            return f"{low}..{high}"
        if self.negative or not self.whole:
            return f"[{low}{self.notation.between}{high}]"
        return f"{low}-{high}"


def days_of(moment: datetime) -> float:
    """Days since year 1, times as fractions of them."""
    return moment.toordinal() + (moment - datetime.fromordinal(moment.toordinal())).total_seconds() / 86_400
