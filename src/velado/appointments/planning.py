"""What a planning reports: the vectors before and after, method by method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from velado.appointments.planners.find_slots import FindSlots
from velado.appointments.planners.random_slots import RandomSlots
from velado.appointments.planners.registry import PLANNERS
from velado.appointments.problem import Assignment, Planner, Problem
from velado.appointments.vectors import AnonymityVector, improvement
from velado.errors import NoSolution
from velado.progress import Progress

MOST_RANKED = 20_000
"""The rank of a vector is given for up to so many people."""
WORK = {"best-fit": 10, "exact": 50}
"""How long planners take beside the others."""


@dataclass(frozen=True)
class Planned:
    """What a method achieves; ``assignment`` is None, with a ``reason``, if it found none.

    ``improvement`` is that over random appointments, in shares of the base vector's rank (measures.md §6).
    """

    method: str
    assignment: Assignment | None
    improvement: float | None = None
    reason: str = ""

    @property
    def vector(self) -> AnonymityVector | None:
        """The anonymity vector with appointments."""
        return None if self.assignment is None else self.assignment.vector

    def as_dict(self) -> dict[str, Any]:
        """One entry of the JSON of a planning."""
        found = self.assignment
        if found is None:
            return {"method": self.method, "reason": self.reason}
        return {
            "method": self.method,
            **described(found.vector),
            "improvement": self.improvement,
            "seconds": found.seconds,
            "proven": found.proven,
            "optimal": found.optimal,
            "bound": None if found.bound is None else described(found.bound)["vector"],
        }


@dataclass(frozen=True)
class Planning:
    """Appointments given out, or methods compared: sizes, the base vector, and what each method achieves.

    ``appointment`` are the columns that describe a slot; ``chosen`` is the method whose appointments were given out; they are in ``output`` or, without a path, in ``table``.
    """

    problem: Problem
    methods: tuple[Planned, ...]
    appointment: tuple[str, ...]
    chosen: str | None = None
    output: Path | None = None
    table: Any = None

    @property
    def base(self) -> AnonymityVector:
        """The vector before anybody has an appointment."""
        return self.problem.base

    def __getitem__(self, method: str) -> Planned:
        return next(p for p in self.methods if p.method == method)

    @cached_property
    def people(self) -> int:
        """N."""
        return int(self.problem.sizes.sum())

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``velado appointments assign`` and ``compare``."""
        problem = self.problem
        return {
            "people": self.people,
            "groups": problem.groups,
            "slots": problem.slots,
            "places": int(problem.capacities.sum()),
            "required": problem.smallest,
            "base": described(self.base),
            "methods": [p.as_dict() for p in self.methods],
            "chosen": self.chosen,
            "output": None if self.output is None else str(self.output),
        }


def described(vector: AnonymityVector) -> dict[str, Any]:
    """A vector in JSON: k, the components that are not 0, and the rank as text where it is given."""
    rank = str(vector.rank) if vector.population <= MOST_RANKED else None
    return {"k": vector.k, "vector": {str(j): n for j, n in enumerate(vector.counts, 1) if n}, "rank": rank}


def planned(
    problem: Problem,
    planners: Sequence[Planner],
    known: Sequence[Assignment] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Planned, ...]:
    """What is known, and what random appointments and these planners achieve; who finds nothing says why.

    No group size is required of random appointments and of findSlots: the others are measured by them.
    """
    free = replace(problem, smallest=1)
    found = {a.method: Planned(a.method, a) for a in known}
    progress = progress or Progress()
    wanted: dict[str, Planner] = {}
    for planner in (RandomSlots(seed), *planners):
        if planner.name not in found:
            wanted.setdefault(planner.name, planner)
    ends = list(accumulate((WORK.get(name, 1) for name in wanted), initial=0))
    for planner, (low, high) in zip(wanted.values(), pairwise(ends), strict=True):
        asked = free if isinstance(planner, (RandomSlots, FindSlots)) else problem
        found[planner.name] = _attempt(planner, asked, progress.part(low / ends[-1], high / ends[-1]))
    drawn = found["random"]
    ordered = sorted(found.values(), key=lambda p: list(PLANNERS).index(p.method))
    return tuple(replace(p, improvement=_improvement(p, drawn, problem.base)) for p in ordered)


def _attempt(planner: Planner, problem: Problem, progress: Progress) -> Planned:
    try:
        return Planned(planner.name, planner.assign(problem, progress))
    except NoSolution as error:
        return Planned(planner.name, None, reason=error.message)


def _improvement(one: Planned, drawn: Planned, base: AnonymityVector) -> float | None:
    if one.vector is None or drawn.vector is None or base.population > MOST_RANKED or not base.rank:
        return None
    return float(improvement(one.vector, drawn.vector, base))
