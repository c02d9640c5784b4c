"""Gustafson–Kessel: c-means whose sets have shapes of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.fuzzy.clustering import Iterated, chunks, squared_distances
from velado.fuzzy.fuzzy_clustering import FuzzyClusterer, weighted_means
from velado.parameters import Number
from velado.progress import Progress


@dataclass(frozen=True)
class GustafsonKessel(FuzzyClusterer):
    """Fuzzy c-means with the distance (x − v_i)ᵀ A_i (x − v_i), A_i = (det F_i)^(1/d) F_i⁻¹, F_i the fuzzy covariance.

    So the sets are ellipsoids of the same volume: ρ = det A_i is 1, as any common value gives the same memberships. With
    one column it is c-means. A covariance that is singular, or nearly (largest eigenvalue above ``condition`` times the
    smallest), has its small eigenvalues raised and is reported.
    Gustafson and Kessel, "Fuzzy clustering with a fuzzy covariance matrix", 1979; Babuška, van der Veen and Kaymak,
    "Improved covariance estimation for Gustafson–Kessel clustering", 2002.
    """

    condition: float = 1e12
    name: ClassVar[str] = "gustafson-kessel"
    parameters: ClassVar = {
        **FuzzyClusterer.parameters,
        "condition": Number("largest ratio of the eigenvalues of a covariance", low=1, low_open=True, high=1e15, expert=True),
    }

    def iterate(self, points: np.ndarray, counts: np.ndarray, start: np.ndarray, progress: Progress) -> Iterated:
        """The first memberships are those of c-means: there is no covariance yet."""
        weights = counts.astype(float)
        memberships = self.membership(squared_distances(points, start, progress=progress))
        powers = np.empty_like(memberships)
        centres = start
        for iteration in range(1, self.iterations + 1):  # noqa: B007
            self.apply_fuzzifier(memberships, out=powers)
            powers *= weights
            totals = powers.sum(axis=1)
            centres = weighted_means(powers @ points.T, totals, centres)
            shapes = [self._shape(f) for f in _covariances(points, centres, powers, totals, progress)]
            norms = np.array([norm for norm, _ in shapes])
            squares = squared_distances(points, centres, norms, progress)
            objective = float((powers * squares).sum())
            new = self.membership(squares)
            converged = self.change(new - memberships) <= self.tolerance
            memberships = new
            if converged:
                break
        regularized = tuple(i for i, (_, singular) in enumerate(shapes) if singular)
        return Iterated(centres, memberships, iteration, converged, objective, norms, regularized)

    def _shape(self, covariance: np.ndarray) -> tuple[np.ndarray, bool]:
        """The factor of A and whether the covariance had to be regularized."""
        values, vectors = np.linalg.eigh(covariance)
        least = values[-1] / self.condition
        singular = bool(values[0] < least or values[-1] <= 0)
        values = np.maximum(values, least) if values[-1] > 0 else np.ones_like(values)
        # Logarithms: a product of many small eigenvalues underflows.
        volume = np.log(values).mean()
        return vectors * np.exp((volume - np.log(values)) / 2), singular


def _covariances(points: np.ndarray, centres: np.ndarray, powers: np.ndarray, totals: np.ndarray, progress: Progress) -> np.ndarray:
    """Σ μ^m (x − v)(x − v)ᵀ / Σ μ^m of each set; 0 for a set to which nobody belongs."""
    sums = np.zeros((len(centres), len(points), len(points)))
    for part in chunks(points.shape[1], len(points), progress):
        for i, centre in enumerate(centres):
            away = points[:, part] - centre[:, None]
            sums[i] += (away * powers[i, part]) @ away.T
    return sums / np.where(totals > 0, totals, 1.0)[:, None, None]
