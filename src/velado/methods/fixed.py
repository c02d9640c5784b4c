"""A node that the owner chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from velado.declarations import Declaration
from velado.errors import InputError, NoSolution, suggest
from velado.frequency import FrequencyTable
from velado.methods.base import Found, Method, Search, lattice_size, reached_levels, release_of
from velado.methods.clock import Clock
from velado.methods.suppression import SUPPRESSION, Suppression, suppression_limit
from velado.models import PrivacyModel, judge_classes
from velado.parameters import Levels
from velado.progress import Progress
from velado.sentences import Sentence


@dataclass(frozen=True)
class Fixed(Method):
    """Exactly the given levels; violating classes are suppressed if the limit allows it."""

    levels: Mapping[str, int]
    suppression: Suppression = 1.0
    name: ClassVar[str] = "fixed"
    declaration: ClassVar = Declaration(
        title="fixed: levels chosen by hand",
        meaning="Exactly the levels that are given; classes that violate the models are suppressed.",
        example={"levels": {"age": 2, "zip": 1}},
    )
    parameters: ClassVar = {"levels": Levels("level of each quasi-identifier"), "suppression": SUPPRESSION}

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress | None = None) -> Found:
        """Judge the one node."""
        progress = progress or Progress()
        progress.at(0, 1)
        clock = Clock()
        vector = self._vector(frequency)
        nodes = lattice_size([h.levels for h in frequency.hierarchies])
        found = release_of(frequency, models, vector, Search(nodes, 1, False, None, clock.seconds, Sentence("given levels")))
        if not found.kept.any() or found.suppressed_records > suppression_limit(self.suppression, frequency.records):
            raise NoSolution(
                "no-solution",
                Sentence(
                    "these levels leave {suppressed:,} of {records:,} records in violating classes",
                    suppressed=found.suppressed_records,
                    records=frequency.records,
                ),
                hint="Allow more suppression, choose higher levels, or use the method lattice.",
                fields={
                    "allowed": self.suppression,
                    "reached": reached_levels(judge_classes(models, frequency.judged_columns, found.classes)[1]),
                    **({"needed": found.suppressed_records / frequency.records} if found.kept.any() else {}),
                },
            )
        progress.at(1, 1)
        return found

    def _vector(self, frequency: FrequencyTable) -> list[int]:
        unknown: list[Any] = [c for c in self.levels if c not in frequency.columns]
        lacking = [c for c in frequency.columns if c not in self.levels]
        if unknown or lacking:
            raise InputError(
                "bad-levels",
                "the levels must name every quasi-identifier and nothing else",
                column=(unknown or lacking)[0],
                hint=suggest(str(unknown[0]), frequency.columns) if unknown else "",
            )
        for h in frequency.hierarchies:
            if self.levels[h.column] > h.height:
                raise InputError(
                    "bad-levels",
                    Sentence("the highest level is {highest}, got {level}", highest=h.height, level=self.levels[h.column]),
                    column=h.column,
                )
        return [int(self.levels[c]) for c in frequency.columns]
