"""Individual risk of a sample with weights (``measures.md`` §4; Franconi & Polettini 2004, PSD, LNCS 3050)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from velado.evaluation.risk import THRESHOLD

MAD_SCALE = 1.4826
LARGE_CLASS = 30


@dataclass(frozen=True)
class IndividualRisk:
    """Individual risk over the records of a sample.

    ``expected_reidentifications`` = sum of the records' risks. ``higher`` = records with a higher risk than
    the main part (risk > median + 2·1.4826·MAD), ``higher_and_above_threshold`` = those of them above 0.1.
    """

    mean: float
    highest: float
    expected_reidentifications: float
    higher: int
    higher_and_above_threshold: int


def summarize(sizes: np.ndarray, weights_sum: np.ndarray) -> IndividualRisk:
    """Individual risk of classes with the given sizes (records) and sums of sample weights."""
    if not len(sizes):
        return IndividualRisk(0.0, 0.0, 0.0, 0, 0)
    risks = individual_risk(sizes, weights_sum)
    expected = float(risks @ sizes)
    return IndividualRisk(expected / int(np.sum(sizes)), float(risks.max()), expected, *higher_risk(risks, sizes))


def individual_risk(frequencies: np.ndarray, population: np.ndarray) -> np.ndarray:
    """E[1/F | f] of classes with sample frequency f and estimated population frequency (sum of weights).

    F given f is negative binomial with success probability p = f/(sum of weights), so the risk is
    (p/f)·₂F₁(1, 1; f+1; 1−p). That is (p/(1−p))·ln(1/p) for f = 1, (p ln p + 1 − p)·p/(1−p)² for f = 2, and
    1/f for p → 1. A sum of weights below f counts as f.

    >>> individual_risk(np.array([1, 2, 4]), np.array([10.0, 10.0, 4.0])).round(4).tolist()
    [0.2558, 0.1494, 0.25]
    """
    f = np.asarray(frequencies, dtype=float)
    weight = np.maximum(np.asarray(population, dtype=float), f)
    p, rest = f / weight, (weight - f) / weight
    by_steps = (f < LARGE_CLASS) & (p <= 0.5)
    result = np.empty(f.shape)
    result[by_steps] = _by_recurrence(f[by_steps], p[by_steps], rest[by_steps])
    result[~by_steps] = _by_series(f[~by_steps], p[~by_steps], rest[~by_steps])
    return result


def higher_risk(risks: np.ndarray, records: np.ndarray, c: float = 2.0) -> tuple[int, int]:
    """Records with risk > median + c·1.4826·MAD (median and MAD over records); those also above 0.1.

    ``risks`` and ``records`` describe classes: each risk counts for as many records.
    """
    risks, records = np.asarray(risks, dtype=float), np.asarray(records, dtype=np.int64)
    if not records.sum():
        return 0, 0
    median = _median(risks, records)
    limit = median + c * MAD_SCALE * _median(np.abs(risks - median), records)
    # Equal risks may differ in their last bits.
    higher = risks > limit * (1 + 1e-9)
    return int(records[higher].sum()), int(records[higher & (risks > THRESHOLD + 1e-12)].sum())


def _median(values: np.ndarray, times: np.ndarray) -> float:
    """Median of the values, each repeated the given number of times."""
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(times[order])
    total = int(ends[-1])
    middle = np.searchsorted(ends, [(total - 1) // 2, total // 2], side="right")
    return float(values[order[middle]].mean())


def _by_recurrence(f: np.ndarray, p: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """p·I_f with I_f = ∫₀¹ y^(f−1)/(p+(1−p)y) dy: (1−p)·I_{f+1} = 1/f − p·I_f, stable upwards for p ≤ ½."""
    integral = -np.log(p) / rest
    for step in range(1, int(f.max(initial=1))):
        integral = np.where(f > step, (1 / step - p * integral) / rest, integral)
    return np.asarray(p * integral)


def _by_series(f: np.ndarray, p: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """(p/f)·Σ_n n!·(1−p)^n/((f+1)…(f+n)): positive terms, fast for large f and for p > ½."""
    term = p / f
    total: np.ndarray = term.copy()
    for n in range(1, 64):
        term = term * (n / (f + n) * rest)
        total += term
        if not (term > 1e-17 * total).any():
            break
    return total
