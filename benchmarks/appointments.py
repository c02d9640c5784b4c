"""Appointments: ranks of anonymity vectors, how far the exact planner reaches.

    python benchmarks/appointments.py [--part ranks|exact] [--seeds 3] [--seconds 60]

Problems: group sizes uniform in [low, high] until there are N people (the last group is cut to fit), slot capacities
uniform in the same range until there are N places; NumPy's default generator with the seed shown. *others*: the load of
the machine (one minute) when the row was done.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from velado.appointments.exact import Exact
from velado.appointments.problem import Problem
from velado.appointments.vectors import AnonymityVector, number_of_vectors

REACH = (
    (100, 1, 12), (1_000, 10, 60), (10_000, 10, 60), (100_000, 10, 60), (1_000_000, 10, 60),
    (1_000, 10, 100), (10_000, 10, 100), (100_000, 10, 100), (10_000, 1, 100), (10_000, 10, 150), (100_000, 10, 150),
    (1_000, 20, 200), (1_000, 100, 400), (10_000, 500, 2_000),
)  # fmt: skip


def drawn(people: int, low: int, high: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    sides = []
    for _ in range(2):
        sizes = rng.integers(low, high + 1, size=people // low + 1)
        sides.append(sizes[: int(np.searchsorted(np.cumsum(sizes), people)) + 1])
    sides[0][-1] -= sides[0].sum() - people
    return Problem.plain(*sides)


def exact(seeds: int, seconds: float) -> None:
    print(
        f"{'people':>9} {'sizes':>9} {'seed':>4} {'groups':>6} {'slots':>6}  model      {'seconds':>7}  proven     {'k':>4}  others"
    )
    for people, low, high in REACH:
        for seed in range(1, seeds + 1):
            problem = drawn(people, low, high, seed)
            found = Exact(seconds=seconds).assign(problem)
            found.check()
            proven = "all" if found.optimal else f"{found.proven} of {len(found.vector.counts)}"
            print(
                f"{people:9,} {low:4}–{high:<4} {seed:4} {problem.groups:6,} {problem.slots:6,}  "
                f"{found.notes.get('model', 'none'):10} {found.seconds:7.2f}  {proven:9}  {found.vector.k:4}  {os.getloadavg()[0]:.1f}",
                flush=True,
            )


def ranks() -> None:
    print(f"{'people':>7}  {'digits':>6}  {'one group':>9}  {'sizes 1–60':>10}  others")
    rng = np.random.default_rng(1)
    for people in (100, 1_000, 10_000, 20_000):
        sizes = rng.integers(1, 61, size=people)
        sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), people))]
        timed = []
        for vector in (AnonymityVector.of_sizes([people]), AnonymityVector.of_sizes([*sizes, people - sizes.sum()])):
            began = time.perf_counter()
            rank = vector.rank
            timed.append(time.perf_counter() - began)
            assert 0 <= rank < number_of_vectors(people)
        digits = len(str(number_of_vectors(people)))
        print(f"{people:7,}  {digits:6}  {timed[0]:8.3f}s  {timed[1]:9.3f}s  {os.getloadavg()[0]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=("ranks", "exact"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    if arguments.part in (None, "ranks"):
        ranks()
    if arguments.part in (None, "exact"):
        exact(arguments.seeds, arguments.seconds)


if __name__ == "__main__":
    main()
