"""The heuristic of the UCM thesis: findSlots."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.appointments.problem import Assignment, Planner, Problem, check_possible, check_smallest
from velado.declarations import Declaration
from velado.errors import InputError
from velado.progress import Progress

OFTEN = 4096
"""Groups between two reports."""


@dataclass(frozen=True)
class FindSlots(Planner):
    """Groups from the largest to the smallest; each takes the roomiest slots until it is covered (UCM, section 4.5).

    The last slot taken keeps the places that the group does not need. The text leaves ties open: here the group and the
    slot that come first in the problem. Only for people who may come alone and to any slot. O((Q + R) log R).
    """

    name: ClassVar[str] = "heuristic"
    declaration: ClassVar = Declaration(
        title="findSlots",
        meaning="Groups from the largest to the smallest, each into the roomiest slots, as the thesis of the UCM does.",
    )
    parameters: ClassVar = {}

    def assign(self, problem: Problem, progress: Progress | None = None) -> Assignment:
        """Give out appointments as the thesis does."""
        if not problem.is_plain:
            raise InputError(
                "plain-only",
                "the thesis's heuristic knows no households, fixed appointments or admissible slots",
                hint="Use best-fit or exact.",
            )
        began = time.perf_counter()
        giving = (progress or Progress()).part(0.0, 1.0, "assign")
        check_possible(problem)
        rooms = [(-int(capacity), slot) for slot, capacity in enumerate(problem.capacities) if capacity]
        heapq.heapify(rooms)
        given: list[tuple[int, int, int]] = []
        for done, group in enumerate(np.argsort(-problem.sizes, kind="stable").tolist()):
            if done % OFTEN == 0:
                giving.at(done, problem.groups)
            left = int(problem.sizes[group])
            while left:
                giving.check()
                room, slot = rooms[0]
                people = min(left, -room)
                given.append((group, slot, people))
                left -= people
                if people == -room:
                    heapq.heappop(rooms)
                else:
                    heapq.heapreplace(rooms, (room + people, slot))
        kind, slots, units = np.array(given, dtype=np.int64).reshape(-1, 3).T
        seconds = time.perf_counter() - began
        found = Assignment(problem, kind, slots, units, self.name, bound=problem.base, seconds=seconds)
        check_smallest(found)
        giving.at(1.0)
        return found
