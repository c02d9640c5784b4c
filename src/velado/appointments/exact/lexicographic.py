"""The lexicographic search: one component of the anonymity vector after the other, each proven minimal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from velado.appointments.anonymity_vectors import AnonymityVector
from velado.appointments.exact.model import Model, Question, Values
from velado.appointments.exact.solver import Watch, cp_sat
from velado.appointments.problem import Assignment

PROBE = 0.1
"""Share of the time left that a question may take without which the search can go on."""
WHOLE = 0.3
"""The same where a yes would end the search."""


class Search:
    """What is known so far: the best solution, the leading components that are proven, a bound for what follows.

    A vector is conceivable if no assignment beats it: the base vector, or what a relaxation says. Where there is an
    assignment that has it, it is optimal. So the search asks, by halving, how far the conceivable vector can be followed,
    minimizes the first component where it cannot, and goes on from there.
    """

    def __init__(self, model: Model, watch: Watch, start: Assignment | None) -> None:
        self.model = model
        self.watch = watch
        self.base = model.problem.base
        self.largest = int(min(model.problem.sizes.max(), model.problem.capacities.max()))
        self.proven: tuple[int, ...] = (0,) * (model.problem.smallest - 1)
        self.bound = self.base
        self.failed: set[tuple[int, ...]] = set()
        self.best: Values | None = None
        self.counts: tuple[int, ...] = ()
        if start is not None:
            self._take(model.encode(start))

    def run(self, level: int | None) -> bool:
        """Search until all is proven, ``level`` components are proven to be 0, or the time is over.

        False if there is no assignment at all.
        """
        if self.best is None and self._ask(Question(self.proven), self.watch.seconds_left) is False:
            return False
        if self.best is not None:
            while not self._is_finished(level):
                self._follow(self.model.conceivable(self.proven, self.watch), level)
                if self._is_finished(level) or not self._minimize():
                    break
            self._settle()
        return True

    def _settle(self) -> None:
        """Find a solution with the best vector again, alone: several workers find now this one, now that one."""
        if not self.watch.seconds_left or self.watch.workers == 1:
            return
        solver = cp_sat()
        model = solver.CpModel()
        variables, _ = self.model.build(model, Question(self.counts), self.watch.progress)
        status, answer = self.watch.solve(model, self.watch.seconds_left * PROBE, workers=1)
        if status == solver.OPTIMAL:
            self.best = {key: answer.value(variable) for key, variable in variables.items()}

    def _is_finished(self, level: int | None) -> bool:
        """Whether the best solution is proven to be optimal, or enough zeros are proven."""
        self._bound(self.proven)
        return AnonymityVector(self.counts) == self.bound or (level is not None and self.proven.count(0) >= level)

    def _bound(self, beginning: Sequence[int], low: int = 0) -> None:
        """No assignment beats the best vector with a beginning that none beats."""
        self.bound = max(self.bound, best_from(beginning, low, self.base.population, self.largest))

    def _follow(self, conceivable: Sequence[int], level: int | None) -> None:
        """Find the longest beginning of a conceivable vector that an assignment has; it is proven."""
        if level is not None:
            zeros = [n for n, count in enumerate(conceivable, 1) if not count]
            conceivable = conceivable[: zeros[level - 1]] if len(zeros) >= level else conceivable
        self._bound(conceivable)
        length, probe = self._common(conceivable), len(conceivable)
        high = min((n for n in range(length + 1, probe + 1) if tuple(conceivable[:n]) in self.failed), default=probe + 1)
        probe = probe if probe < high else (length + high) // 2
        while length < probe < high:
            share = WHOLE if probe == len(conceivable) else PROBE
            if self._ask(Question(tuple(conceivable[:probe])), self.watch.seconds_left * share):
                length = self._common(conceivable)
            else:
                self.failed.add(tuple(conceivable[:probe]))
                high = probe
            probe = (length + high) // 2
        self.proven = tuple(conceivable[:length])

    def _common(self, conceivable: Sequence[int]) -> int:
        """How many leading components the best solution has in common with a vector."""
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self.counts, conceivable, strict=False)))

    def _minimize(self) -> bool:
        """Prove the next component; False if there is no time left to do so."""
        n = len(self.proven) + 1
        low = (*self.bound.counts, 0)[n - 1] if self.bound.counts[: n - 1] == self.proven else 0
        if self.counts[n - 1] > low and not self._ask(Question(self.proven, low, True), self.watch.seconds_left):
            return False
        self.proven = (*self.proven, self.counts[n - 1])
        return True

    def _ask(self, question: Question, seconds: float) -> bool | None:
        """Whether there is such an assignment (and its next component is minimal, if asked); None: not known in time."""
        if not self.watch.seconds_left:
            return None
        solver = cp_sat()
        model = solver.CpModel()
        variables, following = self.model.build(model, question, self.watch.progress)
        if question.minimal:
            model.minimize(following)
        if self.best is not None:
            for key, variable in variables.items():
                model.add_hint(variable, self.best.get(key, 0))
        self.watch.share = sum(n * count for n, count in enumerate(self.proven, 1)) / self.base.population
        status, answer = self.watch.solve(model, seconds)
        if status in (solver.OPTIMAL, solver.FEASIBLE):
            self._take({key: answer.value(variable) for key, variable in variables.items()})
        if question.minimal:
            if status in (solver.OPTIMAL, solver.FEASIBLE):
                self._bound(self.proven, round(answer.best_objective_bound))
            return True if status == solver.OPTIMAL else None
        return {solver.OPTIMAL: True, solver.FEASIBLE: True, solver.INFEASIBLE: False}.get(status)

    def _take(self, values: Values) -> None:
        counts = tuple(self.model.counts(values))
        if self.best is None or counts < self.counts:
            self.best, self.counts = values, counts


def best_from(proven: Sequence[int], low: int, population: int, largest: int) -> AnonymityVector:
    """The best vector that begins with ``proven`` and has at least ``low`` next, of groups of ``largest`` at most.

    Those who are left are best in as few groups as possible, all of one size or the next. If no vector begins so, the
    best that is less anonymous.

    >>> str(best_from([0, 1], 1, 26, 12))
    '(0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1)'
    """
    n = len(proven) + 1
    left = population - sum(j * count for j, count in enumerate(proven, 1)) - n * low
    while left > 0 and left // -(-left // largest) <= n:
        low, left = low + 1, left - n
    if left < 0:
        return best_from(proven[:-1], proven[-1] + 1, population, largest)
    groups = -(-left // largest)
    sizes = [left // groups + (i < left % groups) for i in range(groups)]
    return AnonymityVector((*proven, low, *AnonymityVector.of_sizes(sizes).counts[n:]))
