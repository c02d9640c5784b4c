"""UCM: appointments of a screening programme that keep people anonymous."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from velado.appointments.anonymity_vectors import improvement
from velado.appointments.planners.best_fit import BestFit
from velado.appointments.planners.exact import Exact
from velado.appointments.planners.find_slots import FindSlots
from velado.appointments.planners.random_slots import RandomSlots
from velado.appointments.problem import Assignment, Planner, Problem
from velado.progress import Progress
from velado.report.formats.comparison import make_folder
from velado.sentences import Sentence
from velado.studies.comparison import Compared, Result, all_or_nothing, compare, save
from velado.studies.ucm_text import worked_figures

RUNS = 100
TABLE_7: dict[int, tuple[float | None, ...]] = {
    5: (0.3815, 0.36817, 0.01333),
    10: (0.64845, 0.60344, 0.04501),
    25: (0.88087, 0.71058, 0.17030),
    50: (None, 0.77274, None),
}
"""Mean gains: optimum over random, heuristic over random, optimum over heuristic."""
TABLE_8: dict[int, tuple[float | None, ...]] = {
    5: (1.01, 1.05, 1.05),
    10: (1.0, 1.07, 1.06),
    25: (1.0, 1.43, 1.26),
    100: (1.01, None, 2.16),
    1000: (1.02, None, 6.82),
    10_000: (1.15, None, 17.31),
}
"""Mean k: random, optimum, heuristic."""
GENERATOR = "the text does not say how groups and slots were drawn, and the figures depend on it"
SECONDS = 10.0
"""Budget of the exact planner for one draw of table 8."""


def draw(population: int, rng: np.random.Generator) -> Problem:
    """Groups of U[0.2·√N, √N] people, the last one cut off; slots for U[0.1·N, 0.5·N] until everybody has a place."""
    root = math.sqrt(population)
    sizes = _until(population, max(1, math.ceil(0.2 * root)), max(1, math.floor(root)), rng)
    sizes[-1] -= sum(sizes) - population
    capacities = _until(population, max(1, math.ceil(0.1 * population)), max(1, math.floor(0.5 * population)), rng)
    return Problem.plain(np.array(sizes), np.array(capacities))


def _until(total: int, low: int, high: int, rng: np.random.Generator) -> list[int]:
    drawn: list[int] = []
    while sum(drawn) < total:
        drawn.append(int(rng.integers(low, high + 1)))
    return drawn


@all_or_nothing
def study(data: Path, folder: Path, progress: Progress | None = None, seed: int = 2015, runs: int = RUNS, **_: Any) -> Result:
    """The worked figures; tables 7 and 8 with generators that are stated."""
    studying = (progress or Progress()).part(0.0, 1.0, "study")
    studying.at(0.0)
    compared = worked_figures()
    rng = np.random.default_rng(seed)
    steps = len(TABLE_7) + len(TABLE_8)
    for step, (population, published) in enumerate(TABLE_7.items()):
        compared += _gains(population, published, runs, rng, studying.of(step, steps))
    for step, (population, published) in enumerate(TABLE_8.items(), len(TABLE_7)):
        compared += _anonymity(population, published, runs, rng, studying.of(step, steps))
    make_folder(folder)
    files = save(folder, compared)
    studying.at(1.0)
    notes = (
        Sentence(
            "Tables 7 and 8: means of {runs} draws (seed {seed}), groups of U[0.2√N, √N] people, slots for U[0.1N, 0.5N] "
            "until everybody has a place. The text states no generator, so its figures cannot come out.",
            runs=runs,
            seed=seed,
        ),
        Sentence(
            "'best-fit' is our default; 'optimum' is proven, also where the text has no figure (X), unless it says otherwise."
        ),
        Sentence("Improvement is not defined where everybody is alone from the beginning: such draws are repeated."),
    )
    return Result(Sentence("UCM: anonymous appointments"), tuple(compared), notes, tuple(files))


def _gains(
    population: int, published: tuple[float | None, ...], runs: int, rng: np.random.Generator, progress: Progress
) -> list[Compared]:
    """One line of table 7."""
    gains: list[list[float]] = []
    while len(gains) < runs:
        problem = draw(population, rng)
        if problem.base.rank == 0:
            continue
        planners = (RandomSlots(seed=int(rng.integers(2**31))), Exact(), FindSlots(), BestFit())
        by_chance, exact, slots, fit = (a.vector for a in _run_planners(problem, planners, progress.of(len(gains), runs)))
        pairs = ((exact, by_chance), (slots, by_chance), (exact, slots), (fit, by_chance), (exact, fit))
        gains.append([float(improvement(a, b, problem.base)) for a, b in pairs])
    means = [round(fmean(column), 5) for column in zip(*gains, strict=True)]
    names = (
        "optimum over random",
        "heuristic over random",
        "optimum over heuristic",
        "best-fit over random",
        "optimum over best-fit",
    )
    return [
        compare("table 7", f"{population} people: {name}", shown, mean, 0.000005, GENERATOR)
        for name, shown, mean in zip(names, (*published, None, None), means, strict=True)
    ]


def _run_planners(problem: Problem, planners: Sequence[Planner], progress: Progress) -> list[Assignment]:
    return [p.assign(problem, progress.of(i, len(planners))) for i, p in enumerate(planners)]


def _anonymity(
    population: int, published: tuple[float | None, ...], runs: int, rng: np.random.Generator, progress: Progress
) -> list[Compared]:
    """One line of table 8."""
    found: list[list[Assignment]] = []
    for run in range(runs):
        problem = draw(population, rng)
        planners = (RandomSlots(seed=int(rng.integers(2**31))), Exact(seconds=SECONDS), FindSlots(), BestFit())
        found.append(_run_planners(problem, planners, progress.of(run, runs)))
    means = [round(fmean(a.vector.k for a in column), 2) for column in zip(*found, strict=True)]
    proven = sum(exact.optimal for _, exact, *_ in found)
    optimum = "optimum" if proven == runs else f"optimum ({proven} of {runs} proven)"
    names = ("random", optimum, "heuristic", "best-fit")
    return [
        compare("table 8", f"{population} people: k, {name}", shown, mean, 0.005, GENERATOR)
        for name, shown, mean in zip(names, (*published, None), means, strict=True)
    ]
