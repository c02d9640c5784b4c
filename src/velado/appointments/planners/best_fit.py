"""The default planner: best fit, decreasing, with splitting, then exchanges."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from velado.appointments.local_search.exchanges import improve
from velado.appointments.local_search.occupancy import Occupancy
from velado.appointments.local_search.packing import pack
from velado.appointments.local_search.repacking import repack
from velado.appointments.planners.find_slots import FindSlots
from velado.appointments.problem import Assignment, Planner, Problem, check_possible, check_smallest
from velado.declarations import Declaration
from velado.errors import NoSolution
from velado.parameters import Number
from velado.progress import Progress

ATTEMPTS = 20


@dataclass(frozen=True)
class BestFit(Planner):
    """Each group into the fullest slot that still has room for all of it, larger groups first; then exchanges.

    Best-fit decreasing of bin packing (Johnson et al., "Worst-case performance bounds for simple one-dimensional packing
    algorithms", 1974); a group that fits nowhere is split. What is split is then mended by exchanges between slots (see
    `velado.appointments.local_search.exchanges`). If only sizes and capacities matter, the vector is never worse than that of findSlots.
    """

    trials: int = 2000
    seed: int = 0
    name: ClassVar[str] = "best-fit"
    declaration: ClassVar = Declaration(
        title="best fit",
        meaning="Each group into the fullest slot that has room for all of it, then exchanges between slots.",
        example={"trials": 2000},
    )
    parameters: ClassVar = {
        "trials": Number("how often a few slots are given out anew", low=0, high=10_000_000, integer=True, expert=True),
        "seed": Number("seed of the random choices", low=0, integer=True, expert=True),
    }

    def assign(self, problem: Problem, progress: Progress | None = None) -> Assignment:
        """Give out appointments."""
        began = time.perf_counter()
        check_possible(problem)
        begin = (progress or Progress()).through(assign=1, improve=9)
        occupancy = self._initial_occupancy(problem, begin("assign"))
        improving = begin("improve")
        improve(occupancy, progress=improving.part(0.0, 0.2))
        found = occupancy.assignment(self.name)
        if problem.is_plain and found.vector != problem.base:
            other = FindSlots().assign(_anything(problem), improving.part(0.2, 0.2))
            if other.vector < found.vector:
                occupancy = Occupancy.of(replace(other, problem=problem), improving)
                improve(occupancy, progress=improving.part(0.2, 0.3))
        repack(occupancy, self.trials, self.seed, improving.part(0.3, 1.0))
        found = occupancy.assignment(self.name, time.perf_counter() - began)
        check_smallest(found)
        improving.at(1.0)
        return found

    def _initial_occupancy(self, problem: Problem, progress: Progress) -> Occupancy:
        """Some assignment; where households get in each other's way, another order may help."""
        rng = None
        for _ in range(ATTEMPTS if (problem.unit_people > 1).any() else 0):
            with suppress(NoSolution):
                return pack(problem, rng, progress)
            rng = rng or np.random.Generator(np.random.PCG64(self.seed))
        return pack(problem, rng, progress)


def _anything(problem: Problem) -> Problem:
    """The same problem without a required group size, so that findSlots always has an answer."""
    return Problem.plain(problem.sizes, problem.capacities)
