"""Fuzzy sets of numbers and fuzzy partitions of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from velado.errors import InputError
from velado.fuzzy.input_checks import checked_values
from velado.sentences import Sentence

SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class FuzzySet:
    """The trapezoid (a; b; c; d): membership rises from 0 at a to 1 at b, is 1 up to c and falls to 0 at d.

    A triangle has b = c. A set that is open to the left has a = b = −∞, one open to the right c = d = ∞. Zadeh,
    "Fuzzy sets", Information and Control 8 (1965).

    >>> FuzzySet.triangular(2, 5, 8).membership([3.5, 5, 7])
    array([0.5       , 1.        , 0.33333333])
    """

    a: float
    b: float
    c: float
    d: float

    def __post_init__(self) -> None:
        left = self.a < self.b if math.isfinite(self.b) else self.a == self.b == -math.inf
        right = self.c < self.d if math.isfinite(self.c) else self.c == self.d == math.inf
        inside = self.b <= self.c and math.isfinite(self.a) == math.isfinite(self.b)
        if not (left and right and inside and math.isfinite(self.c) == math.isfinite(self.d)):
            raise InputError(
                "bad-breakpoints",
                "the corners of a fuzzy set must be numbers in ascending order",
                values=(f"{x:g}" for x in (self.a, self.b, self.c, self.d)),
                hint="Two corners are the same only at the peak of a triangle, or at infinity.",
            )

    @classmethod
    def triangular(cls, a: float, b: float, c: float) -> FuzzySet:
        """(a; b; c): 0 at a, 1 at b, 0 at c."""
        return cls(a, b, b, c)

    @classmethod
    def falling(cls, a: float, b: float) -> FuzzySet:
        """(−∞; a; b): 1 up to a, 0 from b."""
        return cls(-math.inf, -math.inf, a, b)

    @classmethod
    def rising(cls, a: float, b: float) -> FuzzySet:
        """(a; b; ∞): 0 up to a, 1 from b."""
        return cls(a, b, math.inf, math.inf)

    @property
    def corners(self) -> list[float]:
        """The finite corners, ascending."""
        return sorted({x for x in (self.a, self.b, self.c, self.d) if math.isfinite(x)})

    def membership(self, values: Sequence[float] | np.ndarray) -> np.ndarray:
        """The degree to which each number belongs to the set."""
        x = np.asarray(values, dtype=float)
        degree = np.ones_like(x)
        if math.isfinite(self.a):
            degree = np.minimum(degree, (x - self.a) / (self.b - self.a))
        if math.isfinite(self.d):
            degree = np.minimum(degree, (self.d - x) / (self.d - self.c))
        return np.asarray(np.maximum(degree, 0.0))


@dataclass(frozen=True)
class FuzzyPartition:
    """Fuzzy sets whose memberships sum to 1 for every number (Ruspini, "A new approach to clustering", 1969).

    >>> FuzzyPartition.triangular([30, 42, 54]).memberships([29, 36, 67])
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """

    sets: tuple[FuzzySet, ...]
    column: str | None = None

    def __post_init__(self) -> None:
        # The sum is continuous and linear between corners, and constant outside them.
        corners = sorted({x for s in self.sets for x in s.corners}) or [0.0]
        probes = np.array([corners[0] - 1, *corners, corners[-1] + 1])
        sums = np.sum([s.membership(probes) for s in self.sets], axis=0) if self.sets else np.zeros(len(probes))
        wrong = np.abs(sums - 1) > SUM_TOLERANCE
        if wrong.any():
            raise InputError(
                "not-a-partition",
                "the memberships of the fuzzy sets do not sum to 1 everywhere",
                column=self.column,
                values=(f"{sum_:g} at {x:g}" for x, sum_ in zip(probes[wrong], sums[wrong], strict=True)),
                hint="Let every set begin to rise where the one before it begins to fall.",
            )

    @classmethod
    def triangular(cls, peaks: Sequence[float], column: str | None = None) -> FuzzyPartition:
        """As many triangles as peaks, the first and the last open: p₁, p₂, p₃ → (−∞;p₁;p₂) (p₁;p₂;p₃) (p₂;p₃;∞)."""
        p = _breakpoints(peaks, column)
        inner = (FuzzySet.triangular(*p[i : i + 3]) for i in range(len(p) - 2))
        return cls((FuzzySet.falling(*p[:2]), *inner, FuzzySet.rising(*p[-2:])), column)

    @classmethod
    def trapezoidal(cls, corners: Sequence[float], column: str | None = None) -> FuzzyPartition:
        """Neighbours cross between two corners each: p₁ … p₄ → (−∞;p₁;p₂) (p₁;p₂;p₃;p₄) (p₃;p₄;∞)."""
        p = _breakpoints(corners, column)
        if len(p) % 2:
            raise InputError(
                "bad-breakpoints",
                Sentence("trapezoids need an even number of breakpoints, got {breakpoints}", breakpoints=len(p)),
                column=column,
                hint="Two for each pair of neighbours: where one begins to fall, and where it has fallen to 0.",
            )
        inner = (FuzzySet(*p[i : i + 4]) for i in range(0, len(p) - 2, 2))
        return cls((FuzzySet.falling(*p[:2]), *inner, FuzzySet.rising(*p[-2:])), column)

    def memberships(self, values: Sequence[float] | np.ndarray) -> np.ndarray:
        """Rows × sets; each row sums to 1."""
        x = checked_values(values, self.column)
        return np.stack([s.membership(x) for s in self.sets], axis=1)


def _breakpoints(points: Sequence[float], column: str | None) -> list[float]:
    numbers = [float(x) for x in points if isinstance(x, (int, float, np.number)) and math.isfinite(x)]
    if len(numbers) < 2 or len(numbers) < len(points) or any(x >= y for x, y in pairwise(numbers)):
        raise InputError(
            "bad-breakpoints",
            "breakpoints must be at least two numbers in ascending order, all different",
            column=column,
            values=points,
        )
    return numbers
