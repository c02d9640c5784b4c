"""A recoding as an engine understands it: replace values, keep combinations, leave columns out.

An engine knows nothing of privacy: it replaces values by others according to tables, and keeps the rows whose replaced
values are on a list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from velado.results import Discreet
from velado.values import Text

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, repr=False)
class Translation(Discreet):
    """Replace the values of a column: ``labels[codes[i]]`` for ``keys[i]``. Keys may contain None (missing).

    With ``by`` the label also depends on another column: on its value ``others[i]``. ``typed``: the labels are
    canonical texts of the column's own type and are written as such.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("column",)
    column: str
    keys: tuple[Text, ...]
    codes: np.ndarray
    labels: tuple[Text, ...]
    by: str | None = None
    others: tuple[Text, ...] = ()
    typed: bool = False


@dataclass(frozen=True, repr=False)
class Noise(Discreet):
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


@dataclass(frozen=True, repr=False)
class Dealing(Discreet):
    """Rows of one combination are dealt out at random: a kept combination takes the ones numbered ``first … last``.

    ``first`` and ``last`` count from 1 and tell combinations apart that are listed more than once. With ``by`` a
    combination also has a value of that column, ``codes[i]`` as that translation numbers them.
    """

    first: np.ndarray
    last: np.ndarray
    by: Translation | None = None
    codes: np.ndarray | None = None


@dataclass(frozen=True, repr=False)
class Selection(Discreet):
    """The combinations of translated codes whose rows are kept, one column per translation; None keeps all.

    Other rows are dropped, or with ``star`` kept with ``*`` in every column. ``shown`` gives the labels of each
    combination, codes into those of the translations; without it a code is its own label. ``dealing`` shares the rows of
    one combination out.
    """

    kept: np.ndarray | None = None
    star: bool = False
    shown: np.ndarray | None = None
    dealing: Dealing | None = None


@dataclass(frozen=True, repr=False)
class Plan(Discreet):
    """What becomes of a table, in words that every engine understands: translations, a selection, columns set to ``*``, columns left out.

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
