"""Local minima of k-means: where the Oviedo experiment, whose random starts are not known, can have ended.

The program of the thesis (MATLAB's ``kmeans``) moves single points after Lloyd's turns until no move of one point makes
the sum of squares smaller. Only partitions that such moves leave alone are candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from velado.fuzzy import KMeans, strongest
from velado.progress import Progress

SETS = 3
NO_GAIN = 1e-9


@dataclass(frozen=True)
class Minimum:
    """A partition that no turn and no single move improves; ``objective`` is its sum of squared distances."""

    labels: np.ndarray
    objective: float


def column_minima(values: np.ndarray) -> list[Minimum]:
    """All local minima of one column with three sets, the best first.

    Sets of a local minimum are intervals, so all pairs of cuts between different values are tried: O(values²).
    """
    distinct, counts = np.unique(values, return_counts=True)
    last = len(distinct)
    total, sums, squares = (np.concatenate([[0.0], np.cumsum(counts * distinct**power)]) for power in (0, 1, 2))
    cuts = np.array(np.triu_indices(last - 1, 1)) + 1
    edges = [np.zeros_like(cuts[0]), *cuts, np.full_like(cuts[0], last)]
    sizes, means, objective = [], [], np.zeros(cuts.shape[1])
    for low, high in pairwise(edges):
        size, part = total[high] - total[low], sums[high] - sums[low]
        sizes.append(size)
        means.append(part / size)
        objective += squares[high] - squares[low] - part**2 / size
    at_rest = np.ones(cuts.shape[1], dtype=bool)
    for left, cut in enumerate(cuts):
        for value, own, other in ((distinct[cut - 1], left, left + 1), (distinct[cut], left + 1, left)):
            stays = _cost(value, sizes[own], means[own], -1) <= _cost(value, sizes[other], means[other], 1)
            at_rest &= stays | (sizes[own] == 1)
    found = np.flatnonzero(at_rest)
    return [
        Minimum(np.searchsorted(distinct[cuts[:, i]], values, side="right"), float(objective[i]))
        for i in found[np.argsort(objective[found], kind="stable")]
    ]


def _cost(value: np.ndarray, size: np.ndarray, mean: np.ndarray, change: int) -> np.ndarray:
    """What a point adds to the sum of squares of a set that it leaves (−1) or enters (+1)."""
    return np.asarray(size / np.maximum(size + change, 1) * (value - mean) ** 2 * (1 + change * NO_GAIN))


def joint_minima(points: np.ndarray, starts: int, seed: int, progress: Progress | None = None) -> list[Minimum]:
    """The local minima of several columns that are reached from random records, the best first."""
    progress = progress or Progress()
    rng = np.random.default_rng(seed)
    method = KMeans(SETS, restarts=1, scaled=False)
    reached = {}
    for _ in range(starts):
        progress.check()
        start = points[rng.choice(len(points), SETS, replace=False)]
        labels = strongest(method.fit(points, start=start).memberships)
        reached[labels.tobytes()] = labels
    minima = {m.labels.tobytes(): m for m in (settle(points, labels, progress) for labels in reached.values())}
    return sorted(minima.values(), key=lambda m: m.objective)


def settle(points: np.ndarray, labels: np.ndarray, progress: Progress | None = None) -> Minimum:
    """Move one point after the other, the most gainful first, until nothing is gained (Hartigan, 1975).

    Sets are numbered by their first record.
    """
    progress = progress or Progress()
    every, labels = np.arange(len(points)), labels.copy()
    while True:
        progress.check()
        members = labels == np.arange(SETS)[:, None]
        sizes = members.sum(axis=1)
        centres = members @ points / sizes[:, None]
        squares = ((points[:, None] - centres) ** 2).sum(axis=2)
        cost = squares * (sizes / (sizes + 1))
        own = squares[every, labels] * (sizes / np.maximum(sizes - 1, 1))[labels]
        # A set keeps its last point.
        own[sizes[labels] == 1] = 0.0
        cost[every, labels] = np.inf
        gain = own - cost.min(axis=1)
        best = int(gain.argmax())
        if gain[best] <= NO_GAIN * own[best]:
            order = np.argsort(members.argmax(axis=1))
            return Minimum(np.argsort(order)[labels], float(squares[every, labels].sum()))
        labels[best] = int(cost[best].argmin())
