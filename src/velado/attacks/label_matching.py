"""Which labels of two tables can stand for the same person's value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from velado.errors import InputError
from velado.hierarchies import Cover, Hierarchy
from velado.hierarchies.labels import Interval, interval_of, intervals_of
from velado.values import ROOT, Text

Pairs = tuple[np.ndarray, np.ndarray]


def flat(column: str, labels: Sequence[Text]) -> Hierarchy:
    """A hierarchy of one level."""
    return Hierarchy(column, (tuple(labels),), (np.arange(len(labels), dtype=np.int32),))


def relate_labels(
    column: str,
    labels: Sequence[Text],
    values: Sequence[Text],
    tree: Hierarchy | None = None,
    file: str | None = None,
    ignorant: bool = False,
) -> Cover:
    """Under each label of one table the values of the other that it can stand for, or that can stand for it.

    Both are looked up in the hierarchy, if there is one, and fit if they have a leaf in common. What it does not know
    is read as what it says: intervals, masks, parts, sets, ``*``; a plain word stands for itself. A missing value is a
    category of its own; with ``ignorant``, a missing value of the other table fits every label. An error says that
    nothing fits although the labels do not explain themselves: then a hierarchy is needed.
    """
    none = np.zeros(0, dtype=np.int64)
    found: list[Pairs] = [(none, none)]
    every_label, every_value = np.arange(len(labels)), np.arange(len(values))
    lost_labels, lost_values = every_label, every_value
    if tree is not None:
        if None in labels or None in values:
            tree = tree.with_missing()
        left, right = _incidence(tree, labels), _incidence(tree, values)
        both = (left @ right.T).tocoo()
        found.append((both.row.astype(np.int64), both.col.astype(np.int64)))
        lost_labels, lost_values = np.flatnonzero(np.diff(left.indptr) == 0), np.flatnonzero(np.diff(right.indptr) == 0)
    if len(lost_values):
        found.append(_read(labels, values, every_label, lost_values))
    if len(lost_labels) and len(lost_values) < len(values):
        found.append(_read(labels, values, lost_labels, every_value))
    lost = [labels[i] for i in lost_labels.tolist()]
    if not sum(len(rows) for rows, _ in found) and any(_is_plain(x) for x in lost):
        raise InputError(
            "not-corresponding",
            "no label of the release and no value of this table fit each other",
            file=file,
            column=column,
            values=[x for x in lost if x is not None],
            hint="Give the hierarchy that the release was made with (--hierarchy COLUMN=FILE or --project), "
            "or check that this is the same column.",
        )
    if ignorant and None in values:
        found.append((every_label, np.full(len(labels), list(values).index(None))))
    return _cover(column, labels, values, found)


def _incidence(tree: Hierarchy, labels: Sequence[Text]) -> Any:
    """Which leaves (columns) are under which label (rows)."""
    from scipy.sparse import csr_array

    rows, leaves = _list_pairs(Cover.of_labels(tree, labels, strict=False))
    return csr_array((np.ones(len(rows), dtype=np.int64), (rows, leaves)), shape=(len(labels), len(tree.leaves)))


def _list_pairs(cover: Cover) -> Pairs:
    """All pairs (label, leaf under it)."""
    parts = [cover.under(i) for i in range(len(cover.labels))]
    leaves = np.concatenate(parts) if parts else np.zeros(0)
    return np.repeat(np.arange(len(parts)), cover.sizes), leaves.astype(np.int64)


def _cover(column: str, labels: Sequence[Text], values: Sequence[Text], found: Sequence[Pairs]) -> Cover:
    width = max(len(values), 1)
    keys = np.unique(np.concatenate([rows * width + at for rows, at in found]))
    ends = np.searchsorted(keys, np.arange(len(labels) + 1) * width)
    levels = np.full(len(labels), -1)
    return Cover(flat(column, values), tuple(labels), keys % width, ends[:-1], ends[1:], levels)


def _is_plain(label: Text) -> bool:
    """Whether a label is a mere word, which says nothing of what it stands for."""
    return label is not None and ROOT not in label and interval_of(label) is None and not _set(label)


def _read(labels: Sequence[Text], values: Sequence[Text], some: np.ndarray, others: np.ndarray) -> Pairs:
    """Pairs of some labels and some values that fit by what they say."""
    left, right = [labels[i] for i in some.tolist()], [values[i] for i in others.tolist()]
    a, b = intervals_of(left), intervals_of(right)
    found = [_overlapping(a, b)]
    if any(i is None and x not in (None, ROOT) for x, i in (*zip(left, a, strict=True), *zip(right, b, strict=True))):
        rows, at = _matching(left, right)
        # Numbers are compared as numbers: 5 is no part of 3.5.
        words = np.array([i is None for i in a], dtype=bool)[rows] | np.array([i is None for i in b], dtype=bool)[at]
        found.append((rows[words], at[words]))
    found += [(np.full(len(right), i), np.arange(len(right))) for i, x in enumerate(left) if x == ROOT]
    found += [(np.arange(len(left)), np.full(len(left), i)) for i, x in enumerate(right) if x == ROOT]
    if None in left and None in right:
        found.append((np.array([left.index(None)]), np.array([right.index(None)])))
    return some[np.concatenate([rows for rows, _ in found])], others[np.concatenate([at for _, at in found])]


def _overlapping(a: Sequence[Interval | None], b: Sequence[Interval | None]) -> Pairs:
    """Pairs of intervals with a number in common; points are found by lookup, only true intervals are compared."""
    limits = [_limits(side) for side in (a, b)]
    wide = [np.flatnonzero(x["low"] < x["high"]) for x in limits]
    rows: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
    at: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
    for i in wide[0].tolist():
        hits = np.flatnonzero(_meets(limits[0], i, limits[1]))
        rows.append(np.full(len(hits), i))
        at.append(hits)
    for i in wide[1].tolist():
        hits = np.flatnonzero(_meets(limits[1], i, limits[0]))
        rows.append(hits)
        at.append(np.full(len(hits), i))
    points: dict[float, list[int]] = {}
    for i in np.flatnonzero(limits[1]["low"] == limits[1]["high"]).tolist():
        points.setdefault(float(limits[1]["low"][i]), []).append(i)
    for i in np.flatnonzero(limits[0]["low"] == limits[0]["high"]).tolist():
        hits = np.array(points.get(float(limits[0]["low"][i]), []), dtype=np.int64)
        rows.append(np.full(len(hits), i))
        at.append(hits)
    return np.concatenate(rows), np.concatenate(at)


def _limits(intervals: Sequence[Interval | None]) -> dict[str, np.ndarray]:
    nothing = Interval(np.nan, np.nan)
    known = [i or nothing for i in intervals]
    return {
        "low": np.array([i.low for i in known], dtype=float),
        "high": np.array([i.high for i in known], dtype=float),
        "low_in": np.array([i.low_in for i in known], dtype=bool),
        "high_in": np.array([i.high_in for i in known], dtype=bool),
    }


def _meets(one: dict[str, np.ndarray], i: int, many: dict[str, np.ndarray]) -> np.ndarray:
    above = (many["high"] > one["low"][i]) | ((many["high"] == one["low"][i]) & many["high_in"] & bool(one["low_in"][i]))
    below = (many["low"] < one["high"][i]) | ((many["low"] == one["high"][i]) & many["low_in"] & bool(one["high_in"][i]))
    return np.asarray(above & below)


def _matching(left: Sequence[Text], right: Sequence[Text]) -> Pairs:
    """Pairs of texts one of which stands for the other; sets fit if they have a member in common."""
    rows, at = _standing(left, right)
    fitting = set(at.tolist())
    again = [i for i, x in enumerate(right) if x is not None and (i not in fitting or ROOT in x)]
    back_at, back_rows = _standing([right[i] for i in again], left)
    again_at = np.array(again, dtype=np.int64)
    sets = _sharing(left, right)
    return np.concatenate([rows, back_rows, sets[0]]), np.concatenate([at, again_at[back_at], sets[1]])


def _sharing(left: Sequence[Text], right: Sequence[Text]) -> Pairs:
    """Pairs of sets, or of a set and a member."""
    found: list[tuple[int, int]] = []
    for one, other, turned in ((left, right, False), (right, left, True)):
        with_member: dict[str, list[int]] = {}
        for i, x in enumerate(other):
            for member in _set(x) or ([] if x is None else [x]):
                with_member.setdefault(member, []).append(i)
        for i, x in enumerate(one):
            hits = sorted({j for member in _set(x) for j in with_member.get(member, [])})
            found += [(j, i) if turned else (i, j) for j in hits]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _set(label: Text) -> list[str]:
    if label is None or not (label.startswith("{") and label.endswith("}")):
        return []
    return [part.strip() for part in label[1:-1].split(",")]


def _standing(labels: Sequence[Text], leaves: Sequence[Text]) -> Pairs:
    """Pairs (label, leaf under it); ``*``, sets and missing labels are left to the caller."""
    numbers = np.array([i for i, x in enumerate(labels) if x not in (None, ROOT) and not _set(x)], dtype=np.int64)
    cover = Cover.of_labels(flat("", leaves), [labels[i] for i in numbers], strict=False)
    rows, found = _list_pairs(cover)
    return numbers[rows], found


def narrower(pairs: Sequence[tuple[Text, Text]], tree: Hierarchy | None = None) -> tuple[list[Text], np.ndarray]:
    """Of pairs of labels for the same value the one that says more, and whether both together leave one value."""
    if tree is not None:
        tree = tree.with_missing() if any(None in pair for pair in pairs) else tree
        names = list(dict.fromkeys(x for pair in pairs for x in pair))
        cover = Cover.of_labels(tree, names, strict=False)
        under = {x: set(cover.under(i).tolist()) for i, x in enumerate(names)}
        if all(under.values()):
            says = {x: (len(under[x]), int(level)) for x, level in zip(names, cover.levels, strict=True)}
            shown = [a if says[a] <= says[b] else b for a, b in pairs]
            return shown, np.array([len(under[a] & under[b]) == 1 for a, b in pairs], dtype=bool)
    shown = [a if _vagueness(a) <= _vagueness(b) else b for a, b in pairs]
    return shown, np.array([_vagueness(x)[0] == 0 for x in shown], dtype=bool)


def _vagueness(label: Text) -> tuple[float, int]:
    """How little a label says by itself: 0 for a value, then the width of an interval or the letters hidden."""
    if label == ROOT:
        return np.inf, 0
    interval = interval_of(label)
    if interval is not None:
        return interval.high - interval.low, 0
    text = label or ""
    return float(text.count(ROOT) + (text.count(",") if text.startswith("{") else 0)), -len(text)
