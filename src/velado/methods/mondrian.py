"""Mondrian: multidimensional local recoding."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from velado.errors import InputError, suggest
from velado.frequency import Classes, FrequencyTable
from velado.methods.axes import Axis
from velado.methods.base import Found, Method, Progress, Search, no_solution, silent
from velado.methods.lattice import THREADS
from velado.methods.represent import REPRESENTATIVES, labels_of
from velado.models import PrivacyModel, judge_classes, smallest_class
from velado.models.base import compile_rules
from velado.parameters import Choice, Weights

FITS = 2**62
PARTS = 16
"""Open parts per thread before the work is dealt out."""


@dataclass(frozen=True)
class Mondrian(Method):
    """Cut the table again and again, at the widest column first, while all parts satisfy the models.

    Greedy multidimensional partitioning (LeFevre, DeWitt and Ramakrishnan 2006), strict: equal values stay together.
    Numbers, dates and ordered categories are cut between two values: ``split`` *median*: up to the median | above it;
    *distribution*: the first cut in ascending order that leaves enough on both sides (the Anonylitics thesis's
    distribution-based split). Other categories are cut into the groups of their hierarchy. A column that cannot be
    cut gives way to the next widest. ``width``: *range*, (max − min) relative to the whole table, or *std*, relative to
    the standard deviation inside the part; ``weights`` multiply it; ties go to the first column.

    Works on distinct rows; the result is that of cutting record by record. O(rows · columns · depth of the cuts).
    """

    split: str = "median"
    represent: str = "interval"
    width: str = "range"
    weights: Mapping[str, float] = field(default_factory=dict)
    name: ClassVar[str] = "mondrian"
    parameters: ClassVar = {
        "split": Choice("where a column is cut", ("median", "distribution")),
        "represent": Choice("what stands for the values of a class", tuple(REPRESENTATIVES)),
        "width": Choice("how the width of a column is measured", ("range", "std")),
        "weights": Weights("how much more a column's width counts, by column"),
    }

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress = silent) -> Found:
        """Cut until nothing can be cut."""
        began = time.perf_counter()
        for name in self.weights:
            if name not in frequency.columns:
                raise InputError(
                    "unknown-column", "a weight is given for a column that is not a quasi-identifier", column=name,
                    hint=suggest(name, frequency.columns),
                )  # fmt: skip
        whole = Classes.from_ids(frequency, np.zeros(frequency.rows, dtype=np.int64), 1)
        good, _ = judge_classes(models, frequency.sensitive, whole)
        if not good.all():
            raise no_solution(frequency, models, 0.0)
        axes = [Axis.of(h) for h in frequency.hierarchies]
        class_of = self._partition(frequency, models, axes, progress)
        classes = Classes.from_ids(frequency, class_of, int(class_of.max()) + 1)
        covers, labels = labels_of(classes, axes, self.represent)
        search = Search(0, 0, False, None, time.perf_counter() - began, "greedy cuts")
        return Found(classes, np.ones(classes.count, dtype=bool), search, covers, labels)

    def _partition(
        self, frequency: FrequencyTable, models: Sequence[PrivacyModel], axes: Sequence[Axis], progress: Progress
    ) -> np.ndarray:
        """The class of each row, numbered in order of the first row."""
        from velado.kernels import mondrian as kernel

        n, m = frequency.rows, len(axes)
        data = np.empty((n, m), dtype=np.int32)
        for j, axis in enumerate(axes):
            data[:, j] = axis.rank[frequency.codes[:, j]]
        counts, rows = frequency.counts.copy(), np.arange(n)
        marks = np.zeros(n, dtype=np.bool_)
        histograms = kernel.Histograms(
            frequency.start if frequency.sensitive else np.zeros(n + 1, dtype=np.int64),
            frequency.values,
            frequency.value_counts,
            frequency.histogram_domain,
        )
        columns = self._columns(axes, frequency, kernel)
        rules = compile_rules(models, frequency.sensitive)
        split = kernel.FIRST if self.split == "distribution" else kernel.MEDIAN
        width = kernel.STD if self.width == "std" else kernel.RANGE
        k = max(smallest_class(models), 1)

        def cut(begin: int, end: int, most: int) -> Any:
            return kernel.partition(
                data, counts, rows, columns, rules, histograms, k, split, width, begin, end, most, marks
            )

        progress(0.0, "cutting")
        parts = cut(0, n, PARTS * THREADS if THREADS > 1 else 0)
        with ThreadPoolExecutor(THREADS) as pool:
            running = [pool.submit(cut, int(a), int(b), 0) for a, b in parts[np.argsort(parts[:, 0] - parts[:, 1])]]
            try:
                for i, future in enumerate(running):
                    progress(i / len(running), "cutting")
                    future.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        part_of = np.empty(n, dtype=np.int64)
        part_of[rows] = np.cumsum(marks) - 1
        _, first, number = np.unique(part_of, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[number]

    def _columns(self, axes: Sequence[Axis], frequency: FrequencyTable, kernel: Any) -> Any:
        sizes = [len(a.numbers) for a in axes]
        spans = [int(a.numbers.max()) if len(a.numbers) else 0 for a in axes]
        whole = np.int64
        return kernel.Columns(
            kind=np.array([kernel.ORDERED if a.ordered else kernel.TREE for a in axes], dtype=whole),
            ranks=np.array(sizes, dtype=whole),
            number_at=np.cumsum([0, *sizes])[:-1].astype(whole),
            number=np.concatenate([a.numbers for a in axes]).astype(whole),
            span=np.maximum(spans, 1).astype(whole),
            weight=np.array([float(self.weights.get(name, 1)) for name in frequency.columns]),
            tree_at=np.cumsum([0, *(a.groups.size for a in axes)])[:-1].astype(whole),
            group=np.concatenate([a.groups.ravel() for a in axes]).astype(whole),
            exact=all(frequency.records * span * span < FITS for span in spans),
        )
