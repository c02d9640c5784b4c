"""Partitions learned from the points: what all clustering methods share.

No maintained library does weighted fuzzy clustering: scikit-fuzzy has c-means alone, without weights, and
fuzzy-c-means needs an old NumPy. So c-means and Gustafson–Kessel are ours. So is k-means: scikit-learn's is an optional
extra here, and these few lines work on counts and give the same result with any number of threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.errors import InputError
from velado.fuzzy.input_checks import check_size, checked_counts, checked_points, name_of
from velado.parameters import FLAG, Choice, Number, Parameter, check
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence

CHUNK_CELLS = 1 << 14
SAME_DIGITS = 15
"""Points that are the same to so many decimals are one point: memberships cannot tell them apart."""


@dataclass(frozen=True, repr=False)
class Scaling(Discreet):
    """Points in the units in which distances are measured."""

    low: np.ndarray
    span: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, scaled: bool, columns: Sequence[str | None]) -> Scaling:
        """From the smallest to the largest value of each column, which must differ."""
        low = points.min(axis=0)
        span = points.max(axis=0) - low
        if (span == 0).any():
            raise InputError(
                "constant-column",
                "all values are the same: there is nothing to partition",
                column=name_of(columns, int((span == 0).argmax())),
                hint="Leave the column out.",
            )
        return cls(low, span if scaled else np.ones_like(span))

    def scale(self, points: np.ndarray) -> np.ndarray:
        """In units of distance."""
        scaled: np.ndarray = (points - self.low) / self.span
        check_size(scaled)
        return scaled

    def restore(self, points: np.ndarray) -> np.ndarray:
        """In the units of the column."""
        return np.asarray(points * self.span + self.low)


@dataclass(frozen=True, repr=False)
class Iterated(Discreet):
    """Where one run from one start ended; centres in units of distance, memberships sets × rows."""

    centres: np.ndarray
    memberships: np.ndarray
    iterations: int
    converged: bool
    objective: float
    norms: np.ndarray | None = None
    regularized: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class Clustering(Discreet):
    """A learned partition.

    Sets are numbered by ascending centre, first column first. ``memberships`` has rows × sets and is that of the
    ``centres``: `memberships_of` gives the same for the same points, but for rounding. ``objective`` is the sum
    that the method makes small, in scaled units. ``regularized`` are the sets whose covariance was singular.
    ``converged`` says whether the iterations came to rest, in the best of all restarts.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("method",)
    centres: np.ndarray
    memberships: np.ndarray
    iterations: int
    converged: bool
    objective: float
    regularized: tuple[int, ...]
    method: Clusterer
    scaling: Scaling
    norms: np.ndarray | None

    def memberships_of(self, points: np.ndarray) -> np.ndarray:
        """The memberships of other points in the same sets."""
        scaled = self.scaling.scale(checked_points(points))
        squares = squared_distances(np.ascontiguousarray(scaled.T), self.scaling.scale(self.centres), self.norms)
        return self.method.membership(squares).T


@dataclass(frozen=True)
class Clusterer(ABC):
    """A method that learns a partition; subclasses iterate from start centres."""

    sets: int = 3
    iterations: int = 1000
    restarts: int = 5
    seed: int = 0
    scaled: bool = True
    name: ClassVar[str]
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "sets": Number("number of sets", low=2, high=1000, integer=True),
        "iterations": Number("most iterations of a run", low=1, integer=True, expert=True),
        "restarts": Number("runs from different starts, of which the best is taken", low=1, high=1000, integer=True, expert=True),
        "seed": Number("seed of the starts", low=0, integer=True, expert=True),
        "scaled": Choice("scale every column to the range from 0 to 1", FLAG, expert=True),
    }

    def __post_init__(self) -> None:
        check(self)

    @abstractmethod
    def membership(self, squares: np.ndarray) -> np.ndarray:
        """Memberships from squared distances to the centres, both sets × rows."""

    @abstractmethod
    def iterate(self, points: np.ndarray, counts: np.ndarray, start: np.ndarray, progress: Progress) -> Iterated:
        """One run; points are columns × rows, so that every step runs along contiguous rows."""

    def fit(
        self,
        points: np.ndarray,
        counts: np.ndarray | None = None,
        start: np.ndarray | None = None,
        columns: Sequence[str | None] = (),
        progress: Progress | None = None,
    ) -> Clustering:
        """Learn a partition of rows that stand for ``counts`` records each.

        Starts are drawn as in k-means++ (Arthur and Vassilvitskii, 2007), or given once as centres in the units of the
        points. Of several runs the one with the smallest objective is taken, the first of equal ones.
        """
        progress = progress or Progress()
        x = checked_points(points, columns)
        records = checked_counts(counts, len(x))
        scaling = Scaling.of(x, self.scaled, columns)
        scaled = scaling.scale(x)
        self._check_distinct(scaled, columns)
        if start is not None:
            starts = [self._scale_start(start, scaling)]
        else:
            rng = np.random.default_rng(self.seed)
            starts = [spread_start(scaled, records, self.sets, rng, progress) for _ in range(self.restarts)]
        upright = np.ascontiguousarray(scaled.T)
        runs = []
        for number, centres in enumerate(starts):
            progress.at(number, len(starts))
            runs.append(self.iterate(upright, records, centres, progress))
        best = min(runs, key=lambda run: run.objective)
        order = np.lexsort(best.centres.T[::-1])
        return Clustering(
            scaling.restore(best.centres[order]),
            np.ascontiguousarray(best.memberships[order].T),
            best.iterations,
            best.converged,
            best.objective,
            tuple(int(i) for i in np.flatnonzero(np.isin(order, best.regularized))),
            self,
            scaling,
            None if best.norms is None else best.norms[order],
        )

    def _scale_start(self, start: np.ndarray, scaling: Scaling) -> np.ndarray:
        centres = checked_points(start)
        if centres.shape != (self.sets, len(scaling.low)):
            raise InputError(
                "bad-start",
                Sentence(
                    "start centres must be {sets} points of {columns} column(s) each", sets=self.sets, columns=len(scaling.low)
                ),
            )
        return scaling.scale(centres)

    def _check_distinct(self, points: np.ndarray, columns: Sequence[str | None]) -> None:
        # A few rows usually settle it; all are sorted only if they do not.
        for part in (points[: 100 * self.sets], points):
            distinct = len(np.unique(np.round(part, SAME_DIGITS), axis=0))
            if distinct >= self.sets:
                return
        hint = Sentence("Ask for at most {distinct} sets.", distinct=distinct)
        if len(np.unique(points, axis=0)) > distinct:
            hint = Sentence(
                "Ask for at most {distinct} sets. Beside an extreme number, all others are the same: is it right?",
                distinct=distinct,
            )
        raise InputError(
            "too-few-points",
            Sentence("{distinct} different points cannot be partitioned into {sets} sets", distinct=distinct, sets=self.sets),
            column=columns[0] if len(columns) == 1 else None,
            hint=hint,
        )


def spread_start(points: np.ndarray, counts: np.ndarray, sets: int, rng: np.random.Generator, progress: Progress) -> np.ndarray:
    """Points drawn with probability proportional to records × squared distance to the nearest one drawn before."""
    chosen = [points[rng.choice(len(points), p=counts / counts.sum())]]
    nearest = np.full(len(points), np.inf)
    while len(chosen) < sets:
        progress.check()
        nearest = np.minimum(nearest, ((points - chosen[-1]) ** 2).sum(axis=1))
        weights = nearest * counts
        chosen.append(points[rng.choice(len(points), p=weights / weights.sum())])
    return np.array(chosen)


def chunks(rows: int, cells: int, progress: Progress | None = None) -> Iterator[slice]:
    """Slices of rows with ``cells`` numbers each that stay in the cache of a core; between two, the call may be cancelled.

    Matrix products of this size are also left to one thread by BLAS, which loses more by several here.
    """
    progress, step = progress or Progress(), max(CHUNK_CELLS // cells, 1)
    for first in range(0, rows, step):
        progress.check()
        yield slice(first, first + step)


def squared_distances(
    points: np.ndarray, centres: np.ndarray, norms: np.ndarray | None = None, progress: Progress | None = None
) -> np.ndarray:
    """(x − v)ᵀ A (x − v), sets × rows; points are columns × rows, ``norms`` the factors L of A = L Lᵀ of the sets."""
    squares = np.empty((len(centres), points.shape[1]))
    for part in chunks(points.shape[1], len(points), progress):
        for i, centre in enumerate(centres):
            away = points[:, part] - centre[:, None]
            if norms is not None:
                away = norms[i].T @ away
            squares[i, part] = np.einsum("dn,dn->n", away, away)
    return squares
