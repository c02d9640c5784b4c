"""The two coupled flows of a plain problem, as linear equations in whole numbers.

Two pieces of one group in one slot are better as one piece. So only the multiset of pieces matters: with x_n pieces of
size n, the groups are partitioned into these pieces, and the pieces are packed into the slots. Both are flows in small
graphs whose nodes are 0, 1, …, largest size, and whose arcs v → v + n are pieces (Valério de Carvalho, "Exact solution of
bin-packing problems using column generation and branch-and-bound", Annals of Operations Research 86, 1999). Groups of one
size are one demand and slots of one capacity one supply, so the equations do not grow with the people.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from velado.progress import Progress
from velado.results import Discreet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PIECES, GROUPS, SLOTS, UNUSED = "pieces", "groups", "slots", "unused"


@dataclass(frozen=True, repr=False)
class System(Discreet):
    """Whole numbers x with ``matrix`` · x = ``right`` and ``lower`` ≤ x ≤ ``upper``; ``keys`` names the columns."""

    keys: list[Hashable]
    matrix: csr_array
    right: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@dataclass(repr=False)
class _Equations(Discreet):
    """Columns and rows as they come; a row is there as soon as it is named."""

    columns: list[tuple[Hashable, int, int]] = field(default_factory=list)
    rows: dict[Hashable, int] = field(default_factory=dict)
    right: dict[int, int] = field(default_factory=dict)
    entries: list[tuple[int, int, int]] = field(default_factory=list)

    def row(self, key: Hashable) -> int:
        return self.rows.setdefault(key, len(self.rows))

    def column(self, key: Hashable, low: int, high: int, entries: Mapping[Hashable, int]) -> None:
        self.entries += [(self.row(row), len(self.columns), value) for row, value in entries.items()]
        self.columns.append((key, low, high))

    def system(self) -> System:
        from scipy.sparse import coo_array

        keys, lower, upper = zip(*self.columns, strict=True)
        row, column, value = np.array(self.entries, dtype=np.int64).T
        matrix = coo_array((value, (row, column)), shape=(len(self.rows), len(keys))).tocsr()
        right = np.array([self.right.get(i, 0) for i in range(len(self.rows))], dtype=np.int64)
        return System(list(keys), matrix, right, np.array(lower, dtype=np.int64), np.array(upper, dtype=np.int64))


def coupled_flows(
    sizes: Mapping[int, int], capacities: Mapping[int, int], fixed: Sequence[int], progress: Progress | None = None
) -> System:
    """How many groups and slots there are of each size; the first components of the vector (x_1, x_2, …) are given.

    Columns: (PIECES, n) is x_n, (GROUPS, v, n) and (SLOTS, v, n) are flows on arcs, (UNUSED, v) slots of capacity v or
    more that nothing of length v or more has taken.
    """
    progress = progress or Progress()
    rest = sum(size * count for size, count in sizes.items()) - sum(n * count for n, count in enumerate(fixed, 1))
    largest = min(max(sizes), max(capacities))
    most = {n: fixed[n - 1] if n <= len(fixed) else rest // n for n in range(1, largest + 1)}
    pieces = [n for n, count in most.items() if count]
    made = _Equations()
    for n in pieces:
        low = most[n] if n <= len(fixed) else 0
        made.column((PIECES, n), low, most[n], {(GROUPS, "of size", n): -1, (SLOTS, "of size", n): -1})
    for side, ends in ((GROUPS, sizes), (SLOTS, capacities)):
        nodes = set(ends)
        reaching = [sum(count for end, count in ends.items() if end >= v) for v in range(max(ends) + 1)]
        for v, n in _arcs(pieces, ends, exact=side == GROUPS):
            progress.check()
            entries: dict[Hashable, int] = {(side, "of size", n): 1, (side, v + n): 1}
            if v:
                entries[side, v] = -1
            made.column((side, v, n), 0, min(most[n], reaching[v + n]), entries)
            nodes.add(v + n)
        for end, count in ends.items():
            made.right[made.row((side, end))] = count
    smaller: dict[Hashable, int] = {}
    for v in sorted(nodes):
        made.column((UNUSED, v), 0, sum(capacities.values()), {(SLOTS, v): 1, **smaller})
        smaller = {(SLOTS, v): -1}
    return made.system()


def _arcs(pieces: Sequence[int], ends: Mapping[int, int], exact: bool) -> Iterator[tuple[int, int]]:
    """Arcs (v, n) on paths from 0 whose pieces do not grow; exact: only those that can end at one of the ends."""
    furthest = max(ends)
    last = [max(pieces, default=0)] + [0] * furthest
    arcs = []
    for v in range(furthest):
        for n in pieces:
            if n > min(last[v], furthest - v):
                break
            arcs.append((v, n))
            last[v + n] = max(last[v + n], n)
    if not exact:
        return iter(arcs)
    useful, kept = set(ends), []
    for v, n in reversed(arcs):
        if v + n in useful:
            useful.add(v)
            kept.append((v, n))
    return reversed(kept)
