"""What c-means and Gustafson–Kessel share: memberships from distances, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.fuzzy.clustering import Clusterer
from velado.parameters import Choice, Number

TINY = 1e-30
"""Squared distances below it count as this: a point on a centre belongs to it."""


@dataclass(frozen=True)
class FuzzyClusterer(Clusterer):
    """Memberships and centres by turns, until no membership changes by more than ``tolerance``.

    ``stop: rise`` looks at rises alone, as the software of the study Oviedo did.
    """

    fuzzifier: float = 2.0
    tolerance: float = 1e-5
    stop: str = "change"
    parameters: ClassVar = {
        **Clusterer.parameters,
        "fuzzifier": Number("exponent m of the memberships; the larger, the fuzzier", low=1, low_open=True, high=100, expert=True),
        "tolerance": Number("largest change of a membership at rest", low=0, low_open=True, high=1, expert=True),
        "stop": Choice("which changes of memberships count: all, or only rises", ("change", "rise"), expert=True),
    }

    def membership(self, squares: np.ndarray) -> np.ndarray:
        """1 / Σ_j (d_i/d_j)^(2/(m−1)), sets × rows; the squared distances are overwritten."""
        np.maximum(squares, TINY, out=squares)
        if self.fuzzifier == 2:
            np.reciprocal(squares, out=squares)
        else:
            # Relative to the nearest centre: powers of small distances overflow.
            np.divide(squares.min(axis=0), squares, out=squares)
            np.power(squares, 1 / (self.fuzzifier - 1), out=squares)
        squares *= 1 / squares.sum(axis=0)
        return squares

    def apply_fuzzifier(self, memberships: np.ndarray, out: np.ndarray) -> np.ndarray:
        """μ^m; squares without a power."""
        if self.fuzzifier == 2:
            np.multiply(memberships, memberships, out=out)
        else:
            np.power(memberships, self.fuzzifier, out=out)
        return out

    def change(self, difference: np.ndarray) -> float:
        """How much memberships have changed, given new − old."""
        rise = float(difference.max())
        return max(rise, -float(difference.min())) if self.stop == "change" else rise


def weighted_means(sums: np.ndarray, totals: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The new centres; a set to which nobody belongs keeps its own."""
    means = before.copy()
    np.divide(sums, totals[:, None], out=means, where=totals[:, None] > 0)
    return means
