"""What a model of an appointment problem must offer to the lexicographic search."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from velado.appointments.exact.solver import Watch
from velado.appointments.problem import Assignment, Problem
from velado.progress import Progress

Values = Mapping[Any, int]
"""A solution: the values of a model's variables by their keys; what is not there is 0."""


@dataclass(frozen=True)
class Question:
    """Is there an assignment whose vector begins with ``fixed``, and has at least ``low`` as the next component?"""

    fixed: tuple[int, ...]
    low: int = 0
    minimal: bool = False

    @property
    def next(self) -> int:
        """The component after the fixed ones."""
        return len(self.fixed) + 1


class Model(Protocol):
    """A problem as integer variables and linear constraints."""

    name: ClassVar[str]
    problem: Problem

    def build(self, model: Any, question: Question, progress: Progress) -> tuple[Mapping[Hashable, Any], Any]:
        """Put variables and constraints for a question into an empty solver model.

        Returns the variables by key, and what the next component of the vector is.
        """

    def conceivable(self, proven: Sequence[int], watch: Watch) -> tuple[int, ...]:
        """A beginning of a vector, from ``proven`` on, that no assignment with this beginning beats."""

    def counts(self, values: Values) -> list[int]:
        """The anonymity vector of a solution (or of one that it can be turned into and that is no worse)."""

    def encode(self, assignment: Assignment) -> Values:
        """The solution that stands for an assignment."""

    def decode(self, values: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Kind, slot and units of the assignment that a solution stands for."""
