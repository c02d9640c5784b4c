"""Anonymity vectors: how many quasi-identifier values are shared by exactly 1, 2, 3, … people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, total_ordering
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from velado.appointments.integer_partitions import partition_numbers, with_parts_of_at_least
from velado.errors import InputError

if TYPE_CHECKING:
    from velado.frequency import FrequencyTable


MOST_SHOWN = 50
"""Components that are listed at a prompt."""


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

    @classmethod
    def of_components(cls, components: Mapping[int, int]) -> AnonymityVector:
        """The vector with these components, 0 elsewhere.

        >>> AnonymityVector.of_components({2: 1, 4: 2}).counts
        (0, 1, 0, 2)
        """
        return cls(tuple(components.get(j, 0) for j in range(1, max(components, default=0) + 1)))

    @property
    def components(self) -> dict[int, int]:
        """The components that are not 0, by their position."""
        return {j: count for j, count in enumerate(self.counts, 1) if count}

    def __lt__(self, other: AnonymityVector) -> bool:
        return self.counts < other.counts

    def __repr__(self) -> str:
        if len(self.counts) <= MOST_SHOWN:
            return f"AnonymityVector(counts={self.counts})"
        return f"<AnonymityVector k: {self.k}, people: {self.population}, groups: {sum(self.counts)}>"

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

    @cached_property
    def rank(self) -> int:
        """The thesis's pos: how many vectors of the same population are less anonymous (UCM, §2.5; measures.md §6).

        pos(v) = Σ_j P_{≥j}(r_j − j), r_j = N − Σ_{i≤j} i·v(i): the vectors that agree with v up to j − 1 and have more
        than v(j) groups of j. 0 for (N), p(N) − 1 for one group of all. Exact; about N^1.5 additions.

        >>> AnonymityVector((9, 4, 3, 1)).rank
        641
        """
        placed = accumulate(j * count for j, count in enumerate(self.counts, 1))
        return with_parts_of_at_least([self.population - people - j for j, people in enumerate(placed, 1)])


def number_of_vectors(population: int) -> int:
    """How many anonymity vectors a population can have: the partitions p(N) (UCM, §2.5).

    >>> number_of_vectors(100)
    190569292
    """
    return partition_numbers(population)[-1]


def difference(first: AnonymityVector, second: AnonymityVector) -> int:
    """pos(first) − pos(second): how many vectors more anonymous the first is; negative if it is less anonymous.

    UCM writes v1 − v2 in §2.5 and calls it a directed distance d(v1, v2) in §4.5.

    >>> difference(AnonymityVector((0, 2)), AnonymityVector((2, 1)))
    2
    """
    _of_one_population(first, second)
    return first.rank - second.rank


def distance(first: AnonymityVector, second: AnonymityVector) -> int:
    """dist(v1, v2) = |v1 − v2|: how many vectors lie between two, whichever is more anonymous (UCM, §2.5).

    >>> distance(AnonymityVector((2, 1)), AnonymityVector((0, 2)))
    2
    """
    return abs(difference(first, second))


def improvement(first: AnonymityVector, second: AnonymityVector, base: AnonymityVector) -> Fraction:
    """mejora(v1, v2, base) = (pos(v1) − pos(v2)) / pos(base): how much better the first is, as a share of the base.

    Exact, positive if the first is more anonymous (UCM, §2.5). Not defined where the base itself is the least anonymous
    vector of all: there is nothing to lose.

    >>> base, drawn = AnonymityVector((2, 3, 2, 4)), AnonymityVector((24, 3))
    >>> round(float(improvement(AnonymityVector((9, 4, 3, 1)), drawn, base)), 4)
    0.2008
    """
    _of_one_population(first, second, base)
    if base.rank == 0:
        raise InputError("worst-base", "before any appointment everybody is alone in a group: nothing can be compared")
    return Fraction(difference(first, second), base.rank)


def _of_one_population(*vectors: AnonymityVector) -> None:
    populations = sorted({v.population for v in vectors})
    if len(populations) > 1:
        raise InputError("different-populations", "only vectors of equally many people can be compared", values=populations)
