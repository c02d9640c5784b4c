"""What an engine counts: how often each combination of values occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from velado.results import Discreet
from velado.values import Text

if TYPE_CHECKING:
    import numpy as np

NOBODY = 0
"""Stands for the person of rows that do not say whose they are."""


@dataclass(frozen=True, repr=False)
class Counts(Discreet):
    """Combinations of values: per column a dictionary and codes into it, and how often each combination occurs."""

    NAMES: ClassVar[tuple[str, ...]] = ("names",)
    names: tuple[str, ...]
    dictionaries: tuple[tuple[Text, ...], ...]
    codes: tuple[np.ndarray, ...]
    counts: np.ndarray

    def encode_column(self, name: str, encode: Callable[[Sequence[Text]], np.ndarray]) -> np.ndarray:
        """Codes of a column in another dictionary."""
        i = self.names.index(name)
        if not len(self.dictionaries[i]):
            import numpy as np

            return np.zeros(len(self.counts), dtype=np.int32)
        codes: np.ndarray = encode(self.dictionaries[i])[self.codes[i]]
        return codes


@dataclass(frozen=True)
class Groups:
    """Records that have a value, how many of them are alone with theirs, and how many share it with few others.

    ``number``: how many groups there are.
    """

    records: int
    alone: int
    few: int
    number: int

    @classmethod
    def of(cls, sizes: np.ndarray, below: int) -> Groups:
        """Groups of these sizes; those of fewer than ``below`` records are few."""
        return cls(int(sizes.sum()), int((sizes == 1).sum()), int(sizes[sizes < below].sum()), len(sizes))
