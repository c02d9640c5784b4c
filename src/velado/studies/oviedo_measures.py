"""What the Oviedo thesis measures of a coded pair of columns, by its conventions, and what our definitions give.

Peculiar to the thesis: a class has the values that some individual with μ ≥ ½ has, each as likely as the others; Q_v is
the share of the classes with value v; t is the SMALLEST distance; nothing is said of ℓ and t where k or Q is 1.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from velado.evaluation.individual import higher_risk
from velado.fuzzy import FuzzyCardinality, closeness, distributions, largest_q, record_histograms, strongest, value_cardinality
from velado.sentences import Sentence
from velado.studies.data import check_there

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Pair = tuple[int, int]
Histograms = Mapping[int, "csr_array"]
"""By sensitive column, the value of each record."""
Figures = dict[str, float]
"""By name: Q, k, risk; ℓ and t of each sensitive column (l10, t10, l12, t12); our t (T10, T12)."""

SENSITIVE = (10, 12)
"""Columns of the data file, from 1: PEARNVAL and WSALVAL. The text names PTOTVAL and TAXINC, by its own list."""
PAIRS: tuple[Pair, ...] = tuple(combinations((1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13), 2))
TITLES = {
    f"{figure}{s}": title.format(name)
    for s, name in zip(SENSITIVE, ("PEARNVAL", "WSALVAL"), strict=True)
    for figure, title in (("l", "ℓ of {}"), ("t", "t of {}"), ("T", "t of {}, the largest, by real frequencies"))
} | {"Q": "Q", "k": "k", "risk": "records at risk"}
DIGITS = 4
"""Decimals of a printed t."""


@dataclass(frozen=True)
class Census:
    """The table of the experiment: 1,080 records of 13 columns, numbered from 1."""

    names: tuple[str, ...]
    values: np.ndarray

    @classmethod
    def read(cls, data: Path) -> Census:
        """Read it from the folder of the data."""
        header, *rows = read_rows(data / "casc" / "cascrefmicrodata.csv")
        return cls(tuple(header), np.array(rows, dtype=float))

    def columns(self, *numbers: int) -> np.ndarray:
        """Rows × the columns with these numbers."""
        return self.values[:, [n - 1 for n in numbers]]

    @cached_property
    def histograms(self) -> dict[int, csr_array]:
        """The value that each record has in the sensitive columns."""
        return {s: record_histograms(np.unique(self.columns(s), return_inverse=True)[1].ravel()) for s in SENSITIVE}


def read_rows(path: Path) -> list[list[str]]:
    """The rows of a file of the study."""
    check_there(path, Sentence("the data of the study"))
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def measure_partition(
    memberships: np.ndarray, histograms: Histograms, fuzzy: bool = False, whole: Histograms | None = None
) -> Figures:
    """All figures of a partition; crisp ones have memberships 0 and 1.

    ``whole`` has the records of the whole table, where some are left out of the partition.
    """
    found = class_figures(strongest(memberships))
    if fuzzy:
        found["Q"] = max(1, largest_q(FuzzyCardinality.of(memberships)))
    if found["k"] > 1 and found.get("Q", found["k"]) > 1:
        for s, histogram in histograms.items():
            records = np.asarray((whole or histograms)[s].sum(axis=0))
            found |= sensitive_figures(memberships, histogram, s, records / records.sum())
    return found


def class_figures(labels: np.ndarray) -> Figures:
    """k, and how many records have a higher risk 1/f than the main part (sdcMicro's ``measure_risk``)."""
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    return {"k": int(sizes.min()), "risk": higher_risk(1 / sizes, sizes)[0]}


def sensitive_figures(memberships: np.ndarray, histogram: csr_array, s: int, frequencies: np.ndarray) -> Figures:
    """ℓ and t by the conventions of the thesis, and t as it is defined: real frequencies, the largest distance."""
    counted = value_cardinality(memberships, histogram)
    values = (counted >= 1).sum(axis=1)
    ours = closeness(np.unique(memberships, axis=0), distributions(counted), frequencies, ordered=True)
    return {
        f"l{s}": int(values[values > 0].min()),
        f"t{s}": smallest_distance(memberships, histogram),
        f"T{s}": round(float(ours.max()), DIGITS),
    }


def smallest_distance(memberships: np.ndarray, histogram: csr_array) -> float:
    """The t of the thesis, to the digits that it prints."""
    has = value_cardinality(memberships, histogram) >= 1
    expected = has.sum(axis=0) / has.sum()
    distances = closeness(np.unique(memberships, axis=0), distributions(has), expected, ordered=True)
    return round(float(distances.min()), DIGITS)


def first_labels(classes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Which crossed crisp classes the original's t sees: with n classes that have records, those numbered below n.

    A bug: where numbers in between have no records, the classes with the last numbers are left out.
    """
    return np.asarray(numbers < classes.any(axis=0).sum())
