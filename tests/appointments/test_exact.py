"""The exact planner against every assignment there is, one model against the other, and what it says when time is over."""

import builtins
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from case_loop import failures
from oracle_appointments import all_vectors, best_vector, small_problem
from velado.appointments.anonymity_vectors import AnonymityVector
from velado.appointments.exact import solver
from velado.appointments.exact.arcflow import ArcFlow
from velado.appointments.exact.cells import Cells
from velado.appointments.exact.flows import PIECES, coupled_flows
from velado.appointments.exact.lexicographic import Search, best_from
from velado.appointments.exact.relaxation import Relaxation
from velado.appointments.exact.solver import Watch
from velado.appointments.planners.best_fit import BestFit
from velado.appointments.planners.exact import Exact, model_for, why_none
from velado.appointments.problem import Assignment, Problem
from velado.errors import Cancelled, InputError, NoSolution
from velado.progress import Progress, Step

THESIS = Problem.plain([4, 4, 5, 2], [4, 2, 4, 3, 2])


def drawn(people: int, low: int, high: int, seed: int) -> Problem:
    """Groups and slots of random sizes; the slots have just enough places."""
    rng = np.random.default_rng(seed)
    sides = []
    for _ in range(2):
        sizes = rng.integers(low, high + 1, size=people // low + 1)
        sides.append(sizes[: int(np.searchsorted(np.cumsum(sizes), people)) + 1])
    sides[0][-1] -= sides[0].sum() - people
    return Problem.plain(*sides)


def same_as_brute_force(problem: Problem, planner: Exact) -> None:
    expected = best_vector(problem)
    try:
        found = planner.assign(problem)
    except NoSolution:
        assert expected is None
        return
    found.check()
    assert found.vector.counts == expected
    assert found.optimal
    assert found.bound == found.vector


def test_the_example_of_the_thesis():
    found = Exact().assign(THESIS)
    found.check()
    assert found.vector.counts == (0, 2, 1, 2)
    assert found.vector.counts == best_vector(THESIS)
    assert found.optimal


def test_plain_problems_equal_brute_force():
    def check(seed):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 7, size=rng.integers(1, 4))
        capacities = rng.integers(1, 7, size=rng.integers(1, 5))
        capacities[0] += max(int(sizes.sum() - capacities.sum()) + int(rng.integers(0, 2)), 0)
        same_as_brute_force(Problem.plain(sizes, capacities, int(rng.choice([1, 1, 2]))), Exact(workers=1))

    assert failures(check, range(150)) == []


@pytest.mark.parametrize(
    "conditions",
    [{"admissible": True}, {"fixed": True}, {"households": True}, {"admissible": True, "fixed": True, "households": True}],
    ids=lambda conditions: "+".join(conditions),
)
def test_problems_with_conditions_equal_brute_force(conditions):
    solved = 0
    for seed in range(60):
        problem = small_problem(np.random.default_rng([seed, len(conditions)]), **conditions)
        same_as_brute_force(problem, Exact(workers=1))
        solved += best_vector(problem) is not None
    assert 15 <= solved < 60


def test_both_models_find_the_same_without_a_start():
    def check(seed):
        problem = drawn(30, 2, 9, seed)
        vectors = []
        for model in (ArcFlow(problem), Cells(problem)):
            search = Search(model, Watch.until(60, 2, Progress()), None)
            assert search.run(None)
            assert AnonymityVector(search.counts) == search.bound
            vectors.append(search.bound)
        assert vectors[0] == vectors[1]

    assert failures(check, range(12)) == []


@pytest.mark.parametrize("people", [100, 1000, 10_000])
def test_larger_problems_are_proven_and_come_out_the_same_again(people):
    problem = drawn(people, 1 if people == 100 else 10, 12 if people == 100 else 40, 1)
    first, second = Exact().assign(problem), Exact().assign(problem)
    first.check()
    assert first.optimal
    assert first.notes == {"model": "arc flow"}
    assert np.array_equal(first.kind, second.kind)
    assert np.array_equal(first.slot, second.slot)
    assert np.array_equal(first.units, second.units)


def test_few_large_groups_are_solved_by_cells():
    problem = Problem.plain([900, 1100, 700], [1000, 1000, 800])
    found = Exact().assign(problem)
    found.check()
    assert found.notes == {"model": "cells"}
    assert found.optimal


def test_flows_of_an_assignment_are_a_solution_and_give_it_back():
    problem = drawn(400, 3, 20, 5)
    model = ArcFlow(problem)
    found = BestFit().assign(problem)
    values = model.encode(found)
    assert AnonymityVector(tuple(model.counts(values))) == found.vector
    kind, slot, units = model.decode(values)
    again = AnonymityVector.of_sizes(problem.cells(kind, slot, units).data)
    assert again == found.vector


def test_bounds_of_the_relaxation_hold():
    def check(seed):
        problem = drawn(24, 2, 7, seed)
        model = ArcFlow(problem)
        best = Exact().assign(problem).vector.counts
        for known in range(len(best)):
            relaxation = Relaxation(coupled_flows(model.sizes, model.capacities, best[:known]))
            least = relaxation.least((PIECES, known + 1), 10)
            assert least is None or least <= best[known]

    assert failures(check, range(20)) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("factor", [-1e9, 1e9, 1e30])
def test_bounds_hold_whatever_the_dual_solution_is(factor):
    """Any dual solution gives a bound; an absurd one only a weak one."""
    problem = drawn(24, 2, 7, 1)
    model = ArcFlow(problem)
    relaxation = Relaxation(coupled_flows(model.sizes, model.capacities, ()))
    relaxation.rows = [SimpleNamespace(dual_value=lambda i=i: factor * (i % 3)) for i in range(len(relaxation.rows))]
    assert relaxation.least((PIECES, 1), 10) <= Exact().assign(problem).vector.counts[0]


def test_the_best_conceivable_rest():
    assert best_from((), 0, 10, 10).counts == (0,) * 9 + (1,)
    assert best_from((), 0, 10, 6).counts == (0, 0, 0, 0, 2)
    assert best_from((1,), 0, 10, 10).counts == (1, *(0,) * 7, 1)
    assert best_from((0, 2), 1, 7, 4).counts == (0, 2, 1)
    assert best_from((0, 4), 0, 9, 9).counts == (1, *(0,) * 6, 1)


def test_the_best_conceivable_rest_is_the_best_of_all():
    def check(population, largest):
        allowed = [v for v in all_vectors(population) if len(v.counts) <= largest]
        for vector in allowed:
            for length in range(len(vector.counts)):
                low = vector.counts[length]
                fitting = [
                    v for v in allowed if (*v.counts, 0)[:length] == vector.counts[:length] and (*v.counts, 0)[length] >= low
                ]
                assert best_from(vector.counts[:length], low, population, largest) == min(fitting)

    sizes = range(2, 13)
    assert failures(check, [(population, largest) for population in sizes for largest in sizes if largest <= population]) == []


@dataclass
class Questions(Watch):
    """A watch by which the time is over after so many questions to the solver, the last of which is cut short."""

    most: int = 0
    asked: int = 0

    @property
    def seconds_left(self) -> float:
        return 60.0 if self.asked < self.most else 0.0

    def solve(self, model: Any, seconds: float, workers: int | None = None) -> tuple[int, Any]:
        self.asked += 1
        found = solver.cp_sat().CpSolver()
        found.parameters.num_workers = 1
        found.parameters.random_seed = 1
        if self.asked == self.most:
            found.parameters.max_deterministic_time = 0.01  # work, not seconds
        return found.solve(model), found


def within(questions: int, problem: Problem) -> Assignment:
    return Exact().improve(problem, BestFit(trials=0).assign(problem), Questions(0, 1, Progress(), most=questions))


@cache
def solved(seed: int) -> tuple[Problem, Assignment]:
    problem = drawn(500, 5, 60, seed)
    return problem, within(10_000, problem)


def test_in_no_time_there_is_an_assignment_with_a_bound_that_holds():
    problem, best = solved(0)
    hasty = Exact(seconds=1e-6).assign(problem)
    hasty.check()
    assert hasty.bound == problem.base <= best.vector <= hasty.vector
    assert hasty.vector.counts[: hasty.proven] == hasty.bound.counts[: hasty.proven]
    assert hasty.proven < best.proven


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))])
def test_bounds_hold_whenever_the_time_is_over(seed):
    problem, best = solved(seed)
    best.check()
    assert best.optimal
    proven = []
    for questions in range(6):
        found = within(questions, problem)
        found.check()
        assert found.bound <= best.vector <= found.vector
        assert found.vector.counts[: found.proven] == best.vector.counts[: found.proven]
        proven.append(found.proven)
    assert proven == sorted(proven)
    assert proven[0] < best.proven


def test_level_of_search_stops_after_so_many_zeros():
    problem = drawn(1000, 10, 40, 1)
    whole = Exact().assign(problem)
    assert whole.vector.k > 5
    for level in (1, 5):
        found = Exact(level=level).assign(problem)
        found.check()
        assert found.proven == level
        assert found.vector.counts[:level] == (0,) * level
        assert not found.optimal
        assert found.bound <= whole.vector


@pytest.mark.parametrize(
    ("problem", "hint"),
    [
        (Problem.plain([3, 3], [4, 2], smallest=2), "groups of 2 or more"),
        (
            Problem(
                np.array([3, 9]),
                1,
                np.array([5, 2]),
                np.array([0, 1, 2]),
                np.array([0, 0]),
                np.array([1, 1]),
                np.array([0, 1]),
                np.array([[True, False], [True, True]]),
            ),
            "5 people may only come to 1 slot(s) with 3 places",
        ),
        (
            Problem(
                np.array([2, 2]),
                1,
                np.array([1]),
                np.array([0, 1]),
                np.array([0]),
                np.array([3]),
                np.array([0]),
                np.array([[True, True]]),
            ),
            "1 people or households fit into none",
        ),
        (
            Problem(
                np.array([3, 3]),
                1,
                np.array([3]),
                np.array([0, 1]),
                np.array([0]),
                np.array([2]),
                np.array([0]),
                np.array([[True, True]]),
            ),
            "households that stay together",
        ),
    ],
)
def test_what_is_impossible_is_proven_and_explained(problem, hint):
    assert best_vector(problem) is None
    assert hint in why_none(problem)
    with pytest.raises(NoSolution) as raised:
        Exact().assign(problem)
    assert raised.value.code == "no-assignment"
    assert hint in raised.value.hint


def test_too_large_a_problem_is_optimal_where_the_heuristic_reaches_the_bound():
    rng = np.random.default_rng(1)
    problem = Problem.plain(rng.integers(100, 2000, 300), rng.integers(3000, 4000, 150))
    assert model_for(problem) is None
    found = Exact().assign(problem)
    found.check()
    assert found.optimal
    assert found.vector == found.bound == problem.base


@pytest.mark.parametrize("seconds", [1e-6, 60])
def test_what_is_not_proven_is_no_worse_than_best_fit(seconds):
    """In no time a problem that could be solved, and with time one that is too large."""
    rng = np.random.default_rng(2)
    large = Problem.plain(rng.integers(400, 700, 150), rng.integers(400, 650, 190))
    problem = large if seconds == 60 else drawn(600, 10, 90, 3)
    assert (model_for(problem) is None) == (seconds == 60)
    found = Exact(seconds=seconds).assign(problem)
    found.check()
    assert found.bound == problem.base
    assert found.notes == {"model": "too large" if seconds == 60 else "arc flow"}
    assert BestFit(trials=0).assign(problem).vector > BestFit().assign(problem).vector >= found.vector


def test_cancelling_stops_the_solver(monkeypatch):
    """Somebody cancels at the ninth look at a question that would take minutes."""
    told: list[Any] = []
    stages: list[str] = []
    solvers = solver.cp_sat().CpSolver
    stop = solvers.stop_search
    monkeypatch.setattr(solvers, "stop_search", lambda self: told.append(self) or stop(self))
    monkeypatch.setattr(solver, "BREATH", 0.01)

    def watch(step: Step) -> None:
        stages.append(step.stage)
        if stages[-9:] == ["prove"] * 9:
            progress.cancel()

    progress = Progress(watch)
    with pytest.raises(Cancelled):
        Exact(seconds=600).assign(drawn(1000, 20, 200, 1), progress)
    assert told


def test_nobody_to_place():
    found = Exact().assign(Problem.plain([], [3]))
    assert found.vector.counts == ()
    assert found.optimal


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"workers": 0}, {"level": 0}, {"level": 1.5}])
def test_bad_parameters(wrong):
    with pytest.raises(InputError) as raised:
        Exact(**wrong)
    assert raised.value.code == "bad-parameter"


def test_without_the_solver(monkeypatch):
    imported = builtins.__import__

    def without(name, *rest, **named):
        if name.startswith("ortools"):
            raise ImportError(name)
        return imported(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError) as raised:
        Exact().assign(THESIS)
    assert raised.value.code == "no-solver"
