"""Plain problems as two coupled flows: pieces partition the groups, the same pieces fill the slots."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from velado.appointments.exact.flows import GROUPS, PIECES, SLOTS, coupled_flows
from velado.appointments.exact.model import Model, Question, Values
from velado.appointments.exact.relaxation import Relaxation
from velado.appointments.exact.solver import Watch, cp_sat
from velado.appointments.problem import Assignment, Problem
from velado.progress import Progress


class ArcFlow(Model):
    """Flows over pieces (see `velado.appointments.exact.flows`), whose relaxation is nearly always as good as they are."""

    name = "arc flow"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.sizes, self.capacities = _count_sizes(problem.sizes), _count_sizes(problem.capacities)
        self.largest = min(max(self.sizes), max(self.capacities))

    @staticmethod
    def size(problem: Problem) -> int:
        """About as many variables as the model has."""
        size, capacity = int(problem.sizes.max()), int(problem.capacities.max())
        piece = min(size, capacity)
        return piece * (size + capacity - piece)

    def build(self, model: Any, question: Question, progress: Progress) -> tuple[dict[Any, Any], Any]:
        """The equations of the flows."""
        system = coupled_flows(self.sizes, self.capacities, question.fixed, progress)
        bounds = zip(system.keys, system.lower.tolist(), system.upper.tolist(), strict=True)
        variables = {key: model.new_int_var(low, high, "") for key, low, high in bounds}
        ordered, matrix = list(variables.values()), system.matrix
        for start, end, right in zip(matrix.indptr[:-1], matrix.indptr[1:], system.right.tolist(), strict=True):
            progress.check()
            terms = [ordered[j] for j in matrix.indices[start:end]]
            model.add(cp_sat().LinearExpr.weighted_sum(terms, matrix.data[start:end].tolist()) == right)
        following = variables.get((PIECES, question.next), 0)
        if question.minimal:
            model.add(following >= question.low)
        return variables, following

    def conceivable(self, proven: Sequence[int], watch: Watch) -> tuple[int, ...]:
        """Each component from the relaxation, where all before it are as small as the relaxation allows."""
        base = self.problem.base
        # Leave out all pieces that are smaller than any group; while that is impossible, leave out half as many.
        shortest = max(len(proven) + 1, base.k)
        while True:
            counts = [*proven, *[0] * (shortest - len(proven) - 1)]
            relaxation = Relaxation(coupled_flows(self.sizes, self.capacities, counts, watch.progress), watch.progress)
            if shortest == len(proven) + 1 or relaxation.least((PIECES, shortest), watch.seconds_left) is not None:
                break
            shortest = (len(proven) + 1 + shortest) // 2
        for n in range(shortest, self.largest + 1):
            watch.look()
            least = relaxation.least((PIECES, n), watch.seconds_left)
            if least is None:
                break
            if tuple(counts) == base.counts[: n - 1]:
                least = max(least, base.counts[n - 1])
            counts.append(least)
            relaxation.fix((PIECES, n), least)
        return tuple(counts)

    def counts(self, values: Values) -> list[int]:
        """How many pieces there are of each size."""
        found = [0] * self.largest
        for key, flow in values.items():
            if key[0] == GROUPS:
                found[key[2] - 1] += flow
        return found

    def encode(self, assignment: Assignment) -> Values:
        """The flows of an assignment, larger pieces first."""
        cells = self.problem.cells(assignment.kind, assignment.slot, assignment.units).tocoo()
        flows: Counter[Any] = Counter((PIECES, n) for n in cells.data.tolist())
        for side, owners in ((GROUPS, cells.row), (SLOTS, cells.col)):
            order = np.lexsort((-cells.data, owners))
            position, owner = 0, -1
            for o, n in zip(owners[order].tolist(), cells.data[order].tolist(), strict=True):
                position = position if o == owner else 0
                flows[side, position, n] += 1
                position, owner = position + n, o
        return flows

    def decode(self, values: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Kinds, slots and units: paths of the flows are given to groups and slots, pieces of one size are paired."""
        n, group = _pieces(values, GROUPS, self.problem.sizes)
        _, slot = _pieces(values, SLOTS, self.problem.capacities)
        together, inverse = np.unique(np.stack((group, slot)), axis=1, return_inverse=True)
        return together[0], together[1], np.bincount(inverse, weights=n).astype(np.int64)


def _count_sizes(sizes: np.ndarray) -> dict[int, int]:
    """How often each size occurs, empty ones aside."""
    return Counter(sizes[sizes > 0].tolist())


def _pieces(values: Values, side: str, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Size and owner of every piece, in order of size: paths are extended node by node and end at their owners' sizes.

    A path may wait: places of a slot may be left unused between its pieces.
    """
    leaving: dict[int, list[int]] = defaultdict(list)
    for key, flow in values.items():
        if key[0] == side:
            leaving[key[1]] += [key[2]] * flow
    owners: dict[int, list[int]] = defaultdict(list)
    for owner, size in enumerate(sizes.tolist()):
        owners[size].append(owner)
    arriving: dict[int, list[list[int]]] = defaultdict(list)
    waiting: list[list[int]] = [[] for _ in sizes]
    found = []
    for v in range(int(sizes.max()) + 1):
        waiting += arriving.pop(v, [])
        for n in leaving[v]:
            path = waiting.pop()
            path.append(n)
            arriving[v + n].append(path)
        for owner in owners[v]:
            found += [(n, owner) for n in waiting.pop()]
    pieces = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    return pieces[:, 0], pieces[:, 1]
