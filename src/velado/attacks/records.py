"""The records of tables that are laid side by side: rows in the order of the file, or counted combinations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from velado.frequency import distinct_rows
from velado.results import Discreet
from velado.values import Text


@dataclass(frozen=True, repr=False)
class Records(Discreet):
    """Quasi-identifiers and sensitive values of one table.

    ``codes[i, j]`` is a code into ``labels[j]``; ``values[i]`` is the combination of the sensitive values, a code into
    ``names``, which the tables that are compared share. ``counts`` are records, 1 each for rows in order.
    ``hidden`` rows are suppressed: they show no quasi-identifier.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("columns",)
    columns: tuple[str, ...]
    labels: tuple[tuple[Text, ...], ...]
    codes: np.ndarray
    values: np.ndarray
    names: tuple[tuple[Text, ...], ...]
    counts: np.ndarray
    hidden: np.ndarray

    @cached_property
    def total(self) -> int:
        """Records, suppressed ones included."""
        return int(self.counts.sum())

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct rows of labels that are not hidden, and which one each row is (−1: hidden)."""
        seen = ~self.hidden
        rows, number = distinct_rows(self.codes[seen].T, [len(x) for x in self.labels])
        group = np.full(len(self.codes), -1, dtype=np.int64)
        group[seen] = number
        return rows.astype(np.int64), group

    @cached_property
    def sizes(self) -> np.ndarray:
        """Records of each distinct row of labels."""
        rows, group = self.groups
        seen = group >= 0
        return np.bincount(group[seen], weights=self.counts[seen], minlength=len(rows)).astype(np.int64)
