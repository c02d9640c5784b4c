"""Best fit, decreasing, with splitting: an assignment to begin with."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

import numpy as np

from velado.appointments.local_search.occupancy import Occupancy
from velado.appointments.problem import Problem
from velado.errors import NoSolution
from velado.progress import Progress
from velado.sentences import Sentence

OFTEN = 4096
"""Kinds of people between two reports."""


def pack(problem: Problem, rng: np.random.Generator | None = None, progress: Progress | None = None) -> Occupancy:
    """Everybody somewhere: households first, then who has the fewest places to go to, then larger groups.

    With a generator the sizes count only roughly, so that each call gives another assignment.
    """
    progress = progress or Progress()
    occupancy = Occupancy(problem, progress)
    rooms = _Rooms(occupancy)
    places = problem.slot_sets @ problem.capacities
    largest = np.zeros(len(problem.units))
    np.maximum.at(largest, problem.kind_of_entry, problem.sizes[problem.member_groups])
    if rng is not None:
        largest = largest * rng.uniform(0.5, 1.5, len(largest))
    fixed = problem.slot_sets.sum(axis=1)[problem.admissible] == 1
    order = np.lexsort((-problem.units, -largest, places[problem.admissible], -problem.unit_people, ~fixed))
    units = problem.units.tolist()
    for done, kind in enumerate(order.tolist()):
        progress.check()
        if done % OFTEN == 0:
            progress.at(done, len(units))
        left = units[kind]
        while left:
            slot = rooms.choose(kind, left)
            if slot is None:
                break
            given = min(left, occupancy.room[slot] // occupancy.people[kind])
            rooms.fill(kind, slot, given)
            left -= given
        if left and occupancy.people[kind] == 1:
            left = occupancy.settle(kind, left, progress)
            rooms = _Rooms(occupancy)
        if left:
            raise none_found(problem, "best-fit")
    return occupancy


class _Rooms:
    """The slots that are not full, by the room that they have."""

    def __init__(self, occupancy: Occupancy) -> None:
        self.occupancy = occupancy
        self.sorted = sorted((room, slot) for slot, room in enumerate(occupancy.room) if room)

    def choose(self, kind: int, units: int) -> int | None:
        """Where its groups are already, else any slot: the best fit for all units, or the roomiest slot for some."""
        occupancy = self.occupancy
        people = occupancy.people[kind]
        met = sorted({(occupancy.room[s], s) for g, _ in occupancy.members[kind] for s in occupancy.cells[g]})
        met = [(room, slot) for room, slot in met if room >= people]
        for among in (met, self.sorted):
            fitting = bisect_left(among, (units * people, -1))
            slot = self._first(kind, (among[i][1] for i in range(fitting, len(among))))
            if slot is not None:
                return slot
        for among in (met, self.sorted):
            slot = self._first(kind, (slot for room, slot in reversed(among) if room >= people))
            if slot is not None:
                return slot
        return None

    def _first(self, kind: int, slots: Iterable[int]) -> int | None:
        return next((s for s in slots if self.occupancy.is_admissible(kind, s)), None)

    def fill(self, kind: int, slot: int, units: int) -> None:
        """Put units into a slot."""
        entry = (self.occupancy.room[slot], slot)
        del self.sorted[bisect_left(self.sorted, entry)]
        self.occupancy.put(kind, slot, units)
        if self.occupancy.room[slot]:
            insort(self.sorted, (self.occupancy.room[slot], slot))


def none_found(problem: Problem, method: str) -> NoSolution:
    """The error where somebody gets no place: certain without households or if one is too large, else the method's failure."""
    if (problem.unit_people == 1).all():
        return NoSolution(
            "no-assignment",
            "the admissible slots have too few places for the people who may only come there",
            hint="Add slots or capacity there, or admit more slots.",
        )
    roomiest = np.where(problem.slot_sets, problem.capacities, 0).max(axis=1)
    large = int(problem.units[problem.unit_people > roomiest[problem.admissible]].sum())
    if large:
        return NoSolution(
            "no-assignment",
            Sentence("{households:,} household(s) fit into none of their admissible slots", households=large),
            hint="Add larger slots, or take these households apart.",
        )
    return NoSolution(
        "no-assignment",
        Sentence("'{method}' found no places for all households", method=method),
        hint="The method 'exact' may find an assignment, or prove that there is none.",
    )
