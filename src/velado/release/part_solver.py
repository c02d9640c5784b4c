"""A part of a table that is larger than memory: what its counts say, and how it is solved, wherever that happens."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from velado.evaluation import Pair
from velado.evaluation.part_sums import PartSums
from velado.frequency import Classes, FrequencyTable, Sensitive
from velado.hierarchies import Hierarchy
from velado.methods import Mondrian
from velado.methods.axes import Axis
from velado.methods.cutter import Cutter, Marginal
from velado.methods.representatives import labels_of
from velado.progress import Progress
from velado.release.fit import Fitted
from velado.release.plan import with_own_labels
from velado.results import Discreet
from velado.tables import Field, PartCount, PartMarginal, Solved


@dataclass(frozen=True, repr=False)
class Axes(Discreet):
    """What is known of the whole table: hierarchies, sensitive columns, records of each leaf, and how it is cut."""

    hierarchies: tuple[Hierarchy, ...]
    sensitive: tuple[Sensitive, ...]
    leaf_records: tuple[np.ndarray, ...]
    cutter: Cutter

    @cached_property
    def _pickle_bytes(self) -> bytes:
        return pickle.dumps((self.hierarchies, self.sensitive, self.leaf_records, self.cutter))

    def __reduce__(self) -> tuple[Any, ...]:
        """A machine gets it with every task, and unpacks it once."""
        return _axes_from, (self._pickle_bytes,)


@lru_cache(maxsize=1)
def _axes_from(packed: bytes) -> Axes:
    return Axes(*pickle.loads(packed))


@dataclass(frozen=True, repr=False)
class Solver(Discreet):
    """All that is needed to solve a part; an engine may send it to another machine."""

    axes: Axes
    represented: Any
    fields: tuple[Field, ...]

    @classmethod
    def of(cls, axes: Axes, fitted: Fitted) -> Solver:
        """That of a fitted project."""
        method = fitted.project.method
        assert isinstance(method, Mondrian)
        # Read here once, not on every machine.
        _ = [(h.leaf_numbers, h.leaf_notation) for h in axes.hierarchies]
        return cls(axes, method.representation, tuple(fitted.table.field(h.column) for h in axes.hierarchies))

    def solve(self, frequency: FrequencyTable, merged: PartSums, progress: Progress) -> Solved:
        """Cut a part in memory, and add it to the evaluation."""
        cutter = self.axes.cutter
        class_of = cutter.partition(frequency, progress)
        classes = Classes.from_ids(frequency, class_of, int(class_of.max()) + 1)
        covers, labels = labels_of(classes, cutter.axes, self.represented)
        covers = tuple(with_own_labels(cover, field) for cover, field in zip(covers, self.fields, strict=True))
        pair = Pair.of(classes, np.ones(classes.count, dtype=bool), covers, labels)
        merged.add(replace(pair, whole=self.axes.leaf_records))
        rows = np.empty(frequency.codes.shape, dtype=np.int64)
        for j, axis in enumerate(cutter.axes):
            rows[:, j] = places_of(axis)[frequency.codes[:, j]]
        return Solved(rows, labels[classes.class_of], tuple(tuple(cover.labels) for cover in covers), b"")

    def __call__(self, counted: list[PartCount]) -> Solved:
        """Solve a part elsewhere: what it adds to the evaluation is the summary."""
        merged = PartSums()
        solved = self.solve(frequency_of(self.axes, counted), merged, Progress())
        return replace(solved, packed=pickle.dumps(merged))


def places_of(axis: Axis) -> np.ndarray:
    """The place of each leaf in the order of a column."""
    place = np.empty(len(axis.order), dtype=np.int64)
    place[axis.order] = np.arange(len(axis.order))
    return place


def marginal_of(axes: Axes, j: int, found: PartMarginal) -> Marginal:
    """Counts by place as counts by rank."""
    places, attributes, codes, counts = found.places, found.attributes, found.codes, found.counts
    axis = axes.cutter.axes[j]
    ranks, number = np.unique(axis.rank[axis.order[places]], return_inverse=True)
    domain = sum(s.width for s in axes.sensitive)
    histograms = np.zeros((len(ranks), domain), dtype=np.int64)
    if domain:
        first = np.array([s.first for s in axes.sensitive])
        np.add.at(histograms, (number, first[attributes] + codes), counts)
    own = attributes == 0
    records = np.bincount(number[own], weights=counts[own], minlength=len(ranks)).astype(np.int64)
    return Marginal(ranks, records, histograms)


def cut_of(axes: Axes, marginals: Sequence[Marginal]) -> tuple[int, list[tuple[int, int, int]]] | None:
    """The cut of a part: the column, and of each piece its first and last place and its records; None if it cannot be cut."""
    cut = axes.cutter.cut(marginals)
    if cut is None:
        return None
    j, ranges = cut
    ends = np.concatenate([[0], axes.cutter.axes[j].ends])
    ranks, records = marginals[j].ranks, marginals[j].records
    pieces = [(int(ends[a]), int(ends[b + 1]) - 1, int(records[(ranks >= a) & (ranks <= b)].sum())) for a, b in ranges]
    return j, pieces


def frequency_of(axes: Axes, counted: Sequence[PartCount]) -> FrequencyTable:
    """The frequency table of a part."""
    tables = [np.array([a.order[c.places[:, j]] for j, a in enumerate(axes.cutter.axes)], dtype=np.int32) for c in counted]
    return FrequencyTable.of_codes(
        axes.hierarchies, tables, [c.counts for c in counted], [c.codes for c in counted], axes.sensitive
    )


def as_one_row(axes: Axes, marginals: Sequence[Marginal]) -> FrequencyTable:
    """Everything as one row, to say why nothing can be done."""
    codes = np.zeros((1, len(axes.hierarchies)), dtype=np.int32)
    counts = np.array([marginals[0].records.sum()])
    values = np.arange(marginals[0].histograms.shape[1], dtype=np.int32)
    start = np.array([0, len(values)])
    return FrequencyTable(axes.hierarchies, codes, counts, axes.sensitive, start, values, marginals[0].histograms.sum(axis=0))
