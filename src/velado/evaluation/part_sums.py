"""The evaluation of a release that was made part by part: sums of the parts, no class of which is kept in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from velado.evaluation.evaluation import Evaluation
from velado.evaluation.pair import Pair
from velado.evaluation.risk import required_size, risk
from velado.evaluation.utility import ColumnUtility, entropy_loss, overall, utility
from velado.models import PrivacyModel, Verdict, smallest_class
from velado.results import Discreet


@dataclass(repr=False)
class ColumnSums(Discreet):
    """Figures of a column times the records of each part; they add up because every measure is a mean over cells."""

    loss: float = 0.0
    precision: float | None = 0.0
    generalized_loss: float = 0.0
    lost: float = 0.0
    whole: float = 0.0

    def add(self, measured: ColumnUtility, n: int, entropy: tuple[float, float]) -> None:
        """Add a part of n records."""
        self.loss += measured.loss * n
        unknown = self.precision is None or measured.precision is None
        self.precision = None if unknown else (self.precision or 0.0) + (measured.precision or 0.0) * n
        self.generalized_loss += measured.generalized_loss * n
        self.lost += entropy[0]
        self.whole += entropy[1]

    def join(self, other: ColumnSums) -> None:
        """Add the sums of other parts."""
        self.loss += other.loss
        unknown = self.precision is None or other.precision is None
        self.precision = None if unknown else (self.precision or 0.0) + (other.precision or 0.0)
        self.generalized_loss += other.generalized_loss
        self.lost += other.lost
        self.whole += other.whole


class PartSums:
    """Pairs that are parts of one table, added one by one."""

    def __init__(self) -> None:
        self.records = 0
        self.kept = 0
        self.singled_out = 0
        self.sizes: Counter[int] = Counter()
        self.alike: Counter[int] = Counter()
        self.columns: dict[str, ColumnSums] = {}
        self.values_before: dict[str, int] = {}

    def add(self, pair: Pair) -> None:
        """Add a part."""
        _, measured = utility(pair)
        self.records += pair.records
        self.kept += pair.released_records
        self.singled_out += pair.original.singled_out
        for counted, counts in ((self.sizes, pair.sizes), (self.alike, pair.original.counts)):
            sizes, times = np.unique(counts, return_counts=True)
            counted.update(dict(zip(sizes.tolist(), times.tolist(), strict=True)))
        for j, (name, column) in enumerate(measured.items()):
            entropy = entropy_loss(pair, j)
            assert entropy is not None
            self.columns.setdefault(name, ColumnSums()).add(column, pair.records, entropy)
            self.values_before[name] = column.values_before

    def join(self, other: PartSums) -> None:
        """Add parts that were added up elsewhere."""
        self.records += other.records
        self.kept += other.kept
        self.singled_out += other.singled_out
        self.sizes.update(other.sizes)
        self.alike.update(other.alike)
        for name, sums in other.columns.items():
            self.columns.setdefault(name, ColumnSums()).join(sums)
        self.values_before.update(other.values_before)

    def evaluation(
        self, models: Sequence[PrivacyModel], verdicts: Sequence[Verdict], written: Counter[int], labels: Mapping[str, int]
    ) -> Evaluation:
        """The evaluation of everything; ``written`` says how many classes of each size the release shows, ``labels`` how many
        different ones each column has."""
        n = max(self.records, 1)
        k = required_size(models)
        columns = {
            name: ColumnUtility(
                loss=c.loss / n,
                precision=None if c.precision is None else c.precision / n,
                generalized_loss=c.generalized_loss / n,
                entropy=c.lost / c.whole if c.whole > 0 else 0.0,
                values_before=self.values_before[name],
                values_after=labels[name],
            )
            for name, c in self.columns.items()
        }
        sizes = np.array(sorted(written), dtype=np.int64)
        times = np.array([written[s] for s in sizes.tolist()], dtype=np.int64)
        classes = int(times.sum())
        lost, whole = (sum(getattr(c, name) for c in self.columns.values()) for name in ("lost", "whole"))
        squares = float((sizes.astype(float) ** 2 * times).sum())
        measured = overall(
            columns, self.records, self.kept, classes, squares, lost / whole if whole > 0 else 0.0, smallest_class(models)
        )
        return Evaluation(
            rows=self.records,
            released=self.kept,
            suppressed=self.records - self.kept,
            starred=0,
            classes=classes,
            class_size={"min": int(sizes.min()), "max": int(sizes.max()), "mean": self.kept / classes},
            utility=measured,
            risk=risk(sizes, self.singled_out, times, k, self._smaller(k)),
            models=tuple(verdicts),
            columns=columns,
        )

    def _smaller(self, k: int | None) -> int | None:
        return None if k is None else sum(size * times for size, times in self.alike.items() if size < k)
