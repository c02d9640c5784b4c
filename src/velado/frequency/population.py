"""Another table of people: how many of them a reader of the release would take for members of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from velado.results import Discreet
from velado.values import Text

if TYPE_CHECKING:
    from velado.frequency.classes import Classes

NOWHERE = -1


@dataclass(frozen=True, repr=False)
class Population(Discreet):
    """Distinct rows of a population with their people, by the quasi-identifiers of a frequency table.

    ``codes[r, j]`` is the value of row r in column j. ``chains[j][v]`` are the labels that the value v has, from itself up
    to the root, by the hierarchy of the table: a person fits a class if each label of the class is one of them. ``digest``
    is that of the file.
    """

    columns: tuple[str, ...]
    chains: tuple[tuple[tuple[Text, ...], ...], ...]
    codes: np.ndarray
    counts: np.ndarray
    digest: str | None = None

    @property
    def people(self) -> int:
        """How many there are."""
        return int(self.counts.sum())

    def members(self, classes: Classes) -> np.ndarray:
        """How many people of the population fit each class, by what the class shows. O(rows log rows).

        Every person is counted in one class at most: never too many.
        """
        assert classes.levels is not None
        frequency = classes.frequency
        keys, own = np.zeros(classes.count, dtype=np.int64), np.zeros(len(self.counts), dtype=np.int64)
        fits = np.ones(len(self.counts), dtype=bool)
        for j, (h, level) in enumerate(zip(frequency.hierarchies, classes.levels, strict=True)):
            shown = h.maps[level][frequency.codes[classes.rows, j]]
            there = {h.labels[level][code]: int(code) for code in np.unique(shown)}
            place = self.columns.index(h.column)
            label = _label_of(self.chains[place], there)[self.codes[:, place]]
            fits &= label != NOWHERE
            # Renumbered column by column, so that no product of domains overflows.
            both = np.unique(np.concatenate([_pair_keys(keys, shown), _pair_keys(own, label)]), return_inverse=True)[1]
            keys, own = both[: classes.count], both[classes.count :]
        people = np.bincount(own[fits], weights=self.counts[fits], minlength=int(keys.max(initial=-1)) + 1)
        return people[keys].astype(np.int64)


def _label_of(chains: Sequence[Sequence[Text]], there: dict[Text, int]) -> np.ndarray:
    """The number of the first label of each value that is there."""
    return np.array([next((there[x] for x in chain if x in there), NOWHERE) for chain in chains], dtype=np.int64)


def _pair_keys(keys: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return keys * (1 << 31) + (codes.astype(np.int64) + 1)
