"""Published columns that are not quasi-identifiers: how far they single people out all the same.

A privacy model says nothing of them: an identifier that was called sensitive or insensitive passes every one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from velado.tables import Groups

NEVER = "never"
"""Nobody but the person and the keeper of the table knows it."""
COPY = 0.9
"""From this association on a column is nearly a copy of another."""
LEAST = 20
"""Among fewer records values are rare, and columns go together, by chance."""


@dataclass(frozen=True)
class Exposure:
    """How far a published column singles out the ``records`` (or people) that have a value in it.

    ``known``: whether others may know what it holds, possibly or never (nobody but the person and the keeper).
    ``singled_out`` have a value that nobody else has, ``few`` one that fewer than ``k`` have; ``together``: the same of the
    value with the released quasi-identifiers, by which alone ``few_known`` are in such small groups. ``content`` is what the
    values look like, if that names people; ``copies`` are the quasi-identifiers that the column nearly repeats. ``accepted``: the
    owner wants it published all the same; ``allowance`` is the share of the people of whom the owner wants that in any case.
    ``people``: these are counted, not records.
    """

    ALSO: ClassVar[tuple[str, ...]] = ("dangers",)
    column: str
    role: str
    k: int
    records: int
    singled_out: int
    few: int
    singled_out_together: int
    few_together: int
    content: str | None = None
    copies: tuple[str, ...] = ()
    accepted: bool = False
    people: bool = False
    known: str = "possibly"
    few_known: int = 0
    allowance: float = 0.0

    @classmethod
    def of(cls, column: str, role: str, k: int, alone: Groups, together: Groups, **more: Any) -> Exposure:
        """From the groups of equal values, alone and with the quasi-identifiers."""
        return cls(column, role, k, alone.records, alone.alone, alone.few, together.alone, together.few, **more)

    def with_groups(self, alone: Groups, together: Groups, **more: Any) -> Exposure:
        """The same column with other groups."""
        return replace(
            self,
            records=alone.records,
            singled_out=alone.alone,
            few=alone.few,
            singled_out_together=together.alone,
            few_together=together.few,
            **more,
        )

    @property
    def dangers(self) -> tuple[str, ...]:
        """Why the column should not be published as it is, the gravest first: names of `DANGERS`."""
        return tuple(name for name, found in DANGERS.items() if found(self))

    @property
    def is_refused(self) -> bool:
        """Whether it may not be published."""
        return bool(self.dangers) and not self.accepted


def _alone(e: Exposure) -> bool:
    """Others could know values that fewer than k have. Among few records only a column of all different values tells."""
    if e.known == NEVER:
        return False
    if e.records < LEAST:
        return e.role != "sensitive" and 1 < e.records == e.singled_out
    return e.few > e.allowance * e.records


def _together(e: Exposure) -> bool:
    """What others could know parts the records of a class into groups smaller than k."""
    return e.known != NEVER and e.records >= LEAST and e.few_together - e.few_known > e.allowance * e.records


def _copy(e: Exposure) -> bool:
    """Whoever knows the quasi-identifier knows the copy, whatever its owner says: small groups break k-anonymity."""
    return bool(e.copies) and e.few_together - e.few_known > e.allowance * e.records


DANGERS: dict[str, Callable[[Exposure], bool]] = {
    "content": lambda e: e.content is not None,
    "alone": _alone,
    "together": _together,
    "copy": _copy,
}
"""What makes a column an identifier in disguise, by name."""


def association(given: np.ndarray, told: np.ndarray, counts: np.ndarray, order: np.ndarray | None = None) -> float:
    """How well one column tells another: Goodman and Kruskal's λ (1954), 0 = not at all, 1 = always.

    Each record is guessed from the others with the same ``given`` code, so that a column of all different values tells
    nothing; with the ``order`` of its codes, one that nobody shares is guessed from its neighbours.

    >>> association(np.array([0, 0, 1, 1]), np.array([5, 5, 7, 7]), np.array([1, 1, 1, 1]))
    1.0
    >>> association(np.array([0, 1, 2, 3]), np.array([5, 5, 7, 7]), np.array([1, 1, 1, 1]))
    -1.0
    """
    total = int(counts.sum())
    base = int(np.bincount(told, weights=counts).max(initial=0))
    if base == total:
        return 0.0
    width = int(told.max()) + 1
    pairs, place = np.unique(given.astype(np.int64) * width + told, return_inverse=True)
    records = np.bincount(place, weights=counts).astype(np.int64)
    groups, values = pairs // width, pairs % width
    by_size = np.lexsort((values, -records, groups))
    groups, values, records = groups[by_size], values[by_size], records[by_size]
    first = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    after = np.minimum(first + 1, len(groups) - 1)
    second = np.where((after > first) & (groups[after] == groups[first]), records[after], 0)
    largest = records[first]
    right = int(largest[(largest > 1) & (largest - 1 >= second)].sum())
    if order is not None:
        right += _by_neighbours(order[groups[first]], values[first], np.add.reduceat(records, first))
    return (right - base) / (total - base)


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's ρ (1904) without its sign: 1 where one column goes up or down with the other, whatever the steps.

    >>> rank_correlation(np.array([1.0, 2, 3, 9]), np.array([40.0, 30, 20, 10]))
    1.0
    """
    if len(one) < 3:
        return 0.0
    ranks = [np.unique(x, return_inverse=True)[1].astype(float) for x in (one, other)]
    if any(r.max(initial=0) < 2 for r in ranks):
        return 0.0
    return float(abs(np.corrcoef(ranks[0], ranks[1])[0, 1]))


def _by_neighbours(rank: np.ndarray, value: np.ndarray, sizes: np.ndarray) -> int:
    """How many groups of one record have the value of the group before or behind them."""
    by_rank = np.argsort(rank, kind="stable")
    value, sizes = value[by_rank], sizes[by_rank]
    same = value[1:] == value[:-1]
    near = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    return int((near & (sizes == 1)).sum())


def refused_columns(exposures: Sequence[Exposure]) -> list[Exposure]:
    """The columns that may not be published."""
    return [e for e in exposures if e.is_refused]
