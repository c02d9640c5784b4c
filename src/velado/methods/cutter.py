"""Where Mondrian cuts: the compiled search on a frequency table, and single cuts of parts that are only known by counts."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from velado.frequency import FrequencyTable, Sensitive
from velado.methods.axes import Axis
from velado.methods.lattice import THREADS
from velado.models import PrivacyModel, smallest_class
from velado.models.base import compile_rules
from velado.progress import Progress
from velado.results import Discreet

FITS = 2**62
PARTS = 64
"""Open parts at most that a call of the kernel leaves behind."""
WORK = 40_000_000
"""Cells at most that a call of the kernel looks at, if need be by making fewer cuts: a fraction of a second."""
PLAIN_WORK = 400_000
"""The same where the kernel is not compiled."""
HALVINGS = 32
"""Times that a part is halved, at most, before nothing can be cut."""
BREATH = 0.1
"""Seconds between two looks at the threads."""

Range = tuple[int, int]


@dataclass(frozen=True, repr=False)
class Marginal(Discreet):
    """How the records of a part lie on one column.

    ``ranks`` ascend, ``records`` counts each; ``histograms[r, v]`` counts the sensitive values with each rank, all
    sensitive columns side by side.
    """

    ranks: np.ndarray
    records: np.ndarray
    histograms: np.ndarray


@dataclass(frozen=True, repr=False)
class Cutter(Discreet):
    """The rules of all cuts of one table: its columns, the whole number of its records, models, split and width."""

    axes: tuple[Axis, ...]
    records: int
    models: tuple[PrivacyModel, ...]
    sensitive: tuple[Sensitive, ...]
    split: str
    width: str
    weights: Mapping[str, float]
    relaxed: bool = False

    @property
    def k(self) -> int:
        """No part may be smaller."""
        return max(smallest_class(self.models), 1)

    @cached_property
    def _rules(self) -> Any:
        return compile_rules(self.models, self.sensitive)

    @cached_property
    def _has_value_rules(self) -> bool:
        from velado.kernels.measures import SIZE

        return bool((self._rules.kind != SIZE).any())

    @property
    def _rule(self) -> int:
        from velado.kernels import mondrian as kernel

        return {"range": kernel.RANGE, "std": kernel.STD, "values": kernel.VALUES}[self.width]

    @cached_property
    def _columns(self) -> Any:
        from velado.kernels import mondrian as kernel

        sizes = [len(a.numbers) for a in self.axes]
        spans = [int(a.numbers.max()) if len(a.numbers) else 0 for a in self.axes]
        if self.width == "values":
            spans = [len(a.numbers) - 1 for a in self.axes]
        whole = np.int64
        return kernel.Columns(
            kind=np.array([kernel.ORDERED if a.is_ordered else kernel.TREE for a in self.axes], dtype=whole),
            ranks=np.array(sizes, dtype=whole),
            number_at=np.cumsum([0, *sizes])[:-1].astype(whole),
            number=np.concatenate([a.numbers for a in self.axes]).astype(whole),
            span=np.maximum(spans, 1).astype(whole),
            weight=np.array([float(self.weights.get(a.hierarchy.column, 1)) for a in self.axes]),
            tree_at=np.cumsum([0, *(a.groups.size for a in self.axes)])[:-1].astype(whole),
            group=np.concatenate([a.groups.ravel() for a in self.axes]).astype(whole),
            exact=all(self.records * span * span < FITS for span in spans),
        )

    def partition(self, frequency: FrequencyTable, progress: Progress) -> np.ndarray:
        """Cut a frequency table until nothing can be cut: the class of each row, numbered by its first row.

        Relaxed, its rows must be single records.
        """
        from velado.kernels import mondrian as kernel

        n = frequency.rows
        data = np.empty((n, len(self.axes)), dtype=np.int32)
        for j, axis in enumerate(self.axes):
            data[:, j] = axis.rank[frequency.codes[:, j]]
        counts, rows = frequency.counts.copy(), np.arange(n)
        marks = np.zeros(n, dtype=np.bool_)
        histograms = kernel.Histograms(
            frequency.start if frequency.judged_columns else np.zeros(n + 1, dtype=np.int64),
            frequency.values,
            frequency.value_counts,
            frequency.histogram_domain,
        )
        split = {"median": kernel.MEDIAN, "distribution": kernel.FIRST, "balanced": kernel.BALANCED}[self.split]
        width = self._rule
        columns, rules, k = self._columns, self._rules, self.k

        def cut(begin: int, end: int) -> list[Range]:
            cells = (end - begin) * data.shape[1]
            # Halves are cut again as often as they can be halved; the first cut that will do may take away a few rows only.
            deep = end - begin if self.split == "distribution" else HALVINGS
            work = WORK if kernel.partition.ready() else PLAIN_WORK
            most = 0 if cells * deep <= work else min(max(work // cells, 2), PARTS)
            parts = kernel.partition(
                data, counts, rows, columns, rules, histograms, k, split, self.relaxed, width, begin, end, most, marks
            )
            return [(int(a), int(b)) for a, b in parts]

        _in_threads(cut, n, progress)
        begins = np.flatnonzero(marks)
        class_of = np.empty(n, dtype=np.int64)
        by_first_row = np.argsort(np.argsort(np.minimum.reduceat(rows, begins)))
        class_of[rows] = np.repeat(by_first_row, np.diff(begins, append=n))
        return class_of

    def cut(self, marginals: Sequence[Marginal]) -> tuple[int, list[Range]] | None:
        """The cut that `partition` would make first in a part of which only the marginals are known.

        The column, and the ranks (first and last) of the parts; None if nothing can be cut.
        """
        n = int(marginals[0].records.sum())
        if n < 2 * self.k:
            return None
        for j in self._by_width(marginals, n):
            parts = self._parts(j, marginals[j], n)
            if parts is not None:
                return j, parts
        return None

    def _by_width(self, marginals: Sequence[Marginal], n: int) -> list[int]:
        from velado.kernels import mondrian as kernel

        m = len(marginals)
        low, high, total, squares = (np.zeros(m, dtype=np.int64) for _ in range(4))
        for j, (axis, marginal) in enumerate(zip(self.axes, marginals, strict=True)):
            numbers = axis.numbers[marginal.ranks].astype(np.int64)
            low[j], high[j] = (0, len(numbers) - 1) if self.width == "values" else (numbers[0], numbers[-1])
            if self.width == "std":
                total[j] = (numbers * marginal.records).sum()
                squares[j] = (numbers * numbers * marginal.records).sum()
        left, order = list(range(m)), []
        while left:
            widest = left[0]
            for j in left[1:]:
                if kernel._wider(self._columns, self._rule, n, j, widest, low, high, total, squares):
                    widest = j
            left.remove(widest)
            order.append(widest)
        return [j for j in order if len(marginals[j].ranks) > 1]

    def _parts(self, j: int, marginal: Marginal, n: int) -> list[Range] | None:
        axis = self.axes[j]
        ranks = marginal.ranks
        places = np.arange(1, len(ranks))
        if not axis.is_ordered:
            level = next(x for x, g in enumerate(axis.groups) if g[ranks[0]] == g[ranks[-1]]) - 1
            places = np.flatnonzero(np.diff(axis.groups[level][ranks])) + 1
            if self.split != "balanced":
                return self._ranges(marginal, [0, *places.tolist(), len(ranks)])
        left = np.cumsum(marginal.records)[places - 1]
        if self.split == "median":
            places = places[left >= n - left][:1]
        elif self.split == "balanced":
            # Of two cuts that leave equally equal sides the one above the median comes first.
            places = places[np.lexsort((2 * left < n, np.abs(2 * left - n)))]
        for place in places:
            found = self._ranges(marginal, [0, int(place), len(ranks)])
            if found is not None:
                return found
        return None

    def _ranges(self, marginal: Marginal, edges: Sequence[int]) -> list[Range] | None:
        """The parts between the edges if all of them satisfy the models."""
        pieces = [slice(a, b) for a, b in itertools.pairwise(edges)]
        sizes = np.array([marginal.records[p].sum() for p in pieces], dtype=np.int64)
        if (sizes < self.k).any():
            return None
        if self._has_value_rules and not self._good(sizes, np.array([marginal.histograms[p].sum(axis=0) for p in pieces])):
            return None
        return [(int(marginal.ranks[p][0]), int(marginal.ranks[p][-1])) for p in pieces]

    def _good(self, sizes: np.ndarray, histograms: np.ndarray) -> bool:
        from velado.kernels.measures import judge

        classes, values = np.nonzero(histograms)
        start = np.searchsorted(classes, np.arange(len(sizes) + 1)).astype(np.int64)
        counts = histograms[classes, values].astype(np.int64)
        _, passes = judge(self._rules, sizes, start, values.astype(np.int32), counts)
        return bool(passes.all())

    def is_satisfied(self, marginals: Sequence[Marginal]) -> bool:
        """Whether everything together satisfies the models."""
        whole = marginals[0]
        return self._ranges(whole, [0, len(whole.ranks)]) is not None


def _in_threads(cut: Callable[[int, int], list[Range]], rows: int, progress: Progress) -> None:
    """Cut the rows, and what a cut leaves open, one thread per core, the largest parts first."""
    waiting = [(-rows, 0, rows)]
    running: set[Future[list[Range]]] = set()
    left, looked = rows, 0.0
    pool = ThreadPoolExecutor(THREADS)
    try:
        sizes: dict[Future[list[Range]], int] = {}
        while waiting or running:
            progress.check()
            if time.perf_counter() >= looked + BREATH:
                progress.at(rows - left, rows)
                looked = time.perf_counter()
            # As many as there are threads wait for their turn, so that none is idle.
            while waiting and len(running) < 2 * THREADS:
                size, begin, end = heapq.heappop(waiting)
                task = pool.submit(cut, begin, end)
                sizes[task] = -size
                running.add(task)
            ended, running = wait(running, BREATH, FIRST_COMPLETED)
            for task in ended:
                left -= sizes.pop(task)
                for begin, end in task.result():
                    left += end - begin
                    heapq.heappush(waiting, (begin - end, begin, end))
    finally:
        # Those that have begun come to their end; others do not begin.
        pool.shutdown(cancel_futures=True)
