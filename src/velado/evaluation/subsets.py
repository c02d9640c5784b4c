"""Sets of quasi-identifiers: how far each tells records apart, before and after.

Distinction and separation are those of Motwani and Xu (2007), which ARX shows of quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from velado.evaluation.pair import Pair
from velado.frequency.table import distinct_rows
from velado.progress import Progress
from velado.results import Discreet

LARGEST = 3
"""Sets of more columns are not looked at, but that of all."""
MOST = 600
"""Sets; where there are more, smaller ones only."""


@dataclass(frozen=True)
class Told:
    """How far a set of columns tells records apart.

    ``groups`` different rows of values, the ``smallest`` of so many records; ``singled_out`` records are alone with theirs.
    ``distinction`` = groups/records; ``separation`` = share of the pairs of records that differ.
    """

    groups: int
    smallest: int
    singled_out: int
    distinction: float
    separation: float


@dataclass(frozen=True, repr=False)
class Subset(Discreet):
    """A set of quasi-identifiers in the original and in the release."""

    NAMES: ClassVar[tuple[str, ...]] = ("columns",)
    columns: tuple[str, ...]
    before: Told
    after: Told


def subsets(pair: Pair, progress: Progress | None = None) -> tuple[Subset, ...]:
    """Every set of up to three quasi-identifiers and that of all, those that single out the most records first.

    Records are counted, also where a person has several; suppressed ones are in the original only.
    """
    progress = progress or Progress()
    chosen = list(sets_of(len(pair.columns)))
    codes = np.ascontiguousarray(pair.original.codes.T)
    labels = np.array([_visible_codes(pair, j) for j in range(len(pair.columns))])
    leaves = [len(h.leaves) for h in pair.original.hierarchies]
    shown = [len(c.labels) for c in pair.covers]
    found = []
    for number, columns in enumerate(chosen):
        progress.at(number, len(chosen))
        before = _measure_groups(codes[list(columns)], [leaves[j] for j in columns], pair.original.counts)
        after = _measure_groups(labels[list(columns)], [shown[j] for j in columns], pair.sizes)
        found.append(Subset(tuple(pair.columns[j] for j in columns), before, after))
    return tuple(sorted(found, key=lambda s: (-s.before.singled_out, -s.after.singled_out, len(s.columns))))


def sets_of(columns: int) -> Iterator[tuple[int, ...]]:
    """The sets of so many columns that are looked at.

    >>> list(sets_of(2))
    [(0,), (1,), (0, 1)]
    """
    looked = 0
    for size in range(1, min(columns, LARGEST) + 1):
        found = list(combinations(range(columns), size))
        looked += len(found)
        if size > 1 and looked > MOST:
            break
        yield from found
        if size == columns:
            return
    yield tuple(range(columns))


def _visible_codes(pair: Pair, j: int) -> np.ndarray:
    """What every class shows in a column; equal texts are one label."""
    number: dict[str | None, int] = {}
    same = [number.setdefault(text, len(number)) for text in pair.covers[j].labels]
    return np.asarray(np.array(same, dtype=np.int64)[pair.labels[:, j]])


def _measure_groups(codes: np.ndarray, widths: list[int], counts: np.ndarray) -> Told:
    _, group = distinct_rows(codes, widths)
    sizes = np.bincount(group, weights=counts).astype(np.int64)
    sizes = sizes[sizes > 0]
    records = int(sizes.sum())
    alike = float((sizes.astype(float) * (sizes - 1)).sum())
    pairs = float(records) * (records - 1)
    return Told(
        groups=len(sizes),
        smallest=int(sizes.min(initial=records)),
        singled_out=int((sizes == 1).sum()),
        distinction=len(sizes) / records if records else 0.0,
        separation=1 - alike / pairs if pairs else 0.0,
    )
