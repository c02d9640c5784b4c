"""Fuzzy c-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.fuzzy.clustering import Iterated, chunks
from velado.fuzzy.fuzzy_clustering import FuzzyClusterer, weighted_means
from velado.progress import Progress

NEAR = 1e-6
"""Squared distances below this share of ‖z‖² are taken from differences: the product has lost too many digits."""


@dataclass(frozen=True)
class CMeans(FuzzyClusterer):
    """Fuzzy c-means: minimize Σ_i Σ_k μ_ik^m ‖x_k − v_i‖² by turns in the memberships μ and the centres v.

    O(iterations · n · sets · columns). Bezdek, "Pattern recognition with fuzzy objective function algorithms", 1981.

    >>> found = CMeans(sets=2).fit([1.0, 2.0, 3.0, 11.0, 12.0, 13.0])
    >>> found.centres.round(2).ravel(), found.converged
    (array([ 2., 12.]), True)
    """

    name: ClassVar[str] = "c-means"

    def iterate(self, points: np.ndarray, counts: np.ndarray, start: np.ndarray, progress: Progress) -> Iterated:
        """Each turn is one pass over the points, chunk by chunk, in two matrix products.

        With z' = (z, ‖z‖², 1), squared distances are the products of z' with (−2v, 1, ‖v‖²), and all sums that the next
        centres need are those of μ^m·z'.
        """
        dimensions, rows = points.shape
        extended = np.concatenate([points, (points**2).sum(axis=0)[None], np.ones((1, rows))])
        nearest = NEAR * extended[-2].max()
        weights = None if (counts == 1).all() else counts.astype(float)
        memberships = np.zeros((self.sets, rows))
        following = start
        for iteration in range(1, self.iterations + 1):  # noqa: B007
            centres = following
            towards = np.column_stack([-2 * centres, np.ones(self.sets), (centres**2).sum(axis=1)])
            sums = np.zeros((self.sets, dimensions + 2))
            change = 0.0
            for part in chunks(rows, self.sets, progress):
                squares = towards @ extended[:, part]
                if squares.min() < nearest:
                    i, k = np.nonzero(squares < NEAR * extended[-2, part])
                    squares[i, k] = ((points[:, part][:, k] - centres[i].T) ** 2).sum(axis=0)
                new = self.membership(squares)
                old = memberships[:, part]
                np.subtract(new, old, out=old)
                change = max(change, self.change(old))
                old[...] = new
                self.apply_fuzzifier(new, out=new)
                if weights is not None:
                    new *= weights[part]
                sums += new @ extended[:, part].T
            following = weighted_means(sums[:, :dimensions], sums[:, -1], centres)
            converged = change <= self.tolerance
            if converged:
                break
        # μ^(m−1)·d² is the same for all sets of a point, and their memberships sum to 1: one set gives the objective.
        strongest = memberships.argmax(axis=0)
        squares = ((points - centres[strongest].T) ** 2).sum(axis=0)
        degrees = memberships[strongest, np.arange(rows)]
        objective = float(counts @ (degrees ** (self.fuzzifier - 1) * squares))
        return Iterated(centres, memberships, iteration, converged, objective)
