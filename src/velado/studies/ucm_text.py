"""What the UCM text on appointments prints: its example tables and worked figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import exp, factorial, pi, prod, sqrt

import numpy as np

from velado.appointments.anonymity_vectors import AnonymityVector, improvement, number_of_vectors
from velado.appointments.planners.exact import Exact
from velado.appointments.planners.find_slots import FindSlots
from velado.appointments.problem import Problem
from velado.studies.comparison import Compared, compare

PEOPLE = {
    1: (88888, "male", "20-25"),
    2: (11111, "male", "25-30"),
    3: (11111, "female", "25-30"),
    4: (88888, "female", "25-30"),
    5: (88888, "male", "20-25"),
    6: (11111, "female", "25-30"),
    7: (11111, "female", "25-30"),
    8: (11111, "male", "25-30"),
    9: (11111, "female", "25-30"),
    10: (88888, "female", "25-30"),
    11: (11111, "male", "25-30"),
    12: (11111, "female", "25-30"),
    13: (88888, "male", "20-25"),
    14: (88888, "male", "20-25"),
    15: (11111, "male", "25-30"),
}
"""Table 1: postal code, gender and age of 15 people."""
AT_RANDOM = ["A9", "A9", "A9", "A9", "A13", "A13", "B9", "B9", "B9", "B9", "B13", "B13", "C13", "C13", "B13"]
"""Table 3: centre and hour of each of them."""
OPTIMAL = ["B9", "A9", "B13", "A13", "B9", "B13", "B13", "A9", "C13", "A13", "A9", "C13", "B9", "B9", "A9"]
"""Table 6: the same, assigned by constraint programming."""
SIZES, CAPACITIES = (4, 4, 5, 2), (4, 2, 4, 3, 2)
"""Tables 4 and 5."""
FIGURE_3 = {"a": "ABCDDDDD", "b": "ABCCCCCCC", "c": "ABBCCCCCC", "d": "ABBBCCCCC"}
TABLE_2 = {"a": (3, 0, 0, 0, 1), "b": (2, 0, 0, 0, 0, 1), "c": (1, 1, 0, 0, 1), "d": (1, 0, 1, 1)}
RANKS = {(2, 3, 2, 4): 3157, (24, 3): 8, (9, 4, 3, 1): 642, (2, 6, 4, 1): 3045}
"""Section 2.5, N = 30."""
FROM_ONE = "the text counts this one from 1, and (2, 3, 2, 4) from 0"


def worked_figures() -> list[Compared]:
    """Everything that the text works out by hand."""
    return [*_vectors(), *_assignments(), *_ranks()]


def _vectors() -> list[Compared]:
    base = AnonymityVector.of_sizes(list(Counter(PEOPLE.values()).values()))
    found = [compare("table 1", "vector", "(0, 1, 0, 2, 1)", str(base)), compare("table 1", "k", 2, base.k)]
    why = "figure 3 shows nine people in (b), (c) and (d), table 2 counts eight: one C too many"
    for name, values in FIGURE_3.items():
        vector = AnonymityVector.of_sizes(list(Counter(values).values()))
        found.append(compare("table 2", f"vector of ({name})", str(AnonymityVector(TABLE_2[name])), str(vector), why=why))
    order = sorted(AnonymityVector(v) for v in TABLE_2.values())
    found.append(compare("table 2", "most anonymous first", "d, c, b, a", ", ".join(_name(v) for v in order)))
    return found


def _name(vector: AnonymityVector) -> str:
    return next(name for name, counts in TABLE_2.items() if AnonymityVector(counts) == vector)


def _assignments() -> list[Compared]:
    problem = Problem.plain(np.array(SIZES), np.array(CAPACITIES))
    k1 = 1 - share_with_k(SIZES, CAPACITIES, 2)
    return [
        compare("table 3", "vector", "(11, 2)", str(_with(AT_RANDOM)), why="the printed rows recount to nine and three"),
        compare(
            "table 3",
            "share of random assignments with k = 1, %",
            99.94,
            round(100 * k1, 4),
            0.005,
            "counted exactly: all assignments of 15 different people to the 15 places",
        ),
        compare("table 6", "vector of the printed rows", "(0, 2, 1, 2)", str(_with(OPTIMAL))),
        compare("table 6", "vector of the exact planner", "(0, 2, 1, 2)", str(Exact().assign(problem).vector)),
        compare("tables 4 and 5", "vector of findSlots", None, str(FindSlots().assign(problem).vector)),
    ]


def _with(slots: Sequence[str]) -> AnonymityVector:
    groups = Counter(zip(PEOPLE.values(), slots, strict=True))
    return AnonymityVector.of_sizes(list(groups.values()))


def share_with_k(sizes: Sequence[int], capacities: Sequence[int], k: int) -> float:
    """The share of all assignments of different people to all places in which every group has k people or more."""

    @cache
    def ways(group: int, room: tuple[int, ...]) -> int:
        """Assignments of the groups from this one on."""
        if group == len(sizes):
            return 1
        return sum(
            factorial(sizes[group])
            // prod(map(factorial, part))
            * ways(group + 1, tuple(c - p for c, p in zip(room, part, strict=True)))
            for part in parts(sizes[group], room)
        )

    def parts(people: int, room: tuple[int, ...]) -> list[tuple[int, ...]]:
        if not room:
            return [()] if people == 0 else []
        here = [n for n in range(min(people, room[0]) + 1) if n == 0 or n >= k]
        return [(n, *rest) for n in here for rest in parts(people - n, room[1:])]

    everybody = factorial(sum(sizes)) // prod(map(factorial, capacities))
    return ways(0, tuple(capacities)) / everybody


def _ranks() -> list[Compared]:
    found = [compare("section 2.5", "vectors of 4 people", 5, number_of_vectors(4))]
    found.append(compare("section 2.5", "vectors of 100 people", 190_569_292, number_of_vectors(100)))
    estimate = exp(pi * sqrt(2 * 1000 / 3)) / (4 * 1000 * sqrt(3))
    over = round(100 * (estimate / number_of_vectors(1000) - 1), 3)
    found.append(compare("section 2.5", "Hardy and Ramanujan above p(1000), %", 1.415, over))
    found.append(compare("section 2.5", "p(10000)", "3.61673e+106", f"{number_of_vectors(10_000):.5e}"))
    ordered = [(4,), (2, 1), (1, 0, 1), (0, 2), (0, 0, 0, 1)]
    for place, counts in enumerate(ordered, 1):
        vector = AnonymityVector(counts)
        found.append(compare("section 4.5", f"place of {vector} of 4 people, from 1", place, vector.rank + 1))
    for counts, published in RANKS.items():
        vector = AnonymityVector(counts)
        found.append(compare("section 2.5", f"pos{vector} of 30 people", published, vector.rank, why=FROM_ONE))
    base, drawn, *assigned = map(AnonymityVector, RANKS)
    for vector, share in zip(assigned, (0.20, 0.96), strict=True):
        gained = round(float(improvement(vector, drawn, base)), 2)
        found.append(compare("section 2.5", f"improvement of {vector} over {drawn}", share, gained))
    return found
