"""What a builder of hierarchies sees of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from velado.dates import Formats
from velado.results import Discreet


@dataclass(frozen=True, repr=False)
class Leaves(Discreet):
    """The different values of a column (missing left out), the format of its dates, and the records of each value.

    ``records`` is None where nobody counted them.
    """

    values: Sequence[str]
    format: Formats = None
    records: Mapping[str, int] | None = None
