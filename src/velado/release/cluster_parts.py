"""Tables whose frequency table is too large for one machine: cut and solved by the machines where they live.

Breadth first: the marginals of all parts of a level come from one pass, and say all cuts of that level. Then every machine
solves the parts that lie on it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from velado.evaluation.part_sums import PartSums
from velado.methods.base import no_solution
from velado.methods.cutter import Marginal
from velado.models import PrivacyModel
from velado.progress import Progress
from velado.release.memory import COLUMN, ROW
from velado.release.part_solver import Axes, Solver, as_one_row, cut_of, marginal_of
from velado.results import Discreet
from velado.tables import Cut, PartMarginal, Spread

RECORD = 200
"""Bytes that a record of a part needs beside those of its distinct row: its places, labels and other cells."""


@dataclass(frozen=True, repr=False)
class Chooser(Discreet):
    """Chooses the cut of a part that has more than ``most`` records, on the machine that has its counts."""

    axes: Axes
    most: int

    def __call__(self, found: list[PartMarginal]) -> bytes:
        """All records of the part as one, and its cut (None: it fits, or cannot be cut)."""
        marginals = [marginal_of(self.axes, j, m) for j, m in enumerate(found)]
        records, held = (x.sum(axis=0, keepdims=True) for x in (marginals[0].records, marginals[0].histograms))
        whole = Marginal(np.zeros(1, dtype=np.int64), records, held)
        return pickle.dumps((whole, cut_of(self.axes, marginals) if records[0] > self.most else None))


def solve_spread(
    spread: Spread, solver: Solver, models: Sequence[PrivacyModel], follow: Callable[[str], Progress]
) -> Iterator[PartSums]:
    """Cut until every part fits a machine, and let the machines solve them; what each part adds to the evaluation."""
    columns = len(solver.axes.hierarchies)
    most = max(1000, spread.memory // (ROW + COLUMN * columns + RECORD))
    cut_levels(spread, solver.axes, most, models, follow("split"))
    follow("solve")
    for summary in spread.solve(solver):
        yield pickle.loads(summary)


def cut_levels(spread: Spread, axes: Axes, most: int, models: Sequence[PrivacyModel], progress: Progress) -> int:
    """Cut all parts that have too many records, level by level; how many passes over the table that took."""
    opened, number, ready, passes = [0], 1, 0, 0
    while opened:
        passes += 1
        cuts: dict[int, tuple[int, list[tuple[int, int, int]]]] = {}
        for part, found in spread.decide(opened, Chooser(axes, most)).items():
            whole, cut = pickle.loads(found)
            if part == 0 and not axes.cutter.is_satisfied([whole]):
                raise no_solution(as_one_row(axes, [whole]), models, 0.0)
            if cut is None:
                ready += int(whole.records.sum())
            else:
                cuts[part] = cut
        # Parts that are still too large get the highest numbers: they alone are looked at again.
        sizes = {(part, low): size for part, (_, pieces) in cuts.items() for low, _, size in pieces}
        numbers = {key: number + i for i, key in enumerate(sorted(sizes, key=lambda key: sizes[key] > most))}
        number += len(numbers)
        opened = sorted(numbers[key] for key, size in sizes.items() if size > most)
        ready += sum(size for size in sizes.values() if size <= most)
        if cuts:
            spread.cut(
                {
                    part: Cut(j, tuple((low, high, numbers[part, low]) for low, high, _ in pieces))
                    for part, (j, pieces) in cuts.items()
                }
            )
        progress.at(ready, spread.records)
    return passes
