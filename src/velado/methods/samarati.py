"""Samarati's binary search on the height of the lattice."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from velado.frequency import FrequencyTable
from velado.methods.base import Found, Method, Progress, Search, no_solution, release_of, silent
from velado.methods.lattice import Space
from velado.methods.monotone import require_monotone
from velado.models import PrivacyModel
from velado.parameters import Number


@dataclass(frozen=True)
class Samarati(Method):
    """A satisfying node of the smallest height (sum of levels), the lexicographically smallest of them.

    If a node satisfies, so do all coarser ones; the smallest height with a satisfying node is
    found by bisection. Samarati, "Protecting respondents' identities in microdata release", 2001.
    """

    suppression: float = 0.0
    name: ClassVar[str] = "samarati"
    parameters: ClassVar = {"suppression": Number("share of the records that may be suppressed", low=0, high=1)}

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress = silent) -> Found:
        """Bisect the heights."""
        require_monotone(self.name, models, self.suppression)
        began = time.perf_counter()
        space = Space(frequency, models, "loss", self.suppression)
        low, high = 0, sum(d - 1 for d in space.shape)
        best = self._first(space, high)
        if best is None:
            raise no_solution(frequency, models, self.suppression)
        steps = high.bit_length()
        for step in itertools.count():
            if low >= high:
                break
            progress(min(1.0, step / max(steps, 1)), "bisecting the heights of the lattice")
            middle = (low + high) // 2
            found = self._first(space, middle)
            if found is None:
                low = middle + 1
            else:
                best, high = found, middle
        evaluated = int(space.state.integers[space.kernel.EVALUATED])
        search = Search(space.nodes, evaluated, True, 0.0, time.perf_counter() - began, "height", float(sum(best)))
        return release_of(frequency, models, best, search)

    def _first(self, space: Space, height: int) -> tuple[int, ...] | None:
        return next((v for v in vectors(space.shape, height) if space.usable(v)), None)


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
