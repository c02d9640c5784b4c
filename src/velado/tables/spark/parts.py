"""What executors do with the places of records: which part each record is in, and how the records of each part lie on a column.

Rows come in batches of Arrow. Nothing is written for a level of cuts: a record's part follows from its places and from all
cuts so far, which every executor gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from velado.results import Discreet
from velado.tables.contract import Cut, PartMarginal

if TYPE_CHECKING:
    import pyarrow as pa

COUNTED = ("part", "pair", "place", "code", "n")
CHUNK = 500_000
"""Records that are counted at once: what Spark sends at once is too little."""
KEPT = 4_000_000
"""Counts that may wait to be added up."""
PLACE_BITS = 32


@dataclass(frozen=True, repr=False)
class Level(Discreet):
    """The cuts of one level: the column on which each part is cut (−1: it is not), and all pieces by part and first place."""

    column: np.ndarray
    first: np.ndarray
    last: np.ndarray
    new: np.ndarray

    @classmethod
    def of(cls, cuts: Mapping[int, Cut]) -> Level:
        """All cuts of a level as arrays."""
        column = np.full(max(cuts) + 1, -1, dtype=np.int64)
        for part, cut in cuts.items():
            column[part] = cut.column
        pieces = sorted((part, *piece) for part, cut in cuts.items() for piece in cut.pieces)
        part, low, high, new = np.array(pieces, dtype=np.int64).T
        return cls(column, (part << PLACE_BITS) + low, (part << PLACE_BITS) + high, new)

    def move(self, parts: np.ndarray, places: Sequence[np.ndarray]) -> np.ndarray:
        """The part of each record after these cuts."""
        column = np.where(parts < len(self.column), self.column[np.minimum(parts, len(self.column) - 1)], -1)
        rows = np.flatnonzero(column >= 0)
        if not len(rows):
            return parts
        place = np.zeros(len(parts), dtype=np.int64)
        for j, of_column in enumerate(places):
            on = column == j
            place[on] = of_column[on]
        key = (parts[rows] << PLACE_BITS) + place[rows]
        piece = np.searchsorted(self.first, key, side="right") - 1
        assert (key <= self.last[piece]).all(), "a record lies between the pieces of its part"
        moved = parts.copy()
        moved[rows] = self.new[piece]
        return moved


def parts_of(levels: Sequence[Level], places: Sequence[np.ndarray]) -> np.ndarray:
    """The part of each record after all cuts; the whole is part 0."""
    parts = np.zeros(len(places[0]), dtype=np.int64)
    for level in levels:
        parts = level.move(parts, places)
    return parts


class Counting:
    """Counts by part, place and code, added up from pieces of a table; one count for each pair of a column and a coded column."""

    def __init__(self, places: Sequence[int], codes: Sequence[int]) -> None:
        """``places`` and ``codes``: how many of them each column has."""
        self._sizes = [(a, b) for a in places for b in codes or [1]]
        self._waiting: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in self._sizes]

    def add(self, parts: np.ndarray, places: Sequence[np.ndarray], codes: Sequence[np.ndarray]) -> None:
        """Count some records."""
        coded = codes or [np.zeros(len(parts), dtype=np.int64)]
        pairs = [(place, code) for place in places for code in coded]
        for (width, domain), (place, code), waiting in zip(self._sizes, pairs, self._waiting, strict=True):
            waiting.append(np.unique((parts * width + place) * domain + code, return_counts=True))
            if sum(len(keys) for keys, _ in waiting) > KEPT:
                waiting[:] = [_added_up(waiting)]

    def count_batches(self) -> Iterator[pa.RecordBatch]:
        """All counts as rows: part, pair, place, code, records."""
        import pyarrow as pa

        for pair, ((width, domain), waiting) in enumerate(zip(self._sizes, self._waiting, strict=True)):
            if waiting:
                keys, counts = _added_up(waiting)
                places, codes = np.divmod(keys, domain)
                parts, places = np.divmod(places, width)
                cells = (parts, np.full(len(keys), pair), places, codes, counts)
                yield pa.record_batch([pa.array(x.astype(np.int64)) for x in cells], names=list(COUNTED))


def _added_up(waiting: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    keys, number = np.unique(np.concatenate([keys for keys, _ in waiting]), return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, number, np.concatenate([counts for _, counts in waiting]))
    return keys, counts


def counting_work(
    levels: Sequence[Level], opened: Sequence[int], places: Sequence[int], codes: Sequence[int]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What an executor does with the records of a partition: count those of the parts that are ``opened``."""
    wanted = np.zeros(max(opened) + 1, dtype=bool)
    wanted[list(opened)] = True

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counting = Counting(places, codes)
        for columns in chunks(batches):
            parts = parts_of(levels, columns[: len(places)])
            rows = np.flatnonzero((parts < len(wanted)) & wanted[np.minimum(parts, len(wanted) - 1)])
            chosen = [c[rows] for c in columns]
            counting.add(parts[rows], chosen[: len(places)], chosen[len(places) :])
        yield from counting.count_batches()

    return work


def deciding_work(work: Callable[[list[PartMarginal]], bytes], columns: int, coded: int) -> Callable[[pa.Table], pa.Table]:
    """What an executor does with all counts of a part: add them up, and work on how the part lies on every column."""

    def on_part(counted: pa.Table) -> pa.Table:
        import pyarrow as pa

        part, pair, places, codes, counts = (counted.column(name).to_numpy() for name in COUNTED)
        marginals = [
            _marginal(pair[rows] % coded, places[rows], codes[rows], counts[rows])
            for rows in (np.flatnonzero(pair // coded == i) for i in range(columns))
        ]
        return pa.table({"part": pa.array(part[:1]), "found": pa.array([work(marginals)], pa.binary())})

    return on_part


def _marginal(attributes: np.ndarray, places: np.ndarray, codes: np.ndarray, counts: np.ndarray) -> PartMarginal:
    """Counts of several partitions, added up."""
    sizes = [int(x.max(initial=0)) + 1 for x in (places, attributes, codes)]
    keys = (places * sizes[1] + attributes) * sizes[2] + codes
    keys, counts = _added_up([(keys, counts)])
    rest, codes = np.divmod(keys, sizes[2])
    places, attributes = np.divmod(rest, sizes[1])
    return PartMarginal(places, attributes, codes, counts)


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[list[np.ndarray]]:
    """The columns of many small batches, as whole numbers, some hundred thousand records at a time."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= CHUNK:
            yield _columns(waiting)
            waiting = []
    if waiting:
        yield _columns(waiting)


def _columns(batches: Sequence[pa.RecordBatch]) -> list[np.ndarray]:
    return [
        np.concatenate([b.column(i).to_numpy(zero_copy_only=False) for b in batches]).astype(np.int64)
        for i in range(batches[0].num_columns)
    ]
