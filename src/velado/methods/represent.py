"""What stands for the values of a class: an interval, a mode, a mean, a median; a group of a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from velado.frequency import Classes
from velado.hierarchies import Cover
from velado.hierarchies.scale import Scale
from velado.methods.axes import Axis
from velado.values import ROOT, Text


@dataclass(frozen=True)
class Spread:
    """How the records of each class lie on one column: its places, ascending within a class, and their records."""

    start: np.ndarray
    places: np.ndarray
    records: np.ndarray

    @classmethod
    def of(cls, classes: Classes, axis: Axis, j: int) -> Spread:
        """Count the records of every class by place."""
        places = len(axis.numbers)
        keys = classes.class_of.astype(np.int64) * places + axis.rank[classes.frequency.codes[:, j]]
        different, number = np.unique(keys, return_inverse=True)
        records = np.bincount(number.reshape(-1), weights=classes.frequency.counts).astype(np.int64)
        start = np.searchsorted(different, np.arange(classes.count + 1) * places)
        return cls(start, different % places, records)

    @property
    def low(self) -> np.ndarray:
        """The first place of each class."""
        return self.places[self.start[:-1]]

    @property
    def high(self) -> np.ndarray:
        """The last place of each class."""
        return self.places[self.start[1:] - 1]

    def at(self, position: np.ndarray) -> np.ndarray:
        """The place of each class's record number ``position``, records being sorted."""
        ends = np.cumsum(self.records)
        before = np.concatenate([[0], ends])[self.start[:-1]]
        return self.places[np.searchsorted(ends, before + position, side="right")]


def _median(spread: Spread, numbers: np.ndarray) -> np.ndarray:
    n = np.add.reduceat(spread.records, spread.start[:-1])
    return (numbers[spread.at((n - 1) // 2)] + numbers[spread.at(n // 2)]) / 2


def _mode(spread: Spread, numbers: np.ndarray) -> np.ndarray:
    """The most frequent value if there is one alone, else the median."""
    most = np.maximum.reduceat(spread.records, spread.start[:-1])
    is_mode = spread.records == np.repeat(most, np.diff(spread.start))
    alone = np.add.reduceat(is_mode, spread.start[:-1], dtype=np.int64) == 1
    first = np.maximum.reduceat(np.where(is_mode, spread.places, -1), spread.start[:-1])
    return np.where(alone, numbers[first], _median(spread, numbers))


def _mean(spread: Spread, numbers: np.ndarray) -> np.ndarray:
    sums = np.add.reduceat(numbers[spread.places] * spread.records, spread.start[:-1])
    return sums / np.add.reduceat(spread.records, spread.start[:-1])


REPRESENTATIVES: dict[str, Callable[[Spread, np.ndarray], np.ndarray] | None] = {
    "interval": None,
    "mode": _mode,
    "mean": _mean,
    "median": _median,
}


def labels_of(classes: Classes, axes: Sequence[Axis], represent: str) -> tuple[tuple[Cover, ...], np.ndarray]:
    """Per column the labels of the classes with what they stand for, and the label of each class."""
    covers, labels = [], np.empty((classes.count, len(axes)), dtype=np.int64)
    for j, axis in enumerate(axes):
        spread = Spread.of(classes, axis, j)
        if axis.ordered:
            cover, labels[:, j] = _on_scale(axis, spread, REPRESENTATIVES[represent])
        else:
            cover, labels[:, j] = _in_tree(axis, spread)
        covers.append(cover)
    return tuple(covers), labels


def _in_tree(axis: Axis, spread: Spread) -> tuple[Cover, np.ndarray]:
    """The lowest group that holds a class."""
    h = axis.hierarchy
    level = np.argmax([groups[spread.low] == groups[spread.high] for groups in axis.groups], axis=0)
    group = axis.groups[level, spread.low]
    pairs, number = np.unique(np.column_stack([level, group]), axis=0, return_inverse=True)
    first = [int(np.searchsorted(np.cumsum(axis.groups[x] == g), 1)) for x, g in pairs]
    last = [f + int((axis.groups[x] == g).sum()) for f, (x, g) in zip(first, pairs, strict=True)]
    texts = tuple(h.labels[x][g] for x, g in pairs)
    return Cover(h, texts, axis.order, np.array(first), np.array(last), pairs[:, 0]), number.reshape(-1)


def _on_scale(
    axis: Axis, spread: Spread, centre: Callable[[Spread, np.ndarray], np.ndarray] | None
) -> tuple[Cover, np.ndarray]:
    """The interval from the lowest to the highest value of a class, or one number in its place.

    A class with missing values only shows a missing value; one that mixes them with others shows ``*``.
    """
    h, scale = axis.hierarchy, axis.hierarchy.scale
    assert scale is not None
    numbers = np.unique(scale.numbers)
    low, high = spread.low, spread.high
    shown = np.zeros(len(low)) if centre is None or scale.kind == "order" else centre(spread, numbers)
    shown = np.trunc(shown) if scale.whole else shown
    key, number = np.unique(np.column_stack([low, high, np.nan_to_num(shown, nan=-1.0)]), axis=0, return_inverse=True)
    texts = tuple(
        _text(axis, scale, numbers, int(a), int(b), None if centre is None or scale.kind == "order" else x)
        for a, b, x in key
    )
    first = np.concatenate([[0], axis.ends])[key[:, 0].astype(np.int64)]
    last = axis.ends[key[:, 1].astype(np.int64)]
    levels = np.where(key[:, 0] == key[:, 1], 0, -1)
    return Cover(h, texts, axis.order, first, last, levels), number.reshape(-1)


def _text(axis: Axis, scale: Scale, numbers: np.ndarray, low: int, high: int, centre: float | None) -> Text:
    leaves = axis.hierarchy.leaves
    if np.isnan(numbers[high]):
        return None if low == high else ROOT
    if low == high:
        return leaves[axis.order[axis.ends[low] - 1]]
    if scale.kind == "order":
        return "{" + ", ".join(str(leaves[i]) for i in axis.order[axis.ends[low] - 1 : axis.ends[high]]) + "}"
    return scale.interval(numbers[low], numbers[high]) if centre is None else scale.text(centre)
