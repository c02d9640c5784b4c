"""Kolmogorov–Smirnov: is the distribution of a numeric column kept? (``measures.md`` §3)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from velado.evaluation.pair import Pair

KEPT = 0.95
"""The convention of the Anonylitics study: a distribution counts as kept when p ≥ 0.95."""


@dataclass(frozen=True)
class KolmogorovSmirnov:
    """The two-sample test between a column before and after.

    ``statistic`` is the largest distance of the two distribution functions, ``p`` its asymptotic p-value, ``kept``
    whether p ≥ 0.95: a p-value, not a confidence. ``by`` says what stands for a released cell: the ``value`` itself,
    or the ``midpoint`` of its interval. ``records`` are those that could be compared after.
    """

    statistic: float
    p: float
    kept: bool
    by: str
    records: int


def kolmogorov_smirnov(pair: Pair, j: int) -> KolmogorovSmirnov | None:
    """The test for a numeric quasi-identifier; None for other columns, or if no released cell says anything."""
    cover = pair.covers[j]
    numbers, before = pair.known_numbers(j)
    if cover.bounds is None or not len(numbers):
        return None
    after = pair.label_records[j]
    said = ~np.isnan(cover.bounds[:, 0]) & (after > 0)
    if not said.any():
        return None
    middle = cover.bounds[said].mean(axis=1)
    statistic = distance(numbers, before, middle, after[said])
    n, m = int(before.sum()), int(after[said].sum())
    p = p_value(statistic, n, m)
    by = "value" if (cover.bounds[said, 0] == cover.bounds[said, 1]).all() else "midpoint"
    return KolmogorovSmirnov(statistic, p, p >= KEPT, by, m)


def distance(x: np.ndarray, x_counts: np.ndarray, y: np.ndarray, y_counts: np.ndarray) -> float:
    """Largest distance of two distribution functions given by values and how often they occur."""
    values = np.unique(np.concatenate([x, y]))
    first = np.bincount(np.searchsorted(values, x), weights=x_counts, minlength=len(values)).cumsum()
    second = np.bincount(np.searchsorted(values, y), weights=y_counts, minlength=len(values)).cumsum()
    return float(np.abs(first / first[-1] - second / second[-1]).max())


def p_value(statistic: float, n: int, m: int) -> float:
    """Asymptotic two-sided p-value of samples of n and m records, as SciPy's ``ks_2samp(method="asymp")``."""
    from scipy.stats import kstwo

    return float(np.clip(kstwo.sf(statistic, max(round(n * m / (n + m)), 1)), 0, 1))
