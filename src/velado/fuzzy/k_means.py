"""k-means: the crisp counterpart of c-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.fuzzy.clustering import Clusterer, Iterated, squared_distances
from velado.fuzzy.memberships import crisp
from velado.progress import Progress


@dataclass(frozen=True)
class KMeans(Clusterer):
    """Lloyd's k-means: minimize the squared distances of the points to the centre of their set.

    Stops when no point moves. A set that loses all its points begins again at the point farthest from its centre.
    Lloyd, "Least squares quantization in PCM", 1982.

    >>> KMeans(sets=2).fit([1.0, 2.0, 3.0, 11.0, 12.0, 13.0]).centres.ravel()
    array([ 2., 12.])
    """

    name: ClassVar[str] = "k-means"

    def membership(self, squares: np.ndarray) -> np.ndarray:
        """1 in the set with the nearest centre, the first of equal ones."""
        return crisp(squares.argmin(axis=0), len(squares)).T

    def iterate(self, points: np.ndarray, counts: np.ndarray, start: np.ndarray, progress: Progress) -> Iterated:
        """By turns: points to the nearest centre, centres to the mean of their points."""
        every = np.arange(points.shape[1])
        centres = start
        labels = np.full(points.shape[1], -1)
        for iteration in range(1, self.iterations + 1):  # noqa: B007
            squares = squared_distances(points, centres, progress=progress)
            nearest = squares.argmin(axis=0)
            self._fill(nearest, squares[nearest, every])
            moved = bool((nearest != labels).any())
            labels = nearest
            if not moved:
                break
            members = crisp(labels, self.sets).T * counts
            centres = (members @ points.T) / members.sum(axis=1)[:, None]
        objective = float(counts @ ((points - centres[labels].T) ** 2).sum(axis=0))
        return Iterated(centres, crisp(labels, self.sets).T, iteration, not moved, objective)

    def _fill(self, labels: np.ndarray, squares: np.ndarray) -> None:
        for empty in np.flatnonzero(np.bincount(labels, minlength=self.sets) == 0):
            alone = np.bincount(labels, minlength=self.sets)[labels] == 1
            farthest = np.where(alone, -1.0, squares).argmax()
            labels[farthest] = empty
            squares[farthest] = 0.0
