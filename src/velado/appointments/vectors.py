"""Anonymity vectors: how many quasi-identifier values are shared by exactly 1, 2, 3, … people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, total_ordering
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from velado.frequency import FrequencyTable


@total_ordering
@dataclass(frozen=True, eq=True)
class AnonymityVector:
    """v(j), j = 1, 2, …: the number of quasi-identifier values that exactly j people share (measures.md §6; UCM, def. 1).

    In normal form: no zeros at the end. Smaller in lexicographic order is more anonymous (generalized k-anonymity, UCM,
    def. 2), so ``a < b`` reads *a is more anonymous than b*.

    >>> AnonymityVector((0, 2, 1, 2)) < AnonymityVector((9, 3, 0))
    True
    """

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        counts = tuple(int(c) for c in self.counts)
        while counts and counts[-1] == 0:
            counts = counts[:-1]
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of_sizes(cls, sizes: Iterable[int] | np.ndarray) -> AnonymityVector:
        """The vector of groups of these sizes; empty groups do not count.

        >>> AnonymityVector.of_sizes([4, 4, 5, 2])
        AnonymityVector(counts=(0, 1, 0, 2, 1))
        """
        array = np.asarray(list(sizes) if not isinstance(sizes, np.ndarray) else sizes, dtype=np.int64)
        return cls(tuple(np.bincount(array)[1:].tolist()))

    @classmethod
    def of(cls, frequency: FrequencyTable) -> AnonymityVector:
        """The vector of a table with its quasi-identifiers."""
        return cls.of_sizes(frequency.counts)

    def __lt__(self, other: AnonymityVector) -> bool:
        return self.counts < other.counts

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.counts)) + ")"

    @property
    def k(self) -> int:
        """The k of k-anonymity: the first position that is not 0; 0 of nobody."""
        return next((j for j, count in enumerate(self.counts, 1) if count), 0)

    @cached_property
    def population(self) -> int:
        """N = Σ j·v(j)."""
        return sum(j * count for j, count in enumerate(self.counts, 1))
