"""Published columns that are not quasi-identifiers: how far they single people out all the same.

A privacy model says nothing of them: an identifier that was called sensitive or insensitive passes every one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from velado.tables import Groups

TOO_MANY = 0.2
"""Above this share of the records that have a value, a column is an identifier in disguise."""
TOO_MANY_COPIED = 0.05
"""Above this share in small groups, a near-copy of a quasi-identifier takes back what was generalized."""
COPY = 0.9
"""From this association on a column is nearly a copy of another."""
LEAST = 20
"""Among fewer records values are rare, and columns go together, by chance."""


@dataclass(frozen=True)
class Exposure:
    """How far a published column singles out the ``records`` (or people) that have a value in it.

    ``singled_out`` have a value that nobody else has, ``few`` one that fewer than ``k`` (at most five) have; ``together``: the same of the
    value with the released quasi-identifiers. ``content`` is what the values look like, if that names people; ``copies`` are
    the quasi-identifiers that the column nearly repeats. ``knowingly``: the owner wants it published all the same. ``people``: these are counted, not records.
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
    knowingly: bool = False
    people: bool = False

    @classmethod
    def of(cls, column: str, role: str, k: int, alone: Groups, together: Groups, **more: Any) -> Exposure:
        """From the groups of equal values, alone and with the quasi-identifiers."""
        return cls(column, role, k, alone.records, alone.alone, alone.few, together.alone, together.few, **more)

    @property
    def dangers(self) -> tuple[str, ...]:
        """Why the column should not be published as it is, the gravest first: names of `DANGERS`."""
        return tuple(name for name, found in DANGERS.items() if found(self))

    @property
    def refused(self) -> bool:
        """Whether it may not be published."""
        return bool(self.dangers) and not self.knowingly


def _alone(e: Exposure) -> bool:
    """Too many values are rare. Among few records that is the rule, and only a column of all different values tells."""
    if e.records < LEAST:
        return e.role != "sensitive" and 1 < e.records == e.singled_out
    return e.few > TOO_MANY * e.records


def _together(e: Exposure) -> bool:
    """Records of a class are told apart; the values of a sensitive column are meant to differ there."""
    return e.role != "sensitive" and e.records >= LEAST and e.singled_out_together > TOO_MANY * e.records


def _copy(e: Exposure) -> bool:
    """Whoever knows the quasi-identifier knows the copy: it counts as one, and small groups break k-anonymity.

    A sensitive value that others know is no secret, but the groups of its values say nothing about that.
    """
    return e.role != "sensitive" and bool(e.copies) and e.few_together > TOO_MANY_COPIED * e.records


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


def _by_neighbours(rank: np.ndarray, value: np.ndarray, sizes: np.ndarray) -> int:
    """How many groups of one record have the value of the group before or behind them."""
    by_rank = np.argsort(rank, kind="stable")
    value, sizes = value[by_rank], sizes[by_rank]
    same = value[1:] == value[:-1]
    near = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    return int((near & (sizes == 1)).sum())


def refused(exposures: Sequence[Exposure]) -> list[Exposure]:
    """The columns that may not be published."""
    return [e for e in exposures if e.refused]
