"""Global recode: a column of numbers cut into intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.errors import InputError
from velado.fuzzy.input_checks import checked_counts, checked_values
from velado.parameters import Choice, Number, Parameter, check
from velado.results import Discreet

FENCE = 3.0
"""Tukey's outer fences: this many interquartile ranges beyond the quartiles."""


@dataclass(frozen=True, repr=False)
class Intervals(Discreet):
    """Intervals (b₀, b₁] (b₁, b₂] …; ``labels`` are those of the rows, −1 for rows that are left out.

    ``closed`` says whether b₀ itself belongs to the first. There are fewer intervals than asked for where breaks coincide.
    """

    breaks: np.ndarray
    labels: np.ndarray
    closed: bool

    @property
    def number(self) -> int:
        """Number of intervals."""
        return len(self.breaks) - 1

    def labels_of(self, values: np.ndarray) -> np.ndarray:
        """The interval of each value; −1 outside all."""
        return _cut(checked_values(values), self.breaks, self.closed)


@dataclass(frozen=True)
class GlobalRecode:
    """Cut a column into intervals, as ``globalRecode`` of sdcMicro does.

    ``equidistant``: of the same length. ``logEqui``: of the same length for the logarithms. ``equalAmount``: of about
    as many records each, by quantiles of type 7. ``outliers``: ``keep`` all; leave out the ``lowest`` value, as sdcMicro
    does (its intervals are open to the left); or leave out, and take no account of, what lies beyond Tukey's outer
    ``fences`` (nothing, if the quartiles are the same). Templ, Kowarik and Meindl, "Statistical disclosure
    control for micro-data using the R package sdcMicro", 2015.

    >>> GlobalRecode(intervals=3).fit([1, 2, 3, 4, 5, 6, 7, 8, 9]).labels
    array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    """

    intervals: int = 3
    method: str = "equalAmount"
    outliers: str = "keep"
    name: ClassVar[str] = "global-recode"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "intervals": Number("number of intervals", low=2, high=1000, integer=True),
        "method": Choice("what the intervals have in common", ("equidistant", "logEqui", "equalAmount")),
        "outliers": Choice("what becomes of outliers", ("keep", "lowest", "fences"), expert=True),
    }

    def __post_init__(self) -> None:
        check(self)

    def fit(self, values: Sequence[float] | np.ndarray, counts: np.ndarray | None = None, column: str | None = None) -> Intervals:
        """The intervals of a column whose rows stand for ``counts`` records each."""
        x = checked_values(values, column)
        records = checked_counts(counts, len(x))
        order = np.argsort(x, kind="stable")
        ascending, up_to = x[order], np.cumsum(records[order])
        if self.outliers == "fences":
            ascending, up_to = _within_fences(ascending, up_to)
        breaks = np.unique(self._breaks(ascending, up_to, column))
        if len(breaks) < 2:
            raise InputError(
                "constant-column",
                "all values are the same: there is nothing to partition",
                column=column,
                hint="Leave the column out.",
            )
        closed = self.outliers != "lowest"
        return Intervals(breaks, _cut(x, breaks, closed), closed)

    def _breaks(self, ascending: np.ndarray, up_to: np.ndarray, column: str | None) -> np.ndarray:
        if self.method == "equalAmount":
            return quantiles(ascending, up_to, self.intervals)
        shares = np.linspace(0, 1, self.intervals + 1)
        low, high = ascending[0], ascending[-1]
        if self.method == "equidistant":
            breaks: np.ndarray = low + shares * (high - low)
        else:
            if low <= 0:
                raise InputError("not-positive", "'logEqui' needs numbers above 0", column=column, hint="Use 'equalAmount'.")
            breaks = np.exp(np.log(low) + shares * (np.log(high) - np.log(low)))
        # Rounding must not put the extremes outside.
        breaks[0], breaks[-1] = low, high
        return breaks


def quantiles(ascending: np.ndarray, up_to: np.ndarray, parts: int) -> np.ndarray:
    """Quantiles of type 7 (Hyndman and Fan, 1996) at 0, 1/parts, …, 1.

    The rows have ``up_to`` records up to and including each. Positions are whole numbers and remainders: a position that
    is off by rounding would make an interval of its own between two equal values.
    """
    below, rest = np.divmod(np.arange(parts + 1) * (up_to[-1] - 1), parts)
    lower = ascending[np.searchsorted(up_to, below, side="right")]
    upper = ascending[np.searchsorted(up_to, below + (rest > 0), side="right")]
    return np.asarray(lower + rest / parts * (upper - lower))


def _within_fences(ascending: np.ndarray, up_to: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first, third = quantiles(ascending, up_to, 4)[[1, 3]]
    if first == third:
        return ascending, up_to
    reach = FENCE * (third - first)
    kept = (ascending >= first - reach) & (ascending <= third + reach)
    return ascending[kept], np.cumsum(np.diff(up_to, prepend=0)[kept])


def _cut(values: np.ndarray, breaks: np.ndarray, closed: bool) -> np.ndarray:
    labels = np.searchsorted(breaks, values) - 1
    if closed:
        labels[values == breaks[0]] = 0
    labels[values > breaks[-1]] = -1
    return labels
