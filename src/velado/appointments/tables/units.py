"""From people to a problem in numbers, and from an assignment back to people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from velado.appointments.problem import Assignment, Problem
from velado.appointments.tables.people import People
from velado.appointments.tables.slots import Slots
from velado.errors import InputError, NoSolution
from velado.results import Discreet
from velado.sentences import Sentence


@dataclass(frozen=True, repr=False)
class Units(Discreet):
    """Who gets an appointment together: ``unit[i]`` of person i, and ``kind[u]`` of unit u in the problem."""

    unit: np.ndarray
    kind: np.ndarray
    problem: Problem

    @classmethod
    def of(cls, people: People, slots: Slots, smallest: int = 1) -> Units:
        """Units that are alike become one kind."""
        unit, count = _units(people.household)
        slot_set, slot_sets = _admissible(people, unit, count, len(slots))
        order = np.lexsort((people.group, unit))
        ends = np.searchsorted(unit[order], np.arange(count + 1))
        kind, start, groups, counts = _kinds(people.group[order], ends, slot_set)
        first = np.zeros(len(start) - 1, dtype=np.int64)
        first[kind] = np.arange(count)
        problem = Problem(
            capacities=slots.capacities,
            groups=people.groups,
            units=np.bincount(kind, minlength=len(first)),
            start=start,
            member_groups=groups,
            member_counts=counts,
            admissible=slot_set[first],
            slot_sets=slot_sets,
            smallest=smallest,
        )
        return cls(unit, kind, problem)

    def slots_of_people(self, assignment: Assignment, seed: int) -> np.ndarray:
        """The slot of each person. Who of a kind gets which one is drawn: the order of the table tells nothing."""
        rng = np.random.Generator(np.random.PCG64(seed))
        order = np.lexsort((rng.random(len(self.kind)), self.kind))
        entries = np.argsort(assignment.kind, kind="stable")
        slot = np.empty(len(self.kind), dtype=np.int64)
        slot[order] = np.repeat(assignment.slot[entries], assignment.units[entries])
        return np.asarray(slot[self.unit])


def check_room(problem: Problem, slots: Slots) -> None:
    """Refuse slots with fewer places than people who may only come there: they keep it, or nothing else is admissible."""
    bound = (problem.slot_sets.sum(axis=1) == 1)[problem.admissible]
    slot = problem.slot_sets.argmax(axis=1)[problem.admissible[bound]]
    people = np.bincount(slot, weights=(problem.units * problem.unit_people)[bound], minlength=problem.slots)
    full = np.flatnonzero(people > problem.capacities)
    if len(full):
        raise NoSolution(
            "no-assignment",
            Sentence("{slots:,} slot(s) have fewer places than people who may only come there", slots=len(full)),
            file=slots.rows.name,
            values=slots.rows.row_texts(slots.described, full[:5]),
            hint="Raise their capacities, or let some of these people come elsewhere.",
        )


def _units(household: np.ndarray) -> tuple[np.ndarray, int]:
    """A number for each household and for each person who comes alone."""
    own = np.where(household >= 0, household, household.max(initial=-1) + 1 + np.arange(len(household)))
    numbers, unit = np.unique(own, return_inverse=True)
    return unit.astype(np.int64), len(numbers)


def _admissible(people: People, unit: np.ndarray, count: int, slots: int) -> tuple[np.ndarray, np.ndarray]:
    """The admissible slots of each unit: those of all its members; only the fixed one if a member keeps a slot."""
    fixed = np.full(count, -1, dtype=np.int64)
    keeps = np.flatnonzero(people.fixed >= 0)
    fixed[unit[keeps]] = people.fixed[keeps]
    apart = len(np.unique(unit[keeps[fixed[unit[keeps]] != people.fixed[keeps]]]))
    if apart:
        raise InputError(
            "household-apart",
            Sentence("{households:,} household(s) have fixed appointments in different slots", households=apart),
            file=people.rows.name,
            hint="Let all members keep the same slot, or take them apart.",
        )
    slot_set = np.zeros(count, dtype=np.int64)
    slot_set[unit] = people.slot_set
    mixed = np.unique(unit[slot_set[unit] != people.slot_set])
    sets = list(people.slot_sets)
    number = {row.tobytes(): i for i, row in enumerate(sets)}

    def number_of(row: np.ndarray) -> int:
        i = number.setdefault(row.tobytes(), len(number))
        if i == len(sets):
            sets.append(row)
        return i

    if len(mixed):
        order = np.argsort(unit, kind="stable")
        ends = np.searchsorted(unit[order], [mixed, mixed + 1])
        for u, a, b in zip(mixed.tolist(), *ends.tolist(), strict=True):
            slot_set[u] = number_of(people.slot_sets[people.slot_set[order[a:b]]].all(axis=0))
    keeping = np.flatnonzero(fixed >= 0)
    places, which = np.unique(fixed[keeping], return_inverse=True)
    only = [number_of(np.arange(slots) == s) for s in places.tolist()]
    slot_set[keeping] = np.array(only, dtype=np.int64)[which]
    nowhere = sum(1 for u in mixed.tolist() if not sets[slot_set[u]].any())
    if nowhere:
        raise InputError(
            "no-admissible-slot",
            Sentence("{households:,} household(s) have no slot that all members may come to", households=nowhere),
            file=people.rows.name,
            hint="Admit a slot for all of them, or take them apart.",
        )
    used, slot_set = np.unique(slot_set, return_inverse=True)
    return slot_set.astype(np.int64), np.array([sets[i] for i in used.tolist()])


def _kinds(group: np.ndarray, ends: np.ndarray, slot_set: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The kind of each unit, and the members of each kind; people who come alone first, in the order of the groups."""
    size, sets = np.diff(ends), int(slot_set.max(initial=0)) + 1
    alone = np.flatnonzero(size == 1)
    keys, which = np.unique(group[ends[alone]] * sets + slot_set[alone], return_inverse=True)
    kind = np.zeros(len(size), dtype=np.int64)
    kind[alone] = which
    groups, counts = [keys // sets], [np.ones(len(keys), dtype=np.int64)]
    lengths = [1] * len(keys)
    number: dict[tuple[bytes, int], int] = {}
    for u in np.flatnonzero(size > 1).tolist():
        together = group[ends[u] : ends[u + 1]]
        kind[u] = number.setdefault((together.tobytes(), int(slot_set[u])), len(keys) + len(number))
        if kind[u] == len(lengths):
            members, times = np.unique(together, return_counts=True)
            groups.append(members)
            counts.append(times)
            lengths.append(len(members))
    return kind, np.cumsum([0, *lengths]), np.concatenate(groups), np.concatenate(counts)
