"""Columns of numbers partitioned into sets, one by one or together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from velado.fuzzy.clustering import Clusterer, Clustering
from velado.fuzzy.global_recode import GlobalRecode, Intervals
from velado.fuzzy.memberships import crisp
from velado.fuzzy.sets import FuzzyPartition

Learned = Clustering | FuzzyPartition | Intervals


@dataclass(frozen=True)
class Coding:
    """A partition of one column, or of several jointly, and the memberships of the points it was made for.

    ``places[j, i]`` is the place of set i when the sets are put in the order of column j: the sets of a joint partition
    have one name in each column.
    """

    columns: tuple[str, ...]
    memberships: np.ndarray
    places: np.ndarray
    learned: Learned

    @classmethod
    def learn(
        cls, method: Clusterer | GlobalRecode, points: np.ndarray, counts: np.ndarray, columns: Sequence[str]
    ) -> Coding:
        """Learn the sets from points (rows × columns) that stand for so many records."""
        if isinstance(method, GlobalRecode):
            intervals = method.fit(points[:, 0], counts, columns[0])
            return cls(tuple(columns), crisp(intervals.labels, intervals.number), _rising(intervals.number), intervals)
        found = method.fit(points, counts, columns=columns)
        order = np.argsort(found.centres, axis=0, kind="stable")
        return cls(tuple(columns), found.memberships, np.argsort(order, axis=0).T, found)

    @classmethod
    def drawn(cls, partition: FuzzyPartition, points: np.ndarray, column: str) -> Coding:
        """Sets that somebody drew."""
        return cls((column,), partition.memberships(points[:, 0]), _rising(len(partition.sets)), partition)

    @property
    def sets(self) -> int:
        """Number of sets."""
        return self.memberships.shape[1]

    def memberships_of(self, points: np.ndarray) -> np.ndarray:
        """The memberships of other points, rows × columns, in the same sets."""
        if isinstance(self.learned, Clustering):
            return self.learned.memberships_of(points)
        if isinstance(self.learned, Intervals):
            return crisp(self.learned.labels_of(points[:, 0]), self.learned.number)
        return self.learned.memberships(points[:, 0])

    def described(self) -> dict[str, Any]:
        """How the sets lie and how they were found, JSON-ready; neither the lowest nor the highest value is told."""
        told: dict[str, Any] = {"columns": list(self.columns), "sets": self.sets}
        if isinstance(self.learned, Clustering):
            return told | {
                "centres": self.learned.centres.tolist(),
                "iterations": self.learned.iterations,
                "converged": self.learned.converged,
                "regularized": list(self.learned.regularized),
            }
        if isinstance(self.learned, Intervals):
            return told | {"breaks": self.learned.breaks[1:-1].tolist()}
        return told | {"corners": [s.corners for s in self.learned.sets]}


def _rising(sets: int) -> np.ndarray:
    return np.arange(sets)[None, :]
