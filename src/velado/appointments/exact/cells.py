"""Any problem, cell by cell: how many units of each kind come to each slot.

For few large groups, where arc flows would have too many arcs, and for whatever is not plain: households, admissible
slots, appointments that are fixed already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from velado.appointments.anonymity_vectors import AnonymityVector
from velado.appointments.exact.model import Model, Question, Values
from velado.appointments.exact.solver import Watch
from velado.appointments.problem import Assignment, Problem
from velado.progress import Progress


class Cells(Model):
    """A variable for each kind and admissible slot; the people of a group in a slot are a cell."""

    name = "cells"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @staticmethod
    def size(problem: Problem) -> int:
        """How many variables the model has, those for single components of the vector aside."""
        return int(problem.slot_sets[problem.admissible].sum())

    def build(self, model: Any, question: Question, progress: Progress) -> tuple[dict[Any, Any], Any]:
        """Units are placed, capacities kept, and every cell has an allowed size."""
        problem = self.problem
        units, placed, taken = {}, defaultdict(list), defaultdict(list)
        people: dict[tuple[int, int], list[Any]] = defaultdict(list)
        most: dict[tuple[int, int], int] = defaultdict(int)
        for t, j in zip(*np.nonzero(problem.slot_sets[problem.admissible]), strict=True):
            progress.check()
            together = int(problem.unit_people[t])
            high = int(min(problem.units[t], problem.capacities[j] // together))
            if not high:
                continue
            y = units[int(t), int(j)] = model.new_int_var(0, high, f"units {t} {j}")
            placed[t].append(y)
            taken[j].append(together * y)
            for e in range(problem.start[t], problem.start[t + 1]):
                cell, count = (int(problem.member_groups[e]), int(j)), int(problem.member_counts[e])
                people[cell].append(count * y)
                most[cell] += count * high
        for t, count in enumerate(problem.units.tolist()):
            model.add(sum(placed[t]) == count)
        for j, terms in taken.items():
            model.add(sum(terms) <= int(problem.capacities[j]))
        counted = [n for n, count in enumerate((*question.fixed, question.minimal), 1) if count]
        alike: dict[int, list[Any]] = defaultdict(list)
        above = question.next + question.minimal
        for (g, j), terms in people.items():
            progress.check()
            high = min(most[g, j], int(problem.sizes[g]), int(problem.capacities[j]))
            exactly = {n: model.new_bool_var(f"count {n} {g} {j}") for n in counted if n <= high}
            larger = model.new_bool_var(f"above {g} {j}") if above <= high else 0
            low = sum(n * chosen for n, chosen in exactly.items())
            model.add(sum(terms) >= low + above * larger)
            model.add(sum(terms) <= low + high * larger)
            model.add(sum(exactly.values()) + larger <= 1)
            for n, chosen in exactly.items():
                alike[n].append(chosen)
        for n, count in enumerate(question.fixed, 1):
            if count:
                model.add(sum(alike[n]) == count)
        following = sum(alike[question.next])
        if question.minimal:
            model.add(following >= question.low)
        return units, following

    def conceivable(self, proven: Sequence[int], watch: Watch) -> tuple[int, ...]:
        """The base vector, as long as it can be followed."""
        base = self.problem.base.counts
        return base if tuple(proven) == base[: len(proven)] else tuple(proven)

    def counts(self, values: Values) -> list[int]:
        """The vector, recounted."""
        return list(AnonymityVector.of_sizes(self.problem.cells(*self.decode(values)).data).counts)

    def encode(self, assignment: Assignment) -> Values:
        """Units by kind and slot."""
        found: dict[tuple[int, int], int] = defaultdict(int)
        for t, j, count in zip(*(a.tolist() for a in (assignment.kind, assignment.slot, assignment.units)), strict=True):
            found[t, j] += count
        return found

    def decode(self, values: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Kind, slot and units where there are any."""
        given = np.array([(t, j, count) for (t, j), count in sorted(values.items()) if count], dtype=np.int64)
        kind, slot, units = given.reshape(-1, 3).T
        return kind, slot, units
