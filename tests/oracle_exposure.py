"""Joint exposure by brute force, from its definition: for tables of a few rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

Row = Sequence[str | None]


def alike(rows: Sequence[Row], people: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Per row how many different people show the same cells on the columns; 0 stands for nobody known."""
    shown = [tuple(row[c] for c in columns) for row in rows]
    return [max(1, len({p for p, other in zip(people, shown, strict=True) if other == mine and p})) for mine in shown]


def by_person(figures: Sequence[int], people: Sequence[int]) -> list[int]:
    """The smallest figure over the rows of each person; rows of nobody known are each somebody."""
    known = {p: min(f for f, q in zip(figures, people, strict=True) if q == p) for p in set(people) if p}
    return [*known.values(), *(f for f, p in zip(figures, people, strict=True) if not p)]


def keys(rows: Sequence[Row], people: Sequence[int], columns: Sequence[int], k: int) -> dict[str, int]:
    """People by the size of the smallest set of columns on which fewer than k look alike."""
    smallest = [5] * len(rows)
    for size in (4, 3, 2, 1):
        sets = [tuple(columns)] if size == 4 else list(itertools.combinations(columns, size))
        for chosen in sets:
            for i, n in enumerate(alike(rows, people, chosen)):
                if n < k:
                    smallest[i] = size
    found = by_person(smallest, people)
    names = ("1", "2", "3", "more", "never")
    return {name: found.count(i) for i, name in enumerate(names, start=1)}


def small(rows: Sequence[Row], people: Sequence[int], columns: Sequence[int], k: int) -> tuple[int, int]:
    """How many people are alone on the columns, and in groups smaller than k."""
    found = by_person(alike(rows, people, columns), people)
    return found.count(1), sum(n < k for n in found)


def narrowed(labels: Sequence[str], values: Sequence[str], cells: Sequence[str]) -> tuple[float, int, int]:
    """Share of a label's original values that is left for who knows the cell; people with one left; people with several."""
    left, one, hidden = 0.0, 0, 0
    for label, cell in zip(labels, cells, strict=True):
        behind = {v for v, other in zip(values, labels, strict=True) if other == label}
        both = {v for v, x, y in zip(values, labels, cells, strict=True) if (x, y) == (label, cell)}
        if len(behind) > 1:
            hidden += 1
            left += len(both) / len(behind)
            one += len(both) == 1
    return left / max(hidden, 1), one, hidden
