"""Which original rows fit which released classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from velado.frequency import distinct_rows
from velado.hierarchies import Cover
from velado.progress import Progress


def fitting(
    codes: np.ndarray, covers: Sequence[Cover], classes: np.ndarray, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """All pairs (row, class) in which every value of the row is under the class's label.

    ``codes`` are leaf codes of rows (−1: a value that the covers do not know, which fits nothing), ``classes``
    are label codes, one row per class. Pairs come sorted by row, then class. Where labels do not overlap this
    is one hash lookup per row; else classes are walked as a trie, column by column: O(m · pairs · labels
    beside each other).
    """
    maps = [c.label_of_leaf for c in covers]
    if all(m is not None for m in maps):
        return _by_lookup(codes, covers, [np.append(m, -1) for m in maps if m is not None], classes)
    rows: list[np.ndarray] = []
    found: list[np.ndarray] = []
    every = np.arange(len(codes)), np.arange(len(classes))
    _walk(codes, covers, classes, *every, 0, rows, found, progress or Progress())
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    row, number = np.concatenate(rows), np.concatenate(found)
    order = np.lexsort((number, row))
    return row[order], number[order]


def _by_lookup(
    codes: np.ndarray, covers: Sequence[Cover], maps: Sequence[np.ndarray], classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    labels = np.array([m[codes[:, j]] for j, m in enumerate(maps)], dtype=np.int64).reshape(len(maps), len(codes))
    known = np.flatnonzero((labels >= 0).all(axis=0))
    both = np.concatenate([classes.T, labels[:, known]], axis=1)
    distinct, number = distinct_rows(both, [len(c.labels) for c in covers])
    place = np.full(len(distinct), -1, dtype=np.int64)
    place[number[: len(classes)]] = np.arange(len(classes))
    found = place[number[len(classes) :]]
    return known[found >= 0], found[found >= 0]


def _walk(
    codes: np.ndarray,
    covers: Sequence[Cover],
    classes: np.ndarray,
    rows: np.ndarray,
    numbers: np.ndarray,
    j: int,
    out_rows: list[np.ndarray],
    out_classes: list[np.ndarray],
    progress: Progress,
) -> None:
    progress.check()
    if not len(rows):
        return
    if j == len(covers):
        for number in numbers:
            out_rows.append(rows)
            out_classes.append(np.full(len(rows), number))
        return
    order = np.argsort(classes[numbers, j], kind="stable")
    labels, first = np.unique(classes[numbers, j][order], return_index=True)
    for label, part in zip(labels, np.split(numbers[order], first[1:]), strict=True):
        inside = np.append(covers[j].members(label), False)
        _walk(codes, covers, classes, rows[inside[codes[rows, j]]], part, j + 1, out_rows, out_classes, progress)
