"""What a planning reports: the vectors before and after, method by method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, ClassVar

from velado.appointments.anonymity_vectors import AnonymityVector, improvement
from velado.appointments.planners.find_slots import FindSlots
from velado.appointments.planners.random_slots import RandomSlots
from velado.appointments.planners.registry import PLANNERS
from velado.appointments.problem import Assignment, Planner, Problem
from velado.errors import NoSolution
from velado.progress import Progress
from velado.results import Result, parts

MOST_RANKED = 20_000
"""The rank of a vector is given for up to so many people."""
WORK = {"best-fit": 10, "exact": 50}
"""How long planners take beside the others."""


@dataclass(frozen=True)
class VectorDocument:
    """A vector in JSON: k, the components that are not 0, and the rank as text where it is given."""

    k: int
    vector: dict[int, int]
    rank: str | None

    @classmethod
    def of(cls, vector: AnonymityVector) -> VectorDocument:
        """Of up to `MOST_RANKED` people with the rank."""
        rank = str(vector.rank) if vector.population <= MOST_RANKED else None
        return cls(vector.k, vector.components, rank)


@dataclass(frozen=True)
class AchievedDocument:
    """What a method achieves, in JSON."""

    method: str
    k: int
    vector: dict[int, int]
    rank: str | None
    improvement: float | None
    seconds: float
    proven: int
    optimal: bool
    bound: dict[int, int] | None


@dataclass(frozen=True)
class FailedDocument:
    """Why a method achieves nothing, in JSON."""

    method: str
    reason: str


@dataclass(frozen=True, repr=False)
class Planned(Result):
    """What a method achieves; there is no ``vector``, but a ``reason``, if it found no assignment.

    ``improvement`` is that over random appointments, in shares of the base vector's rank (measures.md §6). ``proven``
    leading components of the vector are proven to be the best possible, ``bound`` is a vector that no assignment beats. The
    ``assignment`` itself is not saved.
    """

    DOCUMENT: ClassVar[Any] = AchievedDocument | FailedDocument
    method: str
    vector: AnonymityVector | None = None
    improvement: float | None = None
    seconds: float = 0.0
    proven: int = 0
    optimal: bool = False
    bound: AnonymityVector | None = None
    reason: str = ""
    assignment: Assignment | None = None

    @classmethod
    def of(cls, found: Assignment) -> Planned:
        """What an assignment achieves."""
        return cls(found.method, found.vector, None, found.seconds, found.proven, found.optimal, found.bound, assignment=found)

    def document(self) -> AchievedDocument | FailedDocument:
        """With the vectors as they are written."""
        if self.vector is None:
            return FailedDocument(self.method, self.reason)
        shown = VectorDocument.of(self.vector)
        bound = None if self.bound is None else self.bound.components
        return AchievedDocument(
            self.method, shown.k, shown.vector, shown.rank, self.improvement, self.seconds, self.proven, self.optimal, bound
        )

    @classmethod
    def from_document(cls, document: AchievedDocument | FailedDocument) -> Planned:
        """Without the assignment."""
        if isinstance(document, FailedDocument):
            return cls(document.method, reason=document.reason)
        bound = None if document.bound is None else AnonymityVector.of_components(document.bound)
        return cls(
            document.method,
            AnonymityVector.of_components(document.vector),
            document.improvement,
            document.seconds,
            document.proven,
            document.optimal,
            bound,
        )

    def summary(self) -> dict[str, Any]:
        """The method and the k that it reaches."""
        return {"method": self.method, "k": None if self.vector is None else self.vector.k, "optimal": self.optimal}


@dataclass(frozen=True)
class PlanningDocument:
    """The JSON of a planning."""

    people: int
    groups: int
    slots: int
    places: int
    required: int
    base: VectorDocument
    methods: tuple[Planned, ...]
    chosen: str | None
    output: Path | str | None


@dataclass(frozen=True, repr=False)
class Planning(Result):
    """Appointments given out, or methods compared: sizes, the base vector, and what each method achieves.

    ``groups`` of people with the same quasi-identifiers, of whom ``required`` must share a slot; ``places`` in all
    ``slots``; ``base`` is the vector before anybody has an appointment. ``chosen`` is the method whose appointments were
    given out; they are in ``output`` or, without a path, in ``table``, where ``appointment`` are the columns that describe a
    slot. The ``problem``, the ``appointment`` and the ``table`` are not saved.
    """

    SCHEMA: ClassVar[str] = "velado-planning-1"
    DOCUMENT: ClassVar[Any] = PlanningDocument
    people: int
    groups: int
    slots: int
    places: int
    required: int
    base: AnonymityVector
    methods: tuple[Planned, ...]
    chosen: str | None = None
    output: Path | str | None = None
    appointment: tuple[str, ...] = ()
    table: Any = None
    problem: Problem | None = None

    @classmethod
    def of(cls, problem: Problem, methods: Sequence[Planned], **more: Any) -> Planning:
        """What methods achieve for a problem."""
        people, places = int(problem.sizes.sum()), int(problem.capacities.sum())
        return cls(
            people, problem.groups, problem.slots, places, problem.smallest, problem.base, tuple(methods), problem=problem, **more
        )

    def __getitem__(self, method: str) -> Planned:
        return next(p for p in self.methods if p.method == method)

    def document(self) -> PlanningDocument:
        """The JSON of ``velado appointments assign`` and ``compare``."""
        return PlanningDocument(
            self.people,
            self.groups,
            self.slots,
            self.places,
            self.required,
            VectorDocument.of(self.base),
            self.methods,
            self.chosen,
            self.output,
        )

    @classmethod
    def from_document(cls, document: PlanningDocument) -> Planning:
        """Without the problem and the appointments themselves."""
        return cls(**(parts(document) | {"base": AnonymityVector.of_components(document.base.vector)}))

    def summary(self) -> dict[str, Any]:
        """The sizes, and the k before and with each method."""
        return {
            "people": self.people,
            "groups": self.groups,
            "slots": self.slots,
            "places": self.places,
            "k": self.base.k,
            **{f"k with {p.method}": p.vector.k for p in self.methods if p.vector is not None},
            **({} if self.chosen is None else {"chosen": self.chosen}),
        }


def run_planners(
    problem: Problem, planners: Sequence[Planner], known: Sequence[Assignment] = (), seed: int = 0, progress: Progress | None = None
) -> tuple[Planned, ...]:
    """What is known, and what random appointments and these planners achieve; who finds nothing says why.

    No group size is required of random appointments and of findSlots: the others are measured by them.
    """
    free = replace(problem, smallest=1)
    found = {a.method: Planned.of(a) for a in known}
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
        return Planned.of(planner.assign(problem, progress))
    except NoSolution as error:
        return Planned(planner.name, reason=error.message)


def _improvement(one: Planned, drawn: Planned, base: AnonymityVector) -> float | None:
    if one.vector is None or drawn.vector is None or base.population > MOST_RANKED or not base.rank:
        return None
    return float(improvement(one.vector, drawn.vector, base))
