"""What the released labels of a column stand for in the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from velado.errors import InputError
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.labels import Interval, intervals_of, stands_for
from velado.results import Discreet
from velado.sentences import Sentence
from velado.values import ROOT, Text

UPTO = ".."
"""Between the first and the last group of a label that stands for several: ``1975-03..1981-11``."""


@dataclass(frozen=True, repr=False)
class Cover(Discreet):
    """The labels of a released column and the leaves under each of them.

    The leaves of label i are ``leaves[first[i] … last[i]]``; ranges of labels may overlap (local recoding), and a
    leaf may be under no label (all its records suppressed). ``levels`` is the level of each label in the
    hierarchy, −1 where it has none.
    """

    hierarchy: Hierarchy
    labels: tuple[Text, ...]
    leaves: np.ndarray
    first: np.ndarray
    last: np.ndarray
    levels: np.ndarray

    @classmethod
    def at_level(cls, hierarchy: Hierarchy, level: int) -> Cover:
        """All labels of a level."""
        leaves = np.argsort(hierarchy.maps[level], kind="stable")
        last = np.cumsum(hierarchy.group_sizes(level))
        labels = hierarchy.labels[level]
        first = np.concatenate([[0], last[:-1]])
        return cls(hierarchy, labels, leaves, first, last, np.full(len(labels), level))

    @classmethod
    def of_labels(
        cls,
        hierarchy: Hierarchy,
        labels: Sequence[Text],
        file: str | None = None,
        strict: bool = True,
        records: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> Cover:
        """The labels found in a release: looked up in the hierarchy, else read as what they say.

        Where several levels have a label, the lowest one counts that has enough records: ``records`` are those of
        the labels in the release and those of the leaves in the original. A label that stands for no leaf is an error if
        ``strict``.
        """
        plain = [_plain(hierarchy, label) for label in labels]
        places = [{label: i for i, label in enumerate(names)} for names in hierarchy.labels]
        enough = _enough(hierarchy, records)
        common = [x for x, place in enumerate(places) if all(label in place for label in plain)]
        # A day that is written anew may look like one of the ways in which the column writes it.
        rewritten = hierarchy.scale is not None and hierarchy.scale.rewritten
        for level in common:
            chosen = [places[level][label] for label in plain]
            last = level == common[-1] and not rewritten
            if records is None or last or (enough[level][chosen] >= records[0]).all():
                whole = cls.at_level(hierarchy, level)
                return cls(hierarchy, tuple(plain), whole.leaves, whole.first[chosen], whole.last[chosen], whole.levels[chosen])
        members: list[np.ndarray] = []
        levels: list[int] = []
        numbers = hierarchy.leaf_numbers
        intervals = _intervals(hierarchy, plain)
        unknown = []
        for i, label in enumerate(plain):
            known = [x for x, place in enumerate(places) if label in place]
            fits = [x for x in known if records is None or enough[x][places[x][label]] >= records[0][i]]
            if fits or (known and not rewritten):
                level = fits[0] if fits else known[-1]
                found = np.flatnonzero(hierarchy.maps[level] == places[level][label])
            else:
                found, level = _members(hierarchy, label, numbers, intervals[i])
            if not len(found):
                unknown.append("(missing)" if label is None else labels[i])
            members.append(found)
            levels.append(level)
        if unknown and strict:
            raise InputError(
                "not-corresponding",
                Sentence("{count} released value(s) stand for no value of the original", count=len(unknown)),
                file=file,
                column=hierarchy.column,
                values=unknown,
                hint="Give the hierarchy that the release was made with (--hierarchy COLUMN=FILE or --project), "
                "or check that the release belongs to this original.",
            )
        ends = np.cumsum([0, *(len(m) for m in members)])
        leaves = np.concatenate(members) if members else np.zeros(0, dtype=np.int64)
        return cls(hierarchy, tuple(plain), leaves, ends[:-1], ends[1:], np.array(levels, dtype=np.int64))

    @property
    def column(self) -> str:
        """Name of the column."""
        return self.hierarchy.column

    @property
    def sizes(self) -> np.ndarray:
        """Leaves under each label."""
        return np.asarray(self.last - self.first)

    def under(self, label: int) -> np.ndarray:
        """The leaves under a label."""
        return self.leaves[self.first[label] : self.last[label]]

    def sums(self, per_leaf: np.ndarray) -> np.ndarray:
        """Sum of a figure of the leaves under each label, along the last axis."""
        total = np.zeros((*per_leaf.shape[:-1], len(self.leaves) + 1), dtype=np.result_type(per_leaf, np.int64))
        np.cumsum(per_leaf[..., self.leaves], axis=-1, out=total[..., 1:])
        return total[..., self.last] - total[..., self.first]

    def members(self, label: int) -> np.ndarray:
        """Whether each leaf is under a label."""
        inside = np.zeros(len(self.hierarchy.leaves), dtype=bool)
        inside[self.under(label)] = True
        return inside

    @cached_property
    def label_of_leaf(self) -> np.ndarray | None:
        """The one label above each leaf, −1 where there is none; None if labels overlap."""
        if self.sizes.sum() > len(self.hierarchy.leaves):
            return None
        label = np.full(len(self.hierarchy.leaves), -1, dtype=np.int64)
        for i in range(len(self.labels)):
            under = self.under(i)
            if (label[under] >= 0).any():
                return None
            label[under] = i
        return label

    @cached_property
    def intervals(self) -> list[Interval | None]:
        """What the labels of a numeric column say by themselves, None where one says nothing (``*``, missing)."""
        return _intervals(self.hierarchy, self.labels)

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The leaves as numbers, if the column is numeric: numbers released as numbers, intervals or ``*``."""
        scale = self.hierarchy.scale
        if scale is not None and scale.kind == "date":
            # Days written without separators look like numbers, and so do years that stand for them.
            return None
        numbers = self.hierarchy.leaf_numbers
        plain = all(i is not None or x in (None, ROOT) for x, i in zip(self.labels, self.intervals, strict=True))
        return numbers if plain else None

    @cached_property
    def bounds(self) -> np.ndarray | None:
        """Lower and upper limit of each label of a numeric column, NaN where it says nothing (``*``, missing).

        An open end takes the outermost value under it.
        """
        if self.numbers is None:
            return None
        said = [(np.nan, np.nan) if x is None else (x.low, x.high) for x in self.intervals]
        limits = np.array(said, dtype=float).reshape(-1, 2)
        for i in np.flatnonzero(np.isinf(limits).any(axis=1)):
            under = self.numbers[self.under(int(i))]
            limits[i] = np.where(np.isinf(limits[i]), [np.nanmin(under), np.nanmax(under)], limits[i])
        return limits

    @cached_property
    def points(self) -> np.ndarray:
        """The number or day that a label names although it stands for others, too (a mode, a mean); NaN for all others."""
        found = np.full(len(self.labels), np.nan)
        scale = self.hierarchy.scale
        if scale is None or scale.kind == "order":
            return found
        for i in np.flatnonzero((self.sizes > 1) & (self.levels <= 0)):
            label = self.labels[i]
            if label is None or label == ROOT:
                continue
            if label in self.hierarchy.code:
                point = float(scale.numbers[self.hierarchy.code[label]])
            elif self.bounds is not None:
                point = float(self.bounds[i, 0]) if self.bounds[i, 0] == self.bounds[i, 1] else np.nan
            else:
                point = scale.day(label)
            if (scale.numbers[self.under(int(i))] != point).any():
                found[i] = point
        return found

    @property
    def reach(self) -> np.ndarray:
        """Lower and upper limit of what each label of a numeric column stands for.

        That of the label itself, except for a number that stands for other numbers, too (a mode, a mean).
        """
        assert self.bounds is not None
        assert self.numbers is not None
        limits = self.bounds.copy()
        for i in np.flatnonzero((limits[:, 0] == limits[:, 1]) & (self.sizes > 1)):
            under = self.numbers[self.under(int(i))]
            limits[i] = np.nanmin(under), np.nanmax(under)
        return limits


def _intervals(hierarchy: Hierarchy, labels: Sequence[Text]) -> list[Interval | None]:
    """What labels say: values of the column in its own notation, the others in the one that they share."""
    notation = hierarchy.leaf_notation
    values = [label in hierarchy.code and notation is not None for label in labels]
    others = iter(intervals_of([x for x, value in zip(labels, values, strict=True) if not value], notation))
    return [intervals_of([label], notation)[0] if value else next(others) for label, value in zip(labels, values, strict=True)]


def _plain(hierarchy: Hierarchy, label: Text) -> Text:
    """A label without the apostrophe that guards spreadsheets from formulas."""
    if label is None or not label.startswith("'") or any(label in names for names in hierarchy.labels):
        return label
    return label[1:]


def _enough(hierarchy: Hierarchy, records: tuple[np.ndarray, np.ndarray] | None) -> list[np.ndarray]:
    """Per level, the original records of each group."""
    if records is None:
        return []
    return [np.bincount(hierarchy.maps[x], weights=records[1], minlength=len(hierarchy.labels[x])) for x in range(hierarchy.levels)]


def _members(hierarchy: Hierarchy, label: Text, numbers: np.ndarray | None, interval: Interval | None) -> tuple[np.ndarray, int]:
    """The leaves under a label that the hierarchy does not have, and its level (−1: none)."""
    if label is None or label == ROOT:
        return np.arange(len(hierarchy.leaves)), hierarchy.height
    limits = hierarchy.scale.limits(label) if hierarchy.scale is not None else None
    if limits is not None and hierarchy.scale is not None:
        days = hierarchy.scale.numbers
        return np.flatnonzero((days >= limits[0]) & (days <= limits[1])), -1
    groups = _from_group_to_group(hierarchy, label)
    if groups is not None:
        return groups, -1
    return stands_for(label, hierarchy.leaves, numbers, interval), -1


def _from_group_to_group(hierarchy: Hierarchy, label: str) -> np.ndarray | None:
    """The leaves of a label ``group..group`` of dates: from the first of the one to the last of the other."""
    scale = hierarchy.scale
    if scale is None or scale.kind != "date":
        return None
    for level in range(1, hierarchy.levels):
        place = {name: i for i, name in enumerate(hierarchy.labels[level]) if name is not None}
        parts = label.split(UPTO)
        for at in range(1, len(parts)):
            first, last = place.get(UPTO.join(parts[:at])), place.get(UPTO.join(parts[at:]))
            if first is not None and last is not None:
                low = scale.numbers[hierarchy.maps[level] == first].min()
                high = scale.numbers[hierarchy.maps[level] == last].max()
                return np.flatnonzero((scale.numbers >= low) & (scale.numbers <= high))
    return None
