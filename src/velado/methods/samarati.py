"""Samarati's binary search on the height of the lattice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from velado.declarations import Declaration
from velado.frequency import FrequencyTable
from velado.methods.base import Found, Method, Search, no_solution, release_of
from velado.methods.clock import Clock
from velado.methods.lattice import Space
from velado.methods.monotone import require_monotone
from velado.methods.suppression import SUPPRESSION, Suppression
from velado.models import PrivacyModel
from velado.progress import Progress


@dataclass(frozen=True)
class Samarati(Method):
    """A satisfying node of the smallest height (sum of levels), the lexicographically smallest of them.

    If a node satisfies, so do all coarser ones; the smallest height with a satisfying node is
    found by bisection. Samarati, "Protecting respondents' identities in microdata release", 2001.
    """

    suppression: Suppression = 0.0
    name: ClassVar[str] = "samarati"
    declaration: ClassVar = Declaration(
        title="Samarati: smallest sum of levels",
        meaning="Levels of the smallest sum that satisfy the models, found by halving the heights of the lattice.",
        example={"suppression": 0.05},
    )
    proves: ClassVar[bool] = True
    monotone_only: ClassVar[bool] = True
    parameters: ClassVar = {"suppression": SUPPRESSION}

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress | None = None) -> Found:
        """Bisect the heights."""
        progress = progress or Progress()
        require_monotone(self.name, models, self.suppression)
        clock = Clock()
        space = Space(frequency, models, "loss", self.suppression, progress)
        low, high = 0, sum(d - 1 for d in space.shape)
        best = self._first(space, high, progress)
        if best is None:
            raise no_solution(frequency, models, self.suppression)
        steps = high.bit_length() + 1
        for step in itertools.count():
            if low >= high:
                break
            progress.at(step, steps)
            middle = (low + high) // 2
            found = self._first(space, middle, progress)
            if found is None:
                low = middle + 1
            else:
                best, high = found, middle
        evaluated = int(space.state.integers[space.kernel.EVALUATED])
        search = Search(space.nodes, evaluated, True, 0.0, clock.seconds, "height", float(sum(best)))
        progress.at(1.0)
        return release_of(frequency, models, best, search)

    def _first(self, space: Space, height: int, progress: Progress) -> tuple[int, ...] | None:
        for v in vectors(space.shape, height):
            progress.check()
            if space.usable(v):
                return v
        return None


def vectors(shape: Sequence[int], height: int) -> Iterator[tuple[int, ...]]:
    """All level vectors of a height in lexicographic order."""
    if not shape:
        if height == 0:
            yield ()
        return
    rest = sum(d - 1 for d in shape[1:])
    for level in range(max(0, height - rest), min(shape[0] - 1, height) + 1):
        for tail in vectors(shape[1:], height - level):
            yield (level, *tail)
