"""Equivalence classes: the frequency table grouped under a recoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from velado.frequency.table import FrequencyTable, add_people
from velado.hierarchies import Cover
from velado.results import Discreet


@dataclass(frozen=True, repr=False)
class Classes(Discreet):
    """Classes numbered in order of their first row.

    ``class_of[r]`` is the class of distinct row r, ``sizes`` are records, ``rows[c]`` is a member.
    Histogram entries as in `FrequencyTable`. ``levels`` are those of full-domain recoding, where the classes show these.
    """

    frequency: FrequencyTable
    class_of: np.ndarray
    sizes: np.ndarray
    rows: np.ndarray
    start: np.ndarray
    values: np.ndarray
    value_counts: np.ndarray
    levels: tuple[int, ...] | None = None

    @classmethod
    def at_levels(cls, frequency: FrequencyTable, levels: Sequence[int]) -> Classes:
        """Classes of a lattice node."""
        from velado.kernels.grouping import group

        n = frequency.rows
        tables = LevelTables.of(frequency)
        capacity = table_capacity(n)
        ids = np.empty(n, dtype=np.int32)
        found = group(
            tables.cells,
            np.arange(n, dtype=np.uint32),
            n,
            np.asarray(levels, dtype=np.int64),
            tables.maps,
            tables.first,
            tables.radix,
            np.empty(tables.first[-1], dtype=np.int64),
            np.empty(n, dtype=np.int64),
            np.empty(capacity, dtype=np.int64),
            np.full(capacity, -1, dtype=np.int32),
            ids,
        )
        return replace(cls.from_ids(frequency, ids, found), levels=tuple(int(x) for x in levels))

    @classmethod
    def of_rows(cls, frequency: FrequencyTable) -> Classes:
        """The classes of a table as it is: one for each distinct row."""
        classes = cls.from_ids(frequency, np.arange(frequency.rows), frequency.rows)
        return replace(classes, levels=(0,) * len(frequency.hierarchies))

    @classmethod
    def from_ids(cls, frequency: FrequencyTable, class_of: np.ndarray, found: int) -> Classes:
        """Classes from a class number per distinct row."""
        from velado.kernels.grouping import merge_histograms, summarize

        n = frequency.rows
        class_of = class_of.astype(np.int32)
        rows = np.empty(found, dtype=np.uint32)
        sizes = np.empty(found, dtype=np.int64)
        summarize(np.arange(n, dtype=np.uint32), frequency.counts, n, class_of, found, rows, sizes)
        start = np.zeros(found + 1, dtype=np.int64)
        entries = len(frequency.values)
        values = np.empty(entries, dtype=np.int32)
        counts = np.empty(entries, dtype=np.int64)
        used = 0
        if frequency.judged_columns:
            domain = frequency.histogram_domain
            used = merge_histograms(
                class_of,
                n,
                found,
                frequency.start,
                frequency.values,
                frequency.value_counts,
                domain,
                np.empty(found + 1, dtype=np.int64),
                np.empty(n, dtype=np.int64),
                np.zeros(domain, dtype=np.int64),
                np.empty(domain, dtype=np.int64),
                start,
                values,
                counts,
            )
        return cls(frequency, class_of, sizes, rows, start, values[:used], counts[:used])

    def summary(self) -> dict[str, int]:
        """How many classes and records, and the smallest and largest class."""
        sizes = {"smallest": int(self.sizes.min()), "largest": int(self.sizes.max())} if self.count else {}
        return {"classes": self.count, "records": int(self.sizes.sum()), **sizes}

    @property
    def count(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @property
    def people(self) -> np.ndarray:
        """How many people each class has at least; its records, where every record is a person."""
        counted = self.frequency.people
        if counted is None:
            return self.sizes
        of = np.repeat(np.arange(self.count), np.diff(self.start))
        own = self.values == counted.first
        total = np.bincount(of[own], weights=self.value_counts[own], minlength=self.count)
        return np.floor(total / counted.unit + 1e-9).astype(np.int64)

    def with_people(self, person: str, people: np.ndarray) -> Classes:
        """The classes with their different people behind their sensitive values."""
        frequency = replace(self.frequency, people=self.frequency.people_at(person, 1))
        start, values, counts = add_people(self.start, self.values, self.value_counts, frequency.sensitive_domain, people)
        return replace(self, frequency=frequency, start=start, values=values, value_counts=counts)

    def labels_at(self, levels: Sequence[int]) -> tuple[tuple[Cover, ...], np.ndarray]:
        """What full-domain recoding to these levels shows: the labels of each column, and each class's."""
        hierarchies = self.frequency.hierarchies
        labels = np.empty((self.count, len(hierarchies)), dtype=np.int64)
        for j, (h, level) in enumerate(zip(hierarchies, levels, strict=True)):
            labels[:, j] = h.maps[level][self.frequency.codes[self.rows, j]]
        return tuple(Cover.at_level(h, x) for h, x in zip(hierarchies, levels, strict=True)), labels

    def merge_classes(self, number: np.ndarray, count: int) -> Classes:
        """The classes under new numbers, those with the same number as one."""
        if count == self.count:
            return self
        _, first = np.unique(number, return_index=True)
        domain = max(self.frequency.histogram_domain, 1)
        of = np.repeat(number, np.diff(self.start)) if len(self.values) else np.zeros(0, dtype=np.int64)
        keys, place = np.unique(of * domain + self.values, return_inverse=True)
        counts = np.bincount(place.reshape(-1), weights=self.value_counts, minlength=len(keys)).astype(np.int64)
        start = np.searchsorted(keys, np.arange(count + 1) * domain) if len(keys) else np.zeros(count + 1)
        return replace(
            self,
            class_of=np.append(number, -1)[self.class_of].astype(np.int32),
            sizes=np.bincount(number, weights=self.sizes, minlength=count).astype(np.int64),
            rows=self.rows[first],
            start=start.astype(np.int64),
            values=(keys % domain).astype(np.int32),
            value_counts=counts,
        )

    def only(self, kept: np.ndarray) -> Classes:
        """The kept classes alone; the rows of the others have class −1."""
        number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        entries = np.repeat(kept, np.diff(self.start))
        start = np.concatenate([[0], np.cumsum(np.diff(self.start)[kept])]).astype(np.int64)
        return replace(
            self,
            class_of=number[self.class_of],
            sizes=self.sizes[kept],
            rows=self.rows[kept],
            start=start,
            values=self.values[entries],
            value_counts=self.value_counts[entries],
        )


def in_order(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers by first occurrence, and where each occurs first.

    >>> in_order(np.array([7, 3, 7, 5]))[0].tolist()
    [0, 1, 0, 2]
    """
    _, first, number = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.argsort(order)[number], first[order]


def table_capacity(rows: int) -> int:
    """Slots of a hash table for this many keys: a power of two, at most half full."""
    return 1 << max(16, int(2 * rows - 1).bit_length())


@dataclass(frozen=True, repr=False)
class LevelTables(Discreet):
    """Frequency table and hierarchies as the kernels see them; see `velado.kernels.grouping`."""

    cells: np.ndarray
    maps: np.ndarray
    first: np.ndarray
    radix: np.ndarray

    @classmethod
    def of(cls, frequency: FrequencyTable) -> LevelTables:
        """Number all leaves through and put the hierarchies' maps side by side."""
        hierarchies = frequency.hierarchies
        deepest = max((h.levels for h in hierarchies), default=1)
        first = np.cumsum([0, *(len(h.leaves) for h in hierarchies)]).astype(np.int64)
        maps = np.zeros((deepest, int(first[-1])), dtype=np.int32)
        radix = np.ones((len(hierarchies), deepest), dtype=np.int64)
        for j, h in enumerate(hierarchies):
            for level in range(h.levels):
                maps[level, first[j] : first[j + 1]] = h.maps[level]
                radix[j, level] = len(h.labels[level])
        cells = (frequency.codes + first[:-1]).astype(np.uint32)
        return cls(cells, maps, first, radix)
