"""All anonymity vectors, the best one by trying every assignment, and small problems of all kinds to try it on."""

from collections.abc import Iterator

import numpy as np

from velado.appointments.anonymity_vectors import AnonymityVector
from velado.appointments.problem import Problem


def partitions(n: int, smallest: int = 1) -> Iterator[list[int]]:
    """All ways to write a number as a sum of parts of a size or more."""
    if n == 0:
        yield []
    for part in range(smallest, n + 1):
        for rest in partitions(n - part, part):
            yield [part, *rest]


def all_vectors(population: int) -> list[AnonymityVector]:
    """From the least to the most anonymous."""
    return sorted((AnonymityVector.of_sizes(sizes) for sizes in partitions(population)), reverse=True)


def best_vector(problem: Problem) -> tuple[int, ...] | None:
    """The smallest vector of all assignments; None if there is no assignment."""
    members = [
        list(zip(problem.member_groups[s:e].tolist(), problem.member_counts[s:e].tolist(), strict=True))
        for s, e in zip(problem.start[:-1], problem.start[1:], strict=True)
    ]
    places = [(t, int(slot)) for t in range(len(members)) for slot in np.flatnonzero(problem.slot_sets[problem.admissible[t]])]
    cells = [[0] * problem.slots for _ in range(problem.groups)]
    best = None
    for _ in assignments(places, members, problem.units.tolist(), problem.capacities.tolist(), cells):
        sizes = [people for row in cells for people in row if people]
        if min(sizes) >= problem.smallest:
            vector = tuple(sizes.count(n) for n in range(1, max(sizes) + 1))
            best = vector if best is None else min(best, vector)
    return best


def assignments(places: list, members: list, left: list[int], room: list[int], cells: list[list[int]]) -> Iterator[None]:
    """Fill ``cells`` in every possible way: units of kind t in a slot, one (t, slot) after the other."""
    if not places:
        if not any(left):
            yield
        return
    (t, slot), *later = places
    if any(left[:t]):
        return
    people = sum(count for _, count in members[t])

    def put(units: int) -> None:
        left[t] -= units
        room[slot] -= units * people
        for group, count in members[t]:
            cells[group][slot] += units * count

    most = min(left[t], room[slot] // people)
    for _ in range(most):
        yield from assignments(later, members, left, room, cells)
        put(1)
    yield from assignments(later, members, left, room, cells)
    put(-most)


def small_problem(rng: np.random.Generator, households: bool = False, admissible: bool = False, fixed: bool = False) -> Problem:
    """Up to three groups and three slots; not every problem has a solution."""
    groups, slots = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    sets = [np.ones(slots, dtype=bool)]
    if admissible:
        sets += [rng.random(slots) < 0.6 for _ in range(2)]
    sets += list(np.eye(slots, dtype=bool))
    units, members, chosen = [], [], []
    for g in range(groups):
        for _ in range(int(rng.integers(1, 3)) if admissible or fixed or households else 1):
            units.append(int(rng.integers(1, 4)))
            members.append({g: 1})
            chosen.append(int(rng.integers(0, 3 if admissible else 1)))
    if fixed:
        units.append(int(rng.integers(1, 3)))
        members.append({int(rng.integers(0, groups)): 1})
        chosen.append(len(sets) - int(rng.integers(1, slots + 1)))
    if households:
        units.append(int(rng.integers(1, 3)))
        members.append({g: int(rng.integers(1, 3)) for g in range(groups) if rng.random() < 0.7} or {0: 2})
        chosen.append(0)
    people = sum(u * sum(m.values()) for u, m in zip(units, members, strict=True))
    capacities = rng.integers(1, people + 1, size=slots)
    capacities[-1] += max(people - int(capacities.sum()) + int(rng.integers(0, 3)), 0)
    return Problem(
        capacities.astype(np.int64),
        groups,
        np.array(units),
        np.cumsum([0, *map(len, members)]),
        np.array([g for m in members for g in m]),
        np.array([count for m in members for count in m.values()]),
        np.array(chosen),
        np.array(sets),
        int(rng.choice([1, 1, 2, 3])),
    )
