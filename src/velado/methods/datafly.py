"""Sweeney's greedy Datafly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from velado.declarations import Declaration
from velado.frequency import FrequencyTable
from velado.methods.base import Found, Method, Search, climb, lattice_size, no_solution, release_of
from velado.methods.clock import Clock
from velado.methods.suppression import SUPPRESSION, Suppression, suppression_limit
from velado.models import PrivacyModel
from velado.progress import Progress


@dataclass(frozen=True)
class Datafly(Method):
    """Generalize the column with the most different values, one level at a time, until few enough records violate.

    Ties go to the first column. Fast and without any guarantee of quality. Sweeney, "Datafly: a
    system for providing anonymity in medical data", 1997.
    """

    suppression: Suppression = 0.05
    name: ClassVar[str] = "datafly"
    declaration: ClassVar = Declaration(
        title="Datafly: a fast guess",
        meaning="The column with the most different values goes up one level, again and again, until the rest may be suppressed.",
        example={"suppression": 0.05},
    )
    parameters: ClassVar = {"suppression": SUPPRESSION}

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress | None = None) -> Found:
        """Climb until the violating records may be suppressed."""
        progress = progress or Progress()
        clock = Clock()
        heights = [h.height for h in frequency.hierarchies]
        limit = suppression_limit(self.suppression, frequency.records)
        for evaluated, levels in enumerate(climb(frequency), 1):
            progress.at(sum(levels), sum(heights))
            found = release_of(frequency, models, levels, Search(0, 0, False, None, 0.0))
            if found.suppressed_records <= limit and found.kept.any():
                nodes = lattice_size([h + 1 for h in heights])
                search = Search(nodes, evaluated, False, None, clock.seconds)
                progress.at(1.0)
                return release_of(frequency, models, levels, search)
        raise no_solution(frequency, models, self.suppression)
