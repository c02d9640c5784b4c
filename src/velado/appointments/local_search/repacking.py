"""Large neighbourhoods: the people of a few slots are given out anew, and stay so if that is no worse.

Shaw, "Using constraint programming and local search methods to solve vehicle routing problems", 1998.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from velado.appointments.local_search.exchanges import improve
from velado.appointments.local_search.occupancy import Occupancy
from velado.appointments.local_search.packing import pack
from velado.appointments.problem import Problem
from velado.errors import NoSolution
from velado.progress import Progress

WORST = 200
"""Cells that are looked at before the worst ones are looked for again."""
PER_CELL = 40
"""Trials per cell that is there to begin with: small problems need few."""
MOST_SLOTS = 6
MOST_KINDS = 300
MOST_WORK = 2000
"""Exchanges that are tried in what was given out anew."""
OFTEN = 16
"""Trials between two reports."""


def repack(occupancy: Occupancy, trials: int, seed: int, progress: Progress) -> None:
    """Try to give out a few slots anew around the smallest cells, at most so many times."""
    rng = np.random.Generator(np.random.PCG64(seed))
    trials = min(trials, PER_CELL * sum(len(cells) for cells in occupancy.cells if len(cells) > 1))
    done = 0
    while done < trials:
        worst = _worst(occupancy)
        if not worst:
            return
        for group, slot in worst[: trials - done]:
            if done % OFTEN == 0:
                progress.at(done, trials)
            done += 1
            if len(occupancy.cells[group]) > 1 and slot in occupancy.cells[group]:
                _trial(occupancy, group, slot, rng, progress.part(done / trials, done / trials))


def _worst(occupancy: Occupancy) -> list[tuple[int, int]]:
    """The smallest cells of groups that are in several slots."""
    split = [(n, g, s) for g, cells in enumerate(occupancy.cells) if len(cells) > 1 for s, n in cells.items()]
    return [(g, s) for _, g, s in sorted(split)[:WORST]]


def _trial(occupancy: Occupancy, group: int, slot: int, rng: np.random.Generator, progress: Progress) -> None:
    slots = _choose_slots(occupancy, group, slot, rng)
    before = sorted(chain.from_iterable(occupancy.crowd[s].values() for s in slots))
    problem, kinds = _part(occupancy, slots)
    if len(kinds) > MOST_KINDS:
        return
    try:
        part = pack(problem, rng, progress)
    except NoSolution:
        return
    improve(part, MOST_WORK, progress)
    if sorted(chain.from_iterable(crowd.values() for crowd in part.crowd)) < before:
        return
    for kind in kinds:
        for s in slots:
            if s in occupancy.at[kind]:
                occupancy.put(kind, s, -occupancy.at[kind][s])
    for kind, given in zip(kinds, part.at, strict=True):
        for s, units in given.items():
            occupancy.put(kind, slots[s], units)


def _choose_slots(occupancy: Occupancy, group: int, slot: int, rng: np.random.Generator) -> list[int]:
    """The slot, another one of its group, and random ones: half of them slots of groups that are split there, too."""
    slots = [slot]
    for _ in range(int(rng.integers(1, MOST_SLOTS))):
        near = [s for g in occupancy.crowd[slots[int(rng.integers(len(slots)))]] for s in occupancy.cells[g]]
        near = near if len(slots) == 1 or rng.random() < 0.5 else []
        near = [s for s in near if s not in slots]
        new = near[int(rng.integers(len(near)))] if near else int(rng.integers(len(occupancy.room)))
        if new not in slots:
            slots.append(new)
        if sum(len(occupancy.crowd[s]) for s in slots) > MOST_KINDS // 2:
            break
    return slots


def _part(occupancy: Occupancy, slots: list[int]) -> tuple[Problem, list[int]]:
    """The problem of the people who are in some slots now, and their kinds."""
    whole = occupancy.problem
    kinds = sorted({t for s in slots for t in occupancy.here[s]})
    units = [sum(occupancy.at[t].get(s, 0) for s in slots) for t in kinds]
    members = [occupancy.members[t] for t in kinds]
    numbers = {g: i for i, g in enumerate(sorted({g for entries in members for g, _ in entries}))}
    return (
        Problem(
            capacities=whole.capacities[slots],
            groups=len(numbers),
            units=np.array(units, dtype=np.int64),
            start=np.cumsum([0, *map(len, members)]),
            member_groups=np.array([numbers[g] for entries in members for g, _ in entries], dtype=np.int64),
            member_counts=np.array([n for entries in members for _, n in entries], dtype=np.int64),
            admissible=np.arange(len(kinds)),
            slot_sets=whole.slot_sets[whole.admissible[kinds]][:, slots],
        ),
        kinds,
    )
