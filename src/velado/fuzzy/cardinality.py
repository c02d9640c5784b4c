"""How many elements a fuzzy set has: σ-count, fuzzy and non-fuzzy cardinality.

All functions take memberships of rows in classes and, if rows stand for several records, their counts; the result is
that of the repeated rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from velado.fuzzy.input_checks import checked_counts
from velado.results import Discreet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOLERANCE = 1e-12


def sigma_count(memberships: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
    """Σ μ of each class (De Luca and Termini, 1972).

    >>> sigma_count(np.array([[0.7], [0.6], [0.3], [0]]))
    array([1.6])
    """
    return np.asarray(checked_counts(counts, len(memberships)) @ memberships)


@dataclass(frozen=True, repr=False)
class FuzzyCardinality(Discreet):
    """The possibility of every number of elements, for each class (Ralescu, "Cardinality, quantifiers, and the
    aggregation of fuzzy criteria", Fuzzy Sets and Systems 69, 1995).

    ``degrees`` are the memberships of each class, descending; ``up_to`` the records up to and including each.

    >>> found = FuzzyCardinality.of(np.array([[0.7], [0.6], [0.3], [0]]))
    >>> found.exactly(np.arange(5))[:, 0]
    array([0.3, 0.4, 0.6, 0.3, 0. ])
    """

    degrees: np.ndarray
    up_to: np.ndarray

    @classmethod
    def of(cls, memberships: np.ndarray, counts: np.ndarray | None = None) -> FuzzyCardinality:
        """Sort the memberships of each class: O(n log n)."""
        records = checked_counts(counts, len(memberships))
        # One contiguous row per class: sorting and searching run along it.
        negative = -memberships.T
        order = np.argsort(negative, axis=1)
        return cls(-np.take_along_axis(negative, order, axis=1), np.cumsum(records[order], axis=1))

    @property
    def records(self) -> int:
        """Number of records N."""
        return int(self.up_to[0, -1])

    def degree(self, k: np.ndarray | int) -> np.ndarray:
        """μ₍ₖ₎, the k-th largest membership of each class; μ₍₀₎ = 1 and 0 beyond the last."""
        k = np.asarray(k)
        inside = np.clip(k, 1, self.records)
        found = [row[np.searchsorted(last, inside)] for row, last in zip(self.degrees, self.up_to, strict=True)]
        return np.select([k[..., None] <= 0, k[..., None] <= self.records], [1.0, np.stack(found, axis=-1)])

    def exactly(self, k: np.ndarray | int) -> np.ndarray:
        """Poss(|A| = k) = min(μ₍ₖ₎, 1 − μ₍ₖ₊₁₎), along the last axis for each class."""
        k = np.asarray(k)
        return np.asarray(np.minimum(self.degree(k), 1 - self.degree(k + 1)))

    def at_least(self, k: np.ndarray | int) -> np.ndarray:
        """Poss(|A| ≥ k), along the last axis for each class.

        With j = max{s : μ₍ₛ₋₁₎ + μ₍ₛ₎ > 1} it is μ₍ₖ₎ for k ≥ j and max(1 − μ₍ⱼ₎, μ₍ⱼ₎) below. Only the number J of
        memberships above ½ is needed: j is J or J + 1, and both cases are Poss(|A| = J) up to J and μ₍ₖ₎ beyond.
        """
        k = np.asarray(k)
        return np.where(k[..., None] <= self._above, self._peak, self.degree(k))

    @cached_property
    def _above(self) -> np.ndarray:
        rows = (self.degrees > 0.5).sum(axis=1)
        return np.where(rows > 0, self.up_to[np.arange(len(rows)), rows - 1], 0)

    @cached_property
    def _peak(self) -> np.ndarray:
        return np.diagonal(self.exactly(self._above))


def cardinality(memberships: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
    """The non-fuzzy cardinality #A of each class: the most possible number of elements.

    It is j if μ₍ⱼ₎ ≥ ½ and j − 1 otherwise, that is: the memberships above ½, and one more if some are exactly ½ (within
    1e-12: a membership of ½ must not depend on rounding). It is not additive: neither over a partition nor over the
    values of a sensitive column.
    """
    records = checked_counts(counts, len(memberships))
    above, half = _split(memberships)
    return np.asarray(records @ above + half.any(axis=0))


def value_cardinality(memberships: np.ndarray, histograms: csr_array) -> np.ndarray:
    """#(Q_i ∩ s) for each class and sensitive value; ``histograms`` as of `column_histograms`."""
    above, half = _split(memberships)
    values = histograms.T.tocsr()
    return np.asarray((values @ above + (values @ half > 0)).T)


def _split(memberships: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (memberships > 0.5 + TOLERANCE).astype(np.int64), (np.abs(memberships - 0.5) <= TOLERANCE).astype(np.int64)
