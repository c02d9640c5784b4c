"""Columns of numbers partitioned into sets, one by one or together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from velado.fuzzy.clustering import Clusterer, Clustering
from velado.fuzzy.global_recode import GlobalRecode, Intervals
from velado.fuzzy.memberships import crisp
from velado.fuzzy.sets import FuzzyPartition
from velado.progress import Progress
from velado.results import Discreet


@dataclass(frozen=True, repr=False)
class Means(Discreet):
    """The mean of those who belong to each set, sets × columns: what may be told of sets that were learned from others, too."""

    centres: np.ndarray


Learned = Clustering | FuzzyPartition | Intervals | Means


@dataclass(frozen=True, repr=False)
class Coding(Discreet):
    """A partition of one column, or of several jointly, and the memberships of the points it was made for.

    ``places[j, i]`` is the place of set i when the sets are put in the order of column j: the sets of a joint partition
    have one name in each column. ``usual`` are the mean of each column minus and plus two standard deviations.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("columns",)
    columns: tuple[str, ...]
    memberships: np.ndarray
    places: np.ndarray
    learned: Learned
    usual: np.ndarray

    @classmethod
    def learn(
        cls,
        method: Clusterer | GlobalRecode,
        points: np.ndarray,
        counts: np.ndarray,
        columns: Sequence[str],
        progress: Progress | None = None,
    ) -> Coding:
        """Learn the sets from points (rows × columns) that stand for so many records."""
        if isinstance(method, GlobalRecode):
            intervals = method.fit(points[:, 0], counts, columns[0])
            memberships, places = crisp(intervals.labels, intervals.number), _rising(intervals.number)
            return cls(tuple(columns), memberships, places, intervals, _usual(points, counts))
        found = method.fit(points, counts, columns=columns, progress=progress)
        order = np.argsort(found.centres, axis=0, kind="stable")
        return cls(tuple(columns), found.memberships, np.argsort(order, axis=0).T, found, _usual(points, counts))

    @classmethod
    def from_partition(cls, partition: FuzzyPartition, points: np.ndarray, counts: np.ndarray, column: str) -> Coding:
        """Sets that somebody drew."""
        memberships, places = partition.memberships(points[:, 0]), _rising(len(partition.sets))
        return cls((column,), memberships, places, partition, _usual(points, counts))

    @property
    def sets(self) -> int:
        """Number of sets."""
        return int(self.memberships.shape[1])

    @property
    def centres(self) -> np.ndarray | None:
        """Sets × columns, where the sets were learned by clustering."""
        return self.learned.centres if isinstance(self.learned, Clustering | Means) else None

    @property
    def corners(self) -> list[list[float]] | None:
        """Of each set, where the sets were drawn."""
        return [s.corners for s in self.learned.sets] if isinstance(self.learned, FuzzyPartition) else None

    @property
    def breaks(self) -> np.ndarray | None:
        """Where the intervals of global recode begin and end; the outermost are values of single records."""
        return self.learned.breaks if isinstance(self.learned, Intervals) else None

    @property
    def is_known(self) -> bool:
        """Whether it is known how far any point belongs to the sets."""
        return not isinstance(self.learned, Means)

    def public_view(self, shown: np.ndarray, points: np.ndarray, counts: np.ndarray) -> Coding:
        """The sets as released points let them appear: in ascending order, learned ones with means for centres.

        ``shown`` are the memberships of the points in the sets in that order.
        """
        learned = self.learned
        if isinstance(learned, Clustering):
            records = shown * counts[:, None]
            total = records.sum(axis=0)
            learned = Means((records.T @ points) / np.where(total > 0, total, 1)[:, None])
        order = np.argsort(self.places[0])
        return replace(self, memberships=shown, places=self.places[:, order], learned=learned, usual=_usual(points, counts))

    def memberships_of(self, points: np.ndarray) -> np.ndarray:
        """The memberships of other points, rows × columns, in the same sets."""
        if isinstance(self.learned, Clustering):
            return self.learned.memberships_of(points)
        if isinstance(self.learned, Intervals):
            return crisp(self.learned.labels_of(points[:, 0]), self.learned.number)
        assert isinstance(self.learned, FuzzyPartition)
        return self.learned.memberships(points[:, 0])


def _rising(sets: int) -> np.ndarray:
    return np.arange(sets)[None, :]


def _usual(points: np.ndarray, counts: np.ndarray) -> np.ndarray:
    mean = np.average(points, axis=0, weights=counts)
    spread = np.sqrt(np.average((points - mean) ** 2, axis=0, weights=counts))
    return np.array([mean - 2 * spread, mean + 2 * spread])
