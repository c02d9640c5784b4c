"""Appointments: ranks of anonymity vectors, how far the exact planner reaches, how near the heuristics come.

    python benchmarks/appointments.py [--part ranks|exact|heuristic|million] [--seeds 3] [--seconds 60]

Problems: group sizes uniform in [low, high] until there are N people (the last group is cut to fit), slot capacities
uniform in the same range until there are N places; NumPy's default generator with the seed shown. *others*: the load of
the machine (one minute) when the row was done. Part *heuristic* compares best-fit and findSlots with exact (within
--seconds): the first group size at which the vector differs from that of exact, and how many groups it has more there.
Part *million*: one million people and 5,000 slots, the planner alone and the whole of reading, planning, writing and
verifying files.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import velado
from velado.appointments.anonymity_vectors import AnonymityVector, number_of_vectors
from velado.appointments.planners.best_fit import BestFit
from velado.appointments.planners.exact import Exact
from velado.appointments.planners.find_slots import FindSlots
from velado.appointments.problem import Problem

REACH = (
    (100, 1, 12),
    (1_000, 10, 60),
    (10_000, 10, 60),
    (100_000, 10, 60),
    (1_000_000, 10, 60),
    (1_000, 10, 100),
    (10_000, 10, 100),
    (100_000, 10, 100),
    (10_000, 1, 100),
    (10_000, 10, 150),
    (100_000, 10, 150),
    (1_000, 20, 200),
    (1_000, 100, 400),
    (10_000, 500, 2_000),
)


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


def first_difference(one: AnonymityVector, other: AnonymityVector) -> str:
    pairs = zip_longest(one.counts, other.counts, fillvalue=0)
    return next((f"{a - b:+} of {j}" for j, (a, b) in enumerate(pairs, 1) if a != b), "none")


def heuristic(seeds: int, seconds: float) -> None:
    print(f"{'people':>9} {'sizes':>9} {'seed':>4}  {'findSlots':>12}  {'best-fit':>12} {'seconds':>7}  k: all three   exact")
    for people, low, high in REACH[:4]:
        for seed in range(1, seeds + 1):
            problem = drawn(people, low, high, seed)
            found = [FindSlots().assign(problem), BestFit().assign(problem)]
            best = Exact(seconds=seconds).assign(problem)
            gaps = [first_difference(f.vector, best.vector) for f in found]
            k = " ".join(f"{f.vector.k:4}" for f in (*found, best))
            proven = "optimal" if best.optimal else f"{best.proven} components proven"
            print(
                f"{people:9,} {low:4}–{high:<4} {seed:4}  {gaps[0]:>12}  {gaps[1]:>12} {found[1].seconds:7.2f}  {k}  {proven}  "
                f"{os.getloadavg()[0]:.1f}",
                flush=True,
            )


def million() -> None:
    print(f"{'groups':>7} {'slots':>6} {'spare':>7}  {'seconds':>7}  {'k':>3}  base reached  others")
    for low, high, spare in ((5, 20, 0), (1, 100, 0), (10, 60, 0), (150, 250, 0), (5, 20, 20_000), (150, 250, 50_000)):
        rng = np.random.default_rng(1)
        sizes = rng.integers(low, high + 1, size=1_000_000 // low + 1)
        sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), 1_000_000)) + 1]
        sizes[-1] -= sizes.sum() - 1_000_000
        capacities = rng.multinomial(1_000_000 + spare, np.full(5_000, 1 / 5_000))
        found = BestFit().assign(Problem.plain(sizes, capacities))
        found.check()
        reached = "yes" if found.optimal else "from " + first_difference(found.vector, found.problem.base)
        print(
            f"{len(sizes):7,} {5_000:6,} {spare:7,}  {found.seconds:7.2f}  {found.vector.k:3}  {reached:12}  {os.getloadavg()[0]:.1f}"
        )
    with TemporaryDirectory() as folder:
        for suffix in ("parquet", "csv"):
            people, slots, output = (Path(folder) / f"{n}.{suffix}" for n in ("people", "slots", "output"))
            like = {"people": 1_000_000, "ages": "spain-2015", "postal_codes": 200}
            velado.appointments.save_table(velado.appointments.generate_people(**like), people)
            velado.appointments.save_table(
                velado.appointments.generate_slots(slots=5_000, people=1_000_000, lowest=150, highest=250), slots
            )
            began = time.perf_counter()
            qi = ["age", "sex", "postal_code"]
            velado.appointments.assign_appointments(people, slots, qi, slot="slot", output=output)
            print(f"{suffix}: read, planned, written, verified in {time.perf_counter() - began:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=("ranks", "exact", "heuristic", "million"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    if arguments.part in (None, "ranks"):
        ranks()
    if arguments.part in (None, "exact"):
        exact(arguments.seeds, arguments.seconds)
    if arguments.part in (None, "heuristic"):
        heuristic(arguments.seeds, arguments.seconds)
    if arguments.part in (None, "million"):
        million()


if __name__ == "__main__":
    main()
