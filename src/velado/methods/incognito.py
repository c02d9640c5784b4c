"""LeFevre's Incognito: all satisfying nodes, subset by subset."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from velado.declarations import Declaration
from velado.frequency import FrequencyTable
from velado.methods.base import Found, Method, Search, no_solution, release_of
from velado.methods.clock import Clock
from velado.methods.lattice import Space
from velado.methods.monotone import require_monotone
from velado.methods.objectives import OBJECTIVES
from velado.methods.suppression import SUPPRESSION, Suppression
from velado.models import PrivacyModel
from velado.parameters import Choice
from velado.progress import Progress


@dataclass(frozen=True)
class Incognito(Method):
    """All satisfying nodes by a priori pruning, then the best of them.

    A node can only satisfy if its projections to fewer columns do, so subsets of the columns are
    searched by growing size, each bottom-up: coarser nodes of satisfying ones are marked, nodes with a
    failed projection are never grouped. LeFevre, DeWitt, Ramakrishnan, "Incognito", 2005.
    """

    suppression: Suppression = 0.0
    objective: str = "loss"
    name: ClassVar[str] = "incognito"
    declaration: ClassVar = Declaration(
        title="Incognito: all satisfying recodings, then the best",
        meaning="All levels that satisfy the models, found by growing sets of columns, and the best of them.",
        example={"objective": "precision"},
    )
    proves: ClassVar[bool] = True
    monotone_only: ClassVar[bool] = True
    parameters: ClassVar = {
        "suppression": SUPPRESSION,
        "objective": Choice("what to minimise among the satisfying nodes", tuple(OBJECTIVES)),
    }

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress | None = None) -> Found:
        """Grow subsets of the columns."""
        progress = progress or Progress()
        require_monotone(self.name, models, self.suppression)
        clock = Clock()
        m = len(frequency.hierarchies)
        passing: dict[tuple[int, ...], np.ndarray] = {(): np.ones((), dtype=bool)}
        evaluated = 0
        space = Space(frequency, models, self.objective, self.suppression, progress)
        subsets = [s for size in range(1, m + 1) for s in itertools.combinations(range(m), size)]
        for done, subset in enumerate(subsets):
            progress.at(done, len(subsets))
            part = space if len(subset) == m else Space(project(frequency, subset), models, "loss", self.suppression, progress)
            candidates = np.ones(part.shape, dtype=bool)
            for i in range(len(subset)):
                candidates &= np.expand_dims(passing[subset[:i] + subset[i + 1 :]], i)
            good = np.zeros(part.shape, dtype=bool)
            for levels in _by_height(part.shape):
                progress.check()
                if candidates[levels] and not good[levels] and part.usable(levels):
                    good[tuple(slice(x, None) for x in levels)] = True
            good &= candidates
            passing[subset] = good
            evaluated += int(part.state.integers[part.kernel.EVALUATED])
        satisfying = [tuple(int(x) for x in v) for v in np.argwhere(passing[tuple(range(m))])]
        if not satisfying:
            raise no_solution(frequency, models, self.suppression)
        for levels in satisfying:
            progress.check()
            space.usable(levels)
        best = space.best_node()
        assert best is not None
        search = Search(space.nodes, evaluated, True, 0.0, clock.seconds, self.objective, space.value(best))
        progress.at(1.0)
        return release_of(frequency, models, space.levels(best), search)


def project(frequency: FrequencyTable, subset: Sequence[int]) -> FrequencyTable:
    """The frequency table of some of the columns; rows may repeat, which grouping does not mind."""
    return replace(
        frequency,
        hierarchies=tuple(frequency.hierarchies[j] for j in subset),
        codes=np.ascontiguousarray(frequency.codes[:, list(subset)]),
    )


def _by_height(shape: Sequence[int]) -> list[tuple[int, ...]]:
    return sorted(itertools.product(*(range(d) for d in shape)), key=lambda v: (sum(v), v))
