"""How the numbers of a column are spread: what cuts are chosen by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from velado.errors import InputError
from velado.numbers import parse_all
from velado.results import Discreet
from velado.values import Text

MOST_BINS = 80
SINGLE = 120
"""Whole numbers up to so far apart have a bin each."""


@dataclass(frozen=True, repr=False)
class Distribution(Discreet):
    """Numbers from ``low`` to ``high``, with the records of each bin from ``start`` on, all as wide as ``width``.

    ``percentiles`` are values of the column: at least 1 %, 2 %, … of the records are smaller than or equal to them.
    """

    low: float
    high: float
    whole: bool
    start: float
    width: float
    records: tuple[int, ...]
    percentiles: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def distribution_of(values: Mapping[Text, int] | Mapping[str, int]) -> Distribution | None:
    """How the values are spread, with their numbers of records; None unless all that are present are numbers.

    >>> found = distribution_of({"20": 3, "21": 1, "25": 4, None: 2})
    >>> found.low, found.high, found.width, found.records, found.percentiles[49]
    (20.0, 25.0, 1.0, (3, 1, 0, 0, 0, 4), 21.0)
    """
    present = {v: n for v, n in values.items() if v is not None}
    try:
        numbers = np.array(parse_all("", list(present)), dtype=float)
    except InputError:
        return None
    if not len(numbers) or not np.isfinite(numbers).all():
        return None
    order = np.argsort(numbers, kind="stable")
    numbers, records = numbers[order], np.array(list(present.values()), dtype=np.int64)[order]
    low, high = float(numbers[0]), float(numbers[-1])
    whole = bool((numbers == np.floor(numbers)).all())
    width = _width(low, high, whole)
    start = float(np.floor(low / width + 1e-9) * width)
    places = np.floor((numbers - start) / width + 1e-9).astype(np.int64)
    up_to = np.cumsum(records)
    shares = np.arange(1, 100) * up_to[-1]
    return Distribution(
        low=low,
        high=high,
        whole=whole,
        start=start,
        width=width,
        records=tuple(np.bincount(places, records).astype(np.int64).tolist()),
        percentiles=tuple(numbers[np.searchsorted(up_to * 100, shares)].tolist()),
    )


def _width(low: float, high: float, whole: bool) -> float:
    """Of the bins: 1, 2 or 5 times a power of ten, such that they are not too many."""
    if whole and high - low <= SINGLE:
        return 1.0
    if low == high:
        return 1.0 if whole else abs(low) / 10 or 1.0
    exact = (high - low) / (MOST_BINS - 1)
    power = 10.0 ** np.floor(np.log10(exact))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= exact))
