"""What stands for the values of a class: an interval, a mode, a mean, a median; a group of a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import isnan

import numpy as np

from velado.frequency import Classes
from velado.hierarchies import Cover
from velado.hierarchies.cover import UPTO
from velado.methods.axes import Axis
from velado.results import Discreet
from velado.values import ROOT, Text


@dataclass(frozen=True, repr=False)
class Spread(Discreet):
    """How the records of each class lie on one column: the places, ascending within a class, and their records."""

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

    def at(self, position: np.ndarray) -> np.ndarray:
        """The place of each class's record number ``position``, records being sorted."""
        ends = np.cumsum(self.records)
        before = np.concatenate([[0], ends])[self.start[:-1]]
        return np.asarray(self.places[np.searchsorted(ends, before + position, side="right")])


def _median(spread: Spread, numbers: np.ndarray) -> np.ndarray:
    n = np.add.reduceat(spread.records, spread.start[:-1])
    return np.asarray(numbers[spread.at((n - 1) // 2)] + numbers[spread.at(n // 2)]) / 2


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


def labels_of(classes: Classes, axes: Sequence[Axis], represent: Callable[[str], str]) -> tuple[tuple[Cover, ...], np.ndarray]:
    """Per column the labels of the classes with what they stand for, and the label of each class."""
    covers, labels = [], np.empty((classes.count, len(axes)), dtype=np.int64)
    for j, axis in enumerate(axes):
        low, high = reach(axis, classes.frequency.codes[:, j], classes.class_of, classes.count)
        if not axis.is_ordered:
            cover, labels[:, j] = _in_tree(axis, low, high)
        elif not has_centre(axis, represent(axis.hierarchy.column)):
            cover, labels[:, j] = _intervals(axis, low, high)
        else:
            cover, labels[:, j] = _centres(axis, low, high, Spread.of(classes, axis, j), represent(axis.hierarchy.column))
        covers.append(cover)
    return tuple(covers), labels


def reach(axis: Axis, codes: np.ndarray, group_of: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest place of each group of rows."""
    places = axis.rank[codes]
    low, high = np.full(groups, len(axis.numbers)), np.zeros(groups, dtype=np.int64)
    np.minimum.at(low, group_of, places)
    np.maximum.at(high, group_of, places)
    return low, high


def has_centre(axis: Axis, represent: str) -> bool:
    """Whether one value stands for a class: numbers and dates have modes, means and medians, categories have none.

    Neither have dates that show nothing finer than a group of their hierarchy.
    """
    scale = axis.hierarchy.scale
    if scale is None or scale.kind == "order" or axis.steps is not None:
        return False
    return REPRESENTATIVES[represent] is not None


def _in_tree(axis: Axis, low: np.ndarray, high: np.ndarray) -> tuple[Cover, np.ndarray]:
    """The lowest group that holds a class."""
    h = axis.hierarchy
    level = np.argmax([groups[low] == groups[high] for groups in axis.groups], axis=0)
    widest = int(axis.groups.max()) + 1
    pairs, number = np.unique(level * widest + axis.groups[level, low], return_inverse=True)
    levels, groups = pairs // widest, pairs % widest
    first = [int(np.argmax(axis.groups[x] == g)) for x, g in zip(levels, groups, strict=True)]
    sizes = [int((axis.groups[x] == g).sum()) for x, g in zip(levels, groups, strict=True)]
    texts = tuple(h.labels[x][g] for x, g in zip(levels, groups, strict=True))
    return Cover(h, texts, axis.order, np.array(first), np.add(first, sizes), levels), number


def _intervals(axis: Axis, low: np.ndarray, high: np.ndarray) -> tuple[Cover, np.ndarray]:
    """From the lowest to the highest value of a class."""
    places = len(axis.numbers)
    pairs, number = np.unique(low * places + high, return_inverse=True)
    low, high = pairs // places, pairs % places
    texts = tuple(map(_naming(axis), low.tolist(), high.tolist()))
    return range_cover(axis, texts, low, high), number


def _centres(axis: Axis, low: np.ndarray, high: np.ndarray, spread: Spread, represent: str) -> tuple[Cover, np.ndarray]:
    """One number for each class; labels with the same number stand for what their own classes hold."""
    scale, centre = axis.hierarchy.scale, REPRESENTATIVES[represent]
    assert scale is not None
    assert centre is not None
    shown = centre(spread, axis.values)
    shown = np.trunc(shown) if scale.whole else shown
    key, number = np.unique(np.column_stack([low, high, np.nan_to_num(shown, nan=-1.0)]), axis=0, return_inverse=True)
    low, high = key[:, 0].astype(np.int64), key[:, 1].astype(np.int64)
    named = _naming(axis)
    texts = tuple(
        named(a, b) if a == b or np.isnan(axis.values[b]) else scale.text(x)
        for a, b, x in zip(low.tolist(), high.tolist(), key[:, 2].tolist(), strict=True)
    )
    return range_cover(axis, texts, low, high), number.reshape(-1)


def range_cover(axis: Axis, texts: tuple[Text, ...], low: np.ndarray, high: np.ndarray) -> Cover:
    """Labels that stand for all values from one place to another; ``*`` says nothing and stands for all."""
    unsaid = np.array([x == ROOT for x in texts], dtype=bool)
    low, high = np.where(unsaid, 0, low), np.where(unsaid, len(axis.numbers) - 1, high)
    first = np.concatenate([[0], axis.ends])[low]
    level = 0 if axis.steps is None else 1
    levels = np.where(unsaid, axis.hierarchy.height, np.where(low == high, level, -1))
    return Cover(axis.hierarchy, texts, axis.order, first, axis.ends[high], levels)


def _naming(axis: Axis) -> Callable[[int, int], Text]:
    """What labels the places low … high: missing values only show a missing value, mixed with others ``*``."""
    leaves, scale, values = axis.hierarchy.leaves, axis.hierarchy.scale, axis.values.tolist()
    assert scale is not None
    # Many labels share a limit.
    text = cache(lambda place: scale.text(values[place]))

    def label(low: int, high: int) -> Text:
        if isnan(values[high]):
            return None if low == high else ROOT
        if axis.steps is not None:
            names = axis.hierarchy.labels[1]
            first, last = names[axis.steps[low]], names[axis.steps[high]]
            return first if low == high else f"{first}{UPTO}{last}"
        if low == high:
            return text(low) if scale.rewritten else leaves[int(axis.order[axis.ends[low] - 1])]
        if scale.kind == "order":
            return "{" + ", ".join(str(leaves[i]) for i in axis.order[axis.ends[low] - 1 : axis.ends[high]]) + "}"
        return scale.between(text(low), text(high))

    return label
