"""Privacy of fuzzy classes: Q-anonymity, fuzzy ℓ-diversity, fuzzy posterior, fuzzy t-closeness.

Definitions of the thesis of the Universidad de Oviedo on privacy with fuzzy sets (``measures.md`` §5).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from velado.errors import InputError, suggest
from velado.fuzzy.cardinality import TOLERANCE, FuzzyCardinality, cardinality, value_cardinality
from velado.sentences import Sentence

if TYPE_CHECKING:
    from scipy.sparse import csr_array

AGGREGATIONS: dict[str, Callable[..., np.ndarray]] = {
    "mean": np.mean,
    "minimum": np.min,
    "median": np.median,
    "maximum": np.max,
    "product": np.prod,
}
"""Operators from possibilities of classes to that of the table: monotone, 0 of zeros, 1 of ones."""
CHUNK_CELLS = 1 << 20


def q_anonymity(classes: FuzzyCardinality, k: np.ndarray | int, aggregation: str = "mean") -> np.ndarray:
    """The possibility that the fuzzy classes have at least k elements: Poss(|class| ≥ k), aggregated over the classes."""
    if aggregation not in AGGREGATIONS:
        raise InputError(
            "bad-aggregation",
            Sentence("there is no aggregation '{name}'", name=aggregation),
            hint=suggest(aggregation, AGGREGATIONS),
        )
    return AGGREGATIONS[aggregation](classes.at_least(k), axis=-1)


def largest_q(classes: FuzzyCardinality, possibility: float = 0.5, aggregation: str = "mean") -> int:
    """The largest Q with a Q-anonymity of at least ``possibility``; 0 if there is none.

    The possibility never rises with Q, so it is found by bisection.
    """
    low, high = 0, classes.records
    while low < high:
        middle = (low + high + 1) // 2
        if q_anonymity(classes, middle, aggregation) >= possibility - TOLERANCE:
            low = middle
        else:
            high = middle - 1
    return low


def diversity(cardinalities: np.ndarray) -> np.ndarray:
    """The number of sensitive values that each class has: those with #(Q_i ∩ s) ≥ 1, see `value_cardinality`.

    The fuzzy ℓ of a table is the smallest over its classes.
    """
    return np.asarray((cardinalities >= 1).sum(axis=1))


def posterior(memberships: np.ndarray, histograms: csr_array) -> csr_array:
    """β(q, s, T*): what somebody who knows a row's quasi-identifiers q believes about its sensitive value s.

    β = g(s)/Σ g(s'), g(s) = (Σ_i μ_i(q)·#(Q_i∩s)) · f(s|q) / Σ_i μ_i(q)·#(Q_i∩s)/#Q_i, with f(s|q) the share of s among
    the records of the row. g is 0 where no class of q has s; a row where all are has no posterior (no number, nan).
    """
    shares = histograms.astype(float)
    rows = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    shares.data /= np.asarray(histograms.sum(axis=1))[rows]
    of_value = value_cardinality(memberships, histograms).astype(float)
    of_class = np.maximum(cardinality(memberships, np.asarray(histograms.sum(axis=1))), 1)
    expected = _entries(memberships, of_value, rows, shares.indices)
    share = _entries(memberships, of_value / of_class[:, None], rows, shares.indices)
    belief = shares.data * np.divide(expected, share, out=np.zeros_like(share), where=share > 0)
    total = np.bincount(rows, weights=belief, minlength=shares.shape[0])[rows]
    shares.data = np.divide(belief, total, out=np.full_like(belief, np.nan), where=total > 0)
    return shares


def surest_belief(memberships: np.ndarray, histograms: csr_array, prior: np.ndarray) -> np.ndarray:
    """The largest β(q, s, T*) over the sensitive values s, for each row as q, of somebody whose f(s|q) is ``prior``.

    β as in `posterior`. With f the distribution of the whole table the classes tell which values are possible, and how
    much a mixture of classes shifts the odds. No number (nan) where no class of the row has a value.
    """
    of_value = value_cardinality(memberships, histograms).astype(float)
    of_class = np.maximum(cardinality(memberships, np.asarray(histograms.sum(axis=1))), 1)
    shares = of_value / of_class[:, None]
    surest = np.full(len(memberships), np.nan)
    step = max(CHUNK_CELLS // max(len(prior), 1), 1)
    for first in range(0, len(memberships), step):
        part = memberships[first : first + step]
        share = part @ shares
        belief = prior * np.divide(part @ of_value, share, out=np.zeros_like(share), where=share > 0)
        total = belief.sum(axis=1)
        np.divide(belief.max(axis=1), total, out=surest[first : first + step], where=total > 0)
    return surest


def _entries(left: np.ndarray, right: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Single entries of a matrix product."""
    return np.asarray(np.einsum("ei,ie->e", left[rows], right[:, columns]))


def distributions(weights: np.ndarray) -> np.ndarray:
    """Classes × values, each row divided by its sum; a class without values stays 0."""
    weights = np.asarray(weights, dtype=float)
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.zeros_like(weights)
    np.divide(weights, totals, out=shares, where=totals > 0)
    return shares


def closeness(memberships: np.ndarray, of_classes: np.ndarray, expected: np.ndarray, ordered: bool = False) -> np.ndarray:
    """The distance EMD(P_x, Q) of every row x, P_x = Σ_i μ_i(x)·P_i the mixture of its classes' distributions.

    The t of a table is the largest. The ground distance is equal, or ordered (values in their order). A class without
    values (nobody belongs to it by at least ½) has no distribution: the memberships in the others are scaled to sum
    to 1. A row without any other class has distance 1, the largest.
    """
    known = of_classes.sum(axis=1) > 0
    difference = of_classes[known] - expected
    if ordered:
        # Sums commute with mixtures, so they are taken once for each class.
        difference = np.cumsum(difference, axis=1)[:, :-1] / max(len(expected) - 1, 1)
    else:
        difference = difference / 2
    result = np.ones(len(memberships))
    step = max(CHUNK_CELLS // max(len(expected), 1), 1)
    for first in range(0, len(memberships), step):
        part = memberships[first : first + step, known]
        total = part.sum(axis=1)
        distance = np.abs(part @ difference).sum(axis=1)
        np.divide(distance, total, out=result[first : first + step], where=total > 0)
    return result
