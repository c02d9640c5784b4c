"""What an assignment of appointments is, in numbers: who must get one, what is on offer, what was given out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from velado.appointments.anonymity_vectors import AnonymityVector
from velado.declarations import Declaration
from velado.errors import InputError, NoSolution
from velado.parameters import Parameter, check
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, repr=False)
class Problem(Discreet):
    """People as units of interchangeable kinds, slots as capacities.

    A unit is what gets one appointment: a person, or a household that stays together. Units of one kind are alike: the
    same members of each quasi-identifier group and the same admissible slots. ``units[t]`` is how many there are of kind
    t; its members are the entries ``start[t] … start[t+1]`` of ``member_groups`` and ``member_counts``. ``admissible[t]``
    is a row of ``slot_sets`` (bool, sets × slots). An appointment that is fixed already is a kind with one admissible
    slot. ``smallest`` is the number of people that every group must have in every slot where it appears.
    """

    capacities: np.ndarray
    groups: int
    units: np.ndarray
    start: np.ndarray
    member_groups: np.ndarray
    member_counts: np.ndarray
    admissible: np.ndarray
    slot_sets: np.ndarray
    smallest: int = 1

    @classmethod
    def plain(cls, sizes: np.ndarray, capacities: np.ndarray, smallest: int = 1) -> Problem:
        """Groups of these sizes; everybody may come alone and to any slot (the problem of the thesis)."""
        sizes, capacities = np.asarray(sizes, dtype=np.int64), np.asarray(capacities, dtype=np.int64)
        kinds = len(sizes)
        every = np.arange(kinds + 1, dtype=np.int64)
        ones, zeros = np.ones(kinds, dtype=np.int64), np.zeros(kinds, dtype=np.int64)
        whole = np.ones((1, len(capacities)), dtype=bool)
        return cls(capacities, kinds, sizes, every, every[:-1], ones, zeros, whole, smallest)

    @property
    def slots(self) -> int:
        """Number of slots R."""
        return len(self.capacities)

    @cached_property
    def kind_of_entry(self) -> np.ndarray:
        """The kind that each entry of ``member_groups`` belongs to."""
        return np.repeat(np.arange(len(self.units)), np.diff(self.start))

    @cached_property
    def unit_people(self) -> np.ndarray:
        """People in a unit of each kind."""
        return np.bincount(self.kind_of_entry, weights=self.member_counts, minlength=len(self.units)).astype(np.int64)

    @cached_property
    def sizes(self) -> np.ndarray:
        """People in each quasi-identifier group."""
        people = self.member_counts * self.units[self.kind_of_entry]
        return np.bincount(self.member_groups, weights=people, minlength=self.groups).astype(np.int64)

    @cached_property
    def base(self) -> AnonymityVector:
        """The vector before anybody has an appointment: no assignment is more anonymous."""
        return AnonymityVector.of_sizes(self.sizes)

    @cached_property
    def is_plain(self) -> bool:
        """Whether only the sizes and the capacities matter: the kinds are the groups, and every slot is admissible."""
        own = np.array_equal(self.member_groups, np.arange(self.groups)) and len(self.units) == self.groups
        return bool(own and (self.unit_people == 1).all() and self.slot_sets[np.unique(self.admissible)].all())

    def cells(self, kind: np.ndarray, slot: np.ndarray, units: np.ndarray) -> csr_array:
        """People of each group (row) in each slot (column), only where there are any."""
        import scipy.sparse as sparse

        given = sparse.coo_array((units, (kind, slot)), shape=(len(self.units), self.slots)).tocsr()
        members = sparse.csr_array((self.member_counts, self.member_groups, self.start), shape=(len(self.units), self.groups))
        cells = (members.T @ given).tocsr()
        cells.eliminate_zeros()
        return cells


@dataclass(frozen=True, repr=False)
class Assignment(Discreet):
    """``units[e]`` units of kind ``kind[e]`` come to slot ``slot[e]``.

    ``proven`` leading components of the vector are proven to be the best possible; ``bound`` is a vector that no
    assignment beats (the base vector if nothing better is known).
    """

    NAMES: ClassVar[tuple[str, ...]] = ("method",)
    problem: Problem
    kind: np.ndarray
    slot: np.ndarray
    units: np.ndarray
    method: str
    proven: int = 0
    bound: AnonymityVector | None = None
    seconds: float = 0.0
    notes: dict[str, object] = field(default_factory=dict)

    @cached_property
    def vector(self) -> AnonymityVector:
        """The anonymity vector of group and slot together, always recounted from what was given out."""
        return AnonymityVector.of_sizes(self.problem.cells(self.kind, self.slot, self.units).data)

    @property
    def optimal(self) -> bool:
        """Whether no assignment is more anonymous."""
        return self.vector == self.bound or self.proven >= len(self.vector.counts)

    def check(self) -> None:
        """Recount everything: each unit once, in an admissible slot, no slot over its capacity, no group too small."""
        problem = self.problem
        placed = np.bincount(self.kind, weights=self.units, minlength=len(problem.units))
        people = np.bincount(self.slot, weights=self.units * problem.unit_people[self.kind], minlength=problem.slots)
        wrong = (
            (self.units <= 0).any()
            or (placed != problem.units).any()
            or (people > problem.capacities).any()
            or not problem.slot_sets[problem.admissible[self.kind], self.slot].all()
            or (problem.groups and self.vector.k < problem.smallest)
        )
        if wrong:
            raise AssertionError("an assignment breaks its own constraints: " + self.method)


def check_possible(problem: Problem, slots: str | None = None) -> None:
    """Refuse what no planner can do: more people than places (in the table ``slots``), a group smaller than required."""
    missing = int(problem.sizes.sum() - problem.capacities.sum())
    if missing > 0:
        raise InputError(
            "not-enough-capacity",
            Sentence(
                "{missing:,} of {people:,} people get no appointment: too few places",
                missing=missing,
                people=int(problem.sizes.sum()),
            ),
            hint="Add slots, or raise capacities.",
            file=slots,
        )
    present = problem.sizes[problem.sizes > 0]
    small = int((present < problem.smallest).sum())
    if small:
        raise NoSolution(
            "group-too-small",
            Sentence(
                "{groups:,} quasi-identifier group(s) have fewer than {required:,} people", groups=small, required=problem.smallest
            ),
            hint=Sentence(
                "The smallest has {smallest:,}. Require less, or generalize the quasi-identifiers first.",
                smallest=int(present.min()),
            ),
            fields={"reached": int(present.min())},
        )


def check_smallest(found: Assignment) -> None:
    """`NoSolution` if the planner did not reach the group size that is required."""
    if 0 < found.vector.k < found.problem.smallest:
        raise NoSolution(
            "no-assignment",
            Sentence(
                "'{method}' reaches groups of {reached:,} only, not of {required:,}",
                method=found.method,
                reached=found.vector.k,
                required=found.problem.smallest,
            ),
            hint="The method 'exact' may find an assignment, or prove that there is none.",
        )


@dataclass(frozen=True)
class Planner(ABC):
    """A way to give out appointments."""

    name: ClassVar[str]
    declaration: ClassVar[Declaration]
    parameters: ClassVar[Mapping[str, Parameter]]

    def __post_init__(self) -> None:
        check(self)

    @abstractmethod
    def assign(self, problem: Problem, progress: Progress | None = None) -> Assignment:
        """Give everybody an appointment; `NoSolution` if that is impossible (or if this planner finds none)."""
