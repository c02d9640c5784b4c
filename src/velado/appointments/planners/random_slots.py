"""Appointments at random, as they are often given out: what the other planners are compared with."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from velado.appointments.local_search.occupancy import Occupancy
from velado.appointments.local_search.packing import none_found
from velado.appointments.problem import Assignment, Planner, Problem, check_possible, check_smallest
from velado.declarations import Declaration
from velado.parameters import Number
from velado.progress import Progress


@dataclass(frozen=True)
class RandomSlots(Planner):
    """Everybody gets a slot that is drawn among those with room, all slots alike (UCM, section 4.3).

    Households choose first, then who may come to the fewest places. Conditions are kept; if somebody is left over, others
    move (see `Occupancy.settle`). A required group size is a matter of luck.
    """

    seed: int = 0
    name: ClassVar[str] = "random"
    declaration: ClassVar = Declaration(
        title="random", meaning="Everybody gets a slot that is drawn among those with room.", example={"seed": 1}
    )
    parameters: ClassVar = {"seed": Number("seed of the draws", low=0, integer=True, expert=True)}

    def assign(self, problem: Problem, progress: Progress | None = None) -> Assignment:
        """Draw slots."""
        began = time.perf_counter()
        giving = (progress or Progress()).part(0.0, 1.0, "assign")
        check_possible(problem)
        rng = np.random.Generator(np.random.PCG64(self.seed))
        room = problem.capacities.copy()
        places = problem.slot_sets @ problem.capacities
        fixed = problem.slot_sets.sum(axis=1)[problem.admissible] == 1
        alike = np.column_stack((~fixed, -problem.unit_people, places[problem.admissible], problem.admissible))
        nobody = np.zeros(0, dtype=np.int64)
        given, left = [nobody], [nobody]
        lines, which = np.unique(alike, axis=0, return_inverse=True)
        order = np.argsort(which.reshape(-1), kind="stable")
        ends = np.searchsorted(which.reshape(-1)[order], np.arange(len(lines) + 1))
        for done, (line, (first, end)) in enumerate(zip(lines, pairwise(ends.tolist()), strict=True)):
            giving.at(done, len(lines))
            kinds = order[first:end]
            units = rng.permutation(np.repeat(kinds, problem.units[kinds]))
            slots = _draw_slots(rng, room, np.flatnonzero(problem.slot_sets[line[3]]), int(-line[1]), len(units), giving)
            given.append(units[: len(slots)] * problem.slots + slots)
            left.append(units[len(slots) :])
        giving.check()
        pairs, counts = np.unique(np.concatenate(given), return_counts=True)
        giving.check()
        found = Assignment(problem, pairs // problem.slots, pairs % problem.slots, counts, self.name)
        over = np.concatenate(left)
        if len(over):
            found = _place_remaining(found, over, giving)
        check_smallest(found)
        giving.at(1.0)
        return replace(found, bound=problem.base, seconds=time.perf_counter() - began)


def _draw_slots(
    rng: np.random.Generator, room: np.ndarray, slots: np.ndarray, people: int, units: int, progress: Progress
) -> np.ndarray:
    """Slots for as many of the units as there is room for; the room becomes less."""
    drawn = []
    while units:
        progress.check()
        open_slots = slots[room[slots] >= people]
        if not len(open_slots):
            break
        wanted = np.sort(rng.choice(open_slots, units))
        rank = np.arange(units) - np.searchsorted(wanted, wanted)
        taken = wanted[rank < room[wanted] // people]
        np.subtract.at(room, taken, people)
        drawn.append(taken)
        units -= len(taken)
    return np.concatenate(drawn) if drawn else np.zeros(0, dtype=np.int64)


def _place_remaining(found: Assignment, over: np.ndarray, progress: Progress) -> Assignment:
    """Places for those whose admissible slots were full already."""
    occupancy = Occupancy.of(found, progress)
    kinds, counts = np.unique(over, return_counts=True)
    for kind, units in zip(kinds.tolist(), counts.tolist(), strict=True):
        if occupancy.people[kind] > 1 or occupancy.settle(kind, units, progress):
            raise none_found(found.problem, found.method)
    return occupancy.assignment(found.method)
