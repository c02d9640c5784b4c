"""Aggregate answers: what the released intervals say about minimum, maximum, mean and mode (``measures.md`` §3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from velado.evaluation.pair import Pair
from velado.results import Discreet
from velado.values import ROOT, Text


@dataclass(frozen=True, repr=False)
class Answers(Discreet):
    """Answers from the numbers of the original."""

    min: float
    max: float
    mean: float
    mode: float
    mode_count: int
    records: int

    def summary(self) -> dict[str, int]:
        """The other answers are values of the data."""
        return {"records": self.records}


@dataclass(frozen=True, repr=False)
class IntervalAnswers(Discreet):
    """Answers from released labels; None where every label is ``*`` or missing.

    ``min`` is the lowest lower and ``max`` the highest upper limit. ``mean_midpoint_integer`` rounds each midpoint
    down, as the UBB study does. ``mode`` is the most frequent released label, of equal ones the lowest. ``records`` are those whose label
    says something; suppressed records are not among them.
    """

    min: float | None
    max: float | None
    mean_midpoint: float | None
    mean_midpoint_integer: float | None
    mean_lower: float | None
    mode: Text
    mode_count: int
    records: int

    def summary(self) -> dict[str, int]:
        """The other answers are values of the data."""
        return {"records": self.records}


@dataclass(frozen=True, repr=False)
class Aggregates(Discreet):
    """The answers before and after."""

    before: Answers
    after: IntervalAnswers


def aggregates(pair: Pair, j: int) -> Aggregates | None:
    """The answers for a numeric quasi-identifier; None for any other column."""
    cover = pair.covers[j]
    numbers, counts = pair.known_numbers(j)
    if cover.bounds is None or not len(numbers):
        return None
    order = np.lexsort((numbers, -counts))
    before = Answers(
        min=float(numbers.min()),
        max=float(numbers.max()),
        mean=float((numbers * counts).sum() / counts.sum()),
        mode=float(numbers[order[0]]),
        mode_count=int(counts[order[0]]),
        records=int(counts.sum()),
    )
    return Aggregates(before, _after(pair, j, cover.bounds))


def _after(pair: Pair, j: int, bounds: np.ndarray) -> IntervalAnswers:
    labels, records, shown = pair.covers[j].labels, pair.label_records[j], pair.shown_records(j)
    said_by = {x: (math.inf, math.inf) if np.isnan(b[0]) else tuple(b) for x, b in zip(labels, bounds, strict=True)}
    mode = min(shown, key=lambda label: (-shown[label], said_by[label]))
    said = ~np.isnan(bounds[:, 0]) & (records > 0)
    low, high, counts = bounds[said, 0], bounds[said, 1], records[said]
    total = int(counts.sum())
    if not total:
        return IntervalAnswers(None, None, None, None, None, mode, shown[mode], 0)

    def mean(values: np.ndarray) -> float:
        return float((values * counts).sum() / total)

    return IntervalAnswers(
        min=float(low.min()),
        max=float(high.max()),
        mean_midpoint=mean((low + high) / 2),
        mean_midpoint_integer=mean((low + high) // 2),
        mean_lower=mean(low),
        mode=mode,
        mode_count=shown[mode],
        records=total,
    )


def mode_with_suppressed(pair: Pair, j: int) -> tuple[Text, int]:
    """The most frequent cell of a column when each suppressed record is counted as ``*`` (the UBB study's rule)."""
    counts: dict[Text, int] = {ROOT: pair.suppressed_records}
    for label, records in pair.shown_records(j).items():
        counts[label] = counts.get(label, 0) + records
    return max(counts.items(), key=lambda item: item[1])
