"""The six codings of the Oviedo experiment: two columns partitioned into three sets each and crossed, or jointly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from itertools import product as combinations_of

import numpy as np

from velado.fuzzy import CMeans, GlobalRecode, GustafsonKessel, crisp, product
from velado.progress import Progress
from velado.studies.oviedo_measures import (
    SENSITIVE,
    Census,
    Figures,
    Pair,
    class_figures,
    first_labels,
    measure_partition,
    smallest_distance,
)
from velado.studies.oviedo_minima import SETS, Minimum, column_minima, joint_minima

STARTS = 100
SEED = 7
UNIFORM = (0.95012928514718, 0.23113851357429, 0.60684258354179, 0.48598246870930, 0.89129896614890, 0.76209683302739)
"""What MATLAB's generator gives first in state 0: the start of every fuzzy partition."""
C_MEANS = CMeans(SETS, tolerance=1e-4, restarts=1)
GUSTAFSON_KESSEL = GustafsonKessel(SETS, tolerance=1e-4, restarts=1)


@dataclass(frozen=True)
class Coded:
    """A coded pair: its figures as the thesis has them, and what the same coding gives without bugs.

    ``best`` says, for k-means, whether they are those of the best minimum.
    """

    figures: Figures
    correct: Figures
    best: bool | None = None


@dataclass(frozen=True)
class Coder:
    """The codings of pairs of columns; partitions of single columns are made once."""

    census: Census
    starts: int = STARTS
    progress: Progress = field(default_factory=Progress)

    def joint_fuzzy(self, pair: Pair, method: CMeans | GustafsonKessel) -> Coded:
        """Both columns at once, by c-means or Gustafson–Kessel."""
        return self._fuzzy(original_partition(method, self.census.columns(*pair)))

    def independent_fuzzy(self, pair: Pair) -> Coded:
        """Column by column, where c-means and Gustafson–Kessel are the same (theorem 4.5), and crossed."""
        return self._fuzzy(product([self._fuzzy_column[c] for c in pair]))

    def _fuzzy(self, memberships: np.ndarray) -> Coded:
        found = measure_partition(memberships, self.census.histograms, fuzzy=True)
        return Coded(found, found)

    def global_recode(self, pair: Pair) -> Coded:
        """Terciles crossed; the lowest record of each column is left out.

        Two bugs of the original are in its ℓ and t: the labels that are left stand beside the *first* records, whichever
        were left out, and `first_labels`.
        """
        a, b = (self._recoded_column[c] for c in pair)
        kept = (a >= 0) & (b >= 0)
        classes = crisp((a * SETS + b)[kept], SETS**2)
        histograms = self.census.histograms
        correct = measure_partition(classes, {s: h[kept] for s, h in histograms.items()}, whole=histograms)
        shifted = {s: h[: len(classes)] for s, h in histograms.items()}
        found = measure_partition(classes, shifted)
        if "t10" in found:
            seen = first_labels(classes, np.arange(SETS**2))
            found |= {f"t{s}": smallest_distance(classes[:, seen], h) for s, h in shifted.items()}
        return Coded(found, correct)

    def independent_k_means(self, pair: Pair, published: Mapping[str, float]) -> Coded:
        """k-means column by column, crossed: of all local minima and numberings of the sets those that fit the print."""
        choices = []
        for (i, a), (j, b) in combinations_of(*(enumerate(self._minima[c]) for c in pair)):
            labels = a.labels * SETS + b.labels
            choices.append((agreeing(class_figures(labels), published), i + j == 0, labels))
        most = max(fit for fit, _, _ in choices)
        found = []
        for fit, best, labels in choices:
            if fit == most:
                correct = measure_partition(crisp(labels, SETS**2), self.census.histograms)
                found += [(figures, correct, best) for figures in self._numbering_figures(labels, correct)]
        figures, correct, best = max(found, key=lambda f: (agreeing(f[0], published), f[2]))
        return Coded(figures, correct, best)

    def _numbering_figures(self, labels: np.ndarray, correct: Figures) -> Iterator[Figures]:
        """The figures with every numbering of the sets: `first_labels` makes t depend on it if classes are empty."""
        classes = crisp(labels, SETS**2)
        if "t10" not in correct or classes.any(axis=0).all():
            yield correct
            return
        orders = [np.array(order) for order in permutations(range(SETS))]
        numberings = [(a[:, None] * SETS + b).ravel() for a, b in combinations_of(orders, orders)]
        for seen in np.unique([first_labels(classes, numbers) for numbers in numberings], axis=0):
            yield correct | {f"t{s}": smallest_distance(classes[:, seen], h) for s, h in self.census.histograms.items()}

    def joint_k_means(self, pair: Pair, published: Mapping[str, float]) -> Coded:
        """k-means of both columns at once, in their own units: of the local minima the one that fits the print."""
        minima = joint_minima(self.census.columns(*pair), self.starts, SEED, self.progress)
        figures = [measure_partition(crisp(m.labels, SETS), self.census.histograms) for m in minima]
        fits = [agreeing(f, published) for f in figures]
        chosen = figures[fits.index(max(fits))]
        return Coded(chosen, chosen, fits[0] == max(fits))

    @cached_property
    def _fuzzy_column(self) -> dict[int, np.ndarray]:
        return {c: original_partition(C_MEANS, self.census.columns(c)) for c in self._partitioned_columns}

    @cached_property
    def _recoded_column(self) -> dict[int, np.ndarray]:
        return {c: terciles(self.census.columns(c)[:, 0]) for c in self._partitioned_columns}

    @cached_property
    def _minima(self) -> dict[int, list[Minimum]]:
        return {c: column_minima(self.census.columns(c)[:, 0]) for c in self._partitioned_columns}

    @property
    def _partitioned_columns(self) -> Iterator[int]:
        """The columns that are partitioned; between two of them the work may be cancelled."""
        for c in range(1, len(self.census.names) + 1):
            if c not in SENSITIVE:
                self.progress.check()
                yield c


def agreeing(figures: Mapping[str, float], published: Mapping[str, float]) -> int:
    """How many of the printed figures come out."""
    return sum(figures.get(name) == value for name, value in published.items())


def terciles(values: np.ndarray) -> np.ndarray:
    """sdcMicro's ``equalAmount`` as the thesis has it: terciles rounded to whole numbers, the minimum left out (−1)."""
    found = GlobalRecode(SETS, "equalAmount", "lowest").fit(values)
    return replace(found, breaks=found.breaks.round()).labels_of(values)


def original_partition(method: CMeans | GustafsonKessel, points: np.ndarray) -> np.ndarray:
    """The memberships that the toolbox of the thesis gives.

    Its start is fixed. It stops when no membership *rises* by more than the tolerance, ours when none changes by more: a
    turn or two later, which are taken back.
    """
    uniform = np.array(UNIFORM[: SETS * points.shape[1]]).reshape(-1, SETS).T
    mean = points.mean(axis=0)
    start = mean + 2 * np.abs(points - mean).max(axis=0) * (uniform - 0.5)

    def turns(number: int) -> np.ndarray:
        return replace(method, iterations=number).fit(points, start=start).memberships

    found = method.fit(points, start=start)
    number, last, before = found.iterations, found.memberships, turns(found.iterations - 1)
    while True:
        number -= 1
        earlier = turns(number - 1)
        if (before - earlier).max() > method.tolerance:
            return last
        last, before = before, earlier
