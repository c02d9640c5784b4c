"""The order and distances of a column's values: numbers, dates, or a list in order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property

import numpy as np

from velado.numbers import POINT, Notation


@dataclass(frozen=True)
class Scale:
    """A position for every leaf of a column, so that it can be cut between two values.

    ``numbers`` are the leaves as numbers (days since year 1 for dates, the place in the list for ordered
    categories), NaN for a missing value. ``kind``: number, date or order; ``format`` is that of dates, ``notation`` that
    of numbers.
    """

    numbers: np.ndarray
    kind: str = "number"
    format: str = "%Y-%m-%d"
    notation: Notation = POINT

    @cached_property
    def whole(self) -> bool:
        """Whether all positions are whole numbers."""
        known = self.numbers[~np.isnan(self.numbers)]
        return bool((known == np.floor(known)).all())

    def text(self, number: float) -> str:
        """A number as the column writes it; whole columns cut what is behind the point."""
        if self.kind == "date":
            return date.fromordinal(int(number)).strftime(self.format)
        if self.whole or number == int(number):
            return str(int(number))
        return self.notation.written(format(round(Decimal(repr(float(number))), 9).normalize(), "f"))

    def limits(self, label: str) -> tuple[float, float] | None:
        """The first and last day of a label ``day..day``; None for anything else (numbers say themselves what they are)."""
        if self.kind != "date" or ".." not in label:
            return None
        try:
            low, high = (datetime.strptime(part, self.format).toordinal() for part in label.split("..", 1))
        except ValueError:
            return None
        return low, high

    def interval(self, low: float, high: float) -> str:
        """Both limits, which belong to it, in the notation that `velado.hierarchies.labels` reads."""
        if low == high:
            return self.text(low)
        if self.kind == "date":
            return f"{self.text(low)}..{self.text(high)}"
        if not self.whole:
            return f"[{self.text(low)}{self.notation.between}{self.text(high)}]"
        return f"{self.text(low)}{'-' if low >= 0 else '..'}{self.text(high)}"
