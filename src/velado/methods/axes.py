"""Columns as Mondrian cuts them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from velado.hierarchies import Hierarchy
from velado.results import Discreet
from velado.values import ROOT

WIDEST = 2**31


@dataclass(frozen=True, repr=False)
class Axis(Discreet):
    """A column as it is cut: the leaves in order, and a whole number from 0 on for each.

    ``rank`` is the place of each leaf (equal numbers share one) and ``order`` the leaves by place, ``ends`` where
    each place ends in it. A column without a scale is a tree: ``groups[level]`` gives the group of each place,
    contiguous at every level. Dates under a hierarchy have a place for each group of its first level, ``steps``: no cut
    and no limit is finer than a month where months are the first level.
    """

    hierarchy: Hierarchy
    rank: np.ndarray
    numbers: np.ndarray
    groups: np.ndarray
    steps: np.ndarray | None = None

    @property
    def is_ordered(self) -> bool:
        """Whether the column is cut between two values."""
        return self.hierarchy.scale is not None

    @cached_property
    def order(self) -> np.ndarray:
        """The leaves by place."""
        return np.argsort(self.rank, kind="stable")

    @cached_property
    def values(self) -> np.ndarray:
        """The number at each place of a scale, of several the lowest; NaN last for missing values."""
        assert self.hierarchy.scale is not None
        begins = np.concatenate([[0], self.ends[:-1]])
        return np.asarray(np.minimum.reduceat(self.hierarchy.scale.numbers[self.order], begins))

    @cached_property
    def ends(self) -> np.ndarray:
        """Where each place ends among the ordered leaves."""
        return np.cumsum(np.bincount(self.rank, minlength=len(self.numbers)))

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Axis:
        """Numbers by value (decimals scaled up), missing last; trees by their groups, the highest level first."""
        h = hierarchy.with_root()
        if h.scale is None:
            order = np.lexsort(h.maps)
            rank = np.empty(len(order), dtype=np.int64)
            rank[order] = np.arange(len(order))
            return cls(h, rank, np.arange(len(order)), np.array([m[order] for m in h.maps], dtype=np.int64))
        different, rank = np.unique(h.scale.numbers, return_inverse=True)
        return cls(h, rank.reshape(-1), _whole(different), np.zeros((0, 0), dtype=np.int64))

    @classmethod
    def cut(cls, hierarchy: Hierarchy) -> Axis:
        """The same as it may be cut: dates between groups of the first level that says something, if there is one.

        Groups that are not one stretch of time each (seasons, weekdays) leave no order to cut in: then it is a tree.
        """
        exact = cls.of(hierarchy)
        scale = exact.hierarchy.scale
        if scale is None or scale.kind != "date" or hierarchy.height < 1 or ROOT in hierarchy.labels[1]:
            return exact
        group = exact.hierarchy.maps[1]
        first = np.full(len(hierarchy.labels[1]), len(exact.rank))
        last = np.zeros(len(first), dtype=np.int64)
        np.minimum.at(first, group, exact.rank)
        np.maximum.at(last, group, exact.rank)
        steps = np.argsort(first)
        if (first[steps][1:] <= last[steps][:-1]).any():
            return cls.of(replace(hierarchy, scale=None))
        place = np.argsort(steps)
        return replace(exact, rank=place[group], numbers=exact.numbers[first[steps]], steps=steps)


def _whole(numbers: np.ndarray) -> np.ndarray:
    """Ascending numbers as whole ones from 0 on, scaled up if they have decimals; missing ones as the largest.

    They measure widths; numbers without a common step that fits 31 bits are rounded to 2³¹ steps over the range.
    """
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return np.zeros(len(numbers), dtype=np.int64)
    moved = known - known[0]
    for digits in range(10):
        scaled = moved * 10.0**digits
        if scaled[-1] >= WIDEST:
            break
        if np.abs(scaled - np.round(scaled)).max() <= 1e-6:
            return np.append(np.round(scaled), [np.round(scaled[-1])] * (len(numbers) - len(known))).astype(np.int64)
    steps = np.round(moved / max(moved[-1], 1e-300) * (WIDEST - 1))
    return np.append(steps, [steps[-1]] * (len(numbers) - len(known))).astype(np.int64)
