"""Take all values of a column away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from velado.declarations import Declaration
from velado.operations.base import Given, Operation
from velado.operations.treatment import LeavingOut, Starring, Treatment
from velado.tables import Table


@dataclass(frozen=True)
class Suppress(Operation):
    """Every cell shows ``*``, missing ones too; the column stays."""

    name: ClassVar[str] = "suppress"
    declaration: ClassVar = Declaration(title="suppress", meaning="Every cell of the column shows *.", example="suppress")
    hides: ClassVar[bool] = True
    erases: ClassVar[bool] = True
    takes_identifiers: ClassVar[bool] = True

    def treat(self, table: Table, given: Given) -> Treatment:
        """Star the column."""
        return Starring(given, self)


@dataclass(frozen=True)
class Drop(Operation):
    """The column is left out."""

    name: ClassVar[str] = "drop"
    declaration: ClassVar = Declaration(title="drop", meaning="The column is left out of the release.", example="drop")
    hides: ClassVar[bool] = True
    erases: ClassVar[bool] = True
    takes_identifiers: ClassVar[bool] = True

    def treat(self, table: Table, given: Given) -> Treatment:
        """Leave the column out."""
        return LeavingOut(given, self)
