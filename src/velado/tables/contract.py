"""The verbs that every engine has, and what goes in and out of them.

An engine knows nothing of privacy: it counts combinations of values, replaces values by others
according to tables, keeps the rows whose replaced values are on a list, and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from velado.tables.header import Header
from velado.values import Text

ORDERS = ("shuffle", "keep", "sorted")


@dataclass(frozen=True)
class Counts:
    """What an engine's GROUP BY returns: per column a dictionary and codes into it, and counts."""

    names: tuple[str, ...]
    dictionaries: tuple[tuple[Text, ...], ...]
    codes: tuple[np.ndarray, ...]
    counts: np.ndarray

    def encoded(self, name: str, encode: Callable[[Sequence[Text]], np.ndarray]) -> np.ndarray:
        """Codes of a column in another dictionary."""
        i = self.names.index(name)
        if not len(self.dictionaries[i]):
            return np.zeros(len(self.counts), dtype=np.int32)
        return encode(self.dictionaries[i])[self.codes[i]]


@dataclass(frozen=True)
class Translation:
    """Replace the values of a column: ``labels[codes[i]]`` for ``keys[i]``. Keys may contain None (missing).

    With ``by`` the label also depends on another column: on its value ``others[i]``. ``typed``: the labels are values
    of the column's own type and are written as such.
    """

    column: str
    keys: tuple[Text, ...]
    codes: np.ndarray
    labels: tuple[Text, ...]
    by: str | None = None
    others: tuple[Text, ...] = ()
    typed: bool = False


@dataclass(frozen=True)
class Noise:
    """Add a random number to each cell of a column, drawn from a stream that the seed and the number of the row fix.

    ``numbers`` gives the number that each text of the column denotes. The sums have ``decimals`` decimals.
    """

    numbers: Translation
    distribution: str
    scale: float
    seed: str = field(repr=False)
    decimals: int = 0
    comma: bool = False

    @property
    def column(self) -> str:
        """The column."""
        return self.numbers.column


@dataclass(frozen=True)
class Dealing:
    """Rows of one combination are dealt out at random: a kept combination takes the ones numbered ``first … last``.

    ``first`` and ``last`` count from 1 and tell combinations apart that are listed more than once. With ``by`` a
    combination also has a value of that column, ``codes[i]`` as that translation numbers them.
    """

    first: np.ndarray
    last: np.ndarray
    by: Translation | None = None
    codes: np.ndarray | None = None


@dataclass(frozen=True)
class Selection:
    """The combinations of translated codes whose rows are kept, one column per translation; None keeps all.

    Other rows are dropped, or with ``star`` kept with ``*`` in every column. ``shown`` gives the labels of each
    combination, codes into those of the translations; without it a code is its own label. ``dealing`` shares the rows of
    one combination out.
    """

    kept: np.ndarray | None = None
    star: bool = False
    shown: np.ndarray | None = None
    dealing: Dealing | None = None


@dataclass(frozen=True)
class Target:
    """Where and how a table is written."""

    path: Path
    delimiter: str = ","
    order: str = "shuffle"
    guard: bool = True


@dataclass(frozen=True)
class Recoded:
    """What becomes of a table: translations, a selection, columns set to ``*``, columns left out.

    ``known`` lists all values of columns that stay as they are: an engine may store such columns compactly.
    ``replaced`` are translations, and ``noise`` sums, that the selection does not look at.
    """

    translations: tuple[Translation, ...]
    selection: Selection
    starred: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    known: tuple[tuple[str, tuple[Text, ...]], ...] = ()
    replaced: tuple[Translation, ...] = ()
    noise: tuple[Noise, ...] = ()


class Table(Protocol):
    """A table where it lives."""

    source: Any
    header: Header
    types: dict[str, str]

    def rows(self) -> int:
        """Number of rows."""

    def count(self, columns: Sequence[str], lot: tuple[int, int] = (0, 1), by: Sequence[str] = ()) -> Counts:
        """How often each combination of the columns' values (as text) occurs; in lot i of n, by a hash of columns."""

    def lacks(self, column: str) -> bool:
        """Whether a row has no value in the column."""

    def repeats(self, column: str) -> bool:
        """Whether a value of the column stands in several rows, or a row has none."""

    def shares(self, columns: Sequence[str], person: str) -> tuple[Counts, int]:
        """The people of each combination, each person shared out evenly over their rows; counted in so many units."""

    def members(self, columns: Sequence[str], person: str) -> tuple[Counts, np.ndarray]:
        """Each combination with each person in it: counts of rows, and a number that stands for the person."""

    def distinct(self, columns: Sequence[str]) -> int:
        """About how many combinations of the columns' values there are."""

    def filled(self, value: str) -> int:
        """How many rows show the value in every column."""

    def unseen(self, recoded: Recoded) -> dict[str, list[str]]:
        """Per translated column, up to five values that its translation does not know."""

    def write(self, recoded: Recoded, target: Target) -> None:
        """Write the recoded table."""

    def fetch(self, recoded: Recoded, order: str = "keep") -> Any:
        """The recoded table as an Arrow table."""

    def check_unchanged(self) -> None:
        """Raise if the source is not what it was when it was opened."""

    def fingerprint(self) -> str | None:
        """SHA-256 of the input as it was read, where it has bytes of its own."""

    def close(self) -> None:
        """Let go of all resources."""
