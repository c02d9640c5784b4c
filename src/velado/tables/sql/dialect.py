"""What an engine must say of its SQL; all the rest is standard and shared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from velado.tables.types import ColumnType, Field


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


class SqlDialect(ABC):
    """How one engine says what others say differently.

    ``sorts_inside``: rows of an ordered subquery stay in their order, so that cells can be made texts behind the sort.
    """

    sorts_inside = False
    apart = ""
    """What stands behind a subquery whose rows are made before they are sorted."""
    many_groups = ""
    """What stands behind SELECT where rows are grouped into very many groups."""
    in_order = ""
    """What stands behind SELECT so that tables are joined in the order in which they are named."""

    def quote(self, name: str) -> str:
        """A name in SQL."""
        return '"' + name.replace('"', '""') + '"'

    def literal(self, text: str) -> str:
        """A text in SQL."""
        return literal(text)

    @abstractmethod
    def text(self, cell: str, type: ColumnType = ColumnType.TEXT) -> str:
        """The canonical text of a cell of a type."""

    @abstractmethod
    def cast(self, text: str, field: Field, changed: bool) -> str:
        """A canonical text as a value of the column's type; of ``changed`` values as wide as the type's family gets."""

    def missing_as(self, cell: str, markers: Sequence[str]) -> str:
        """A text cell in which the markers are missing values."""
        listed = ", ".join(map(self.literal, markers))
        return f"CASE WHEN {cell} IN ({listed}) THEN NULL ELSE {cell} END" if listed else cell

    @abstractmethod
    def hash(self, cells: Sequence[str]) -> str:
        """A whole number from 0 that depends on the cells only."""

    @abstractmethod
    def about_distinct(self, cells: Sequence[str], relation: str) -> str:
        """A query for about how many different combinations of cells there are."""

    @abstractmethod
    def quotient(self, number: int, cell: str) -> str:
        """A whole number divided by a cell, rounded down, as a number that can be summed."""

    @abstractmethod
    def sum(self, cell: str) -> str:
        """The sum of whole numbers as one."""

    @abstractmethod
    def random(self) -> str:
        """A random number for every row."""

    def sorted_by(self, names: Sequence[str]) -> str:
        """All columns of a result as what it is sorted by, missing values last."""
        return ", ".join(map(str, range(1, len(names) + 1)))

    def row_number(self) -> str:
        """The place of a row in the table, from 1."""
        return "row_number() OVER ()"

    def all_true(self, conditions: Sequence[str]) -> str:
        """Whether all of very many conditions hold."""
        return " AND ".join(conditions) or "true"

    @abstractmethod
    def unpivot(self, cells: Sequence[str]) -> str:
        """Two columns: the number of a cell, from 0, and the cell, for every one of the cells of a row."""

    @abstractmethod
    def among(self, cells: Sequence[str]) -> str:
        """All cells of a row as one text, with the character of code 31 between them."""

    @abstractmethod
    def matches(self, cell: str, pattern: str) -> str:
        """Whether a part of a text matches a pattern."""

    @abstractmethod
    def is_all(self, cell: str, pattern: str) -> str:
        """Whether a whole text matches a pattern."""

    @abstractmethod
    def uniform(self, seed: str, row: str) -> str:
        """A number strictly between 0 and 1 that only the seed and the place of the row fix: 52 bits of a SHA-256."""

    @abstractmethod
    def number(self, text: str) -> str:
        """A text as a floating-point number."""

    @abstractmethod
    def round(self, number: str, decimals: int) -> str:
        """A number as text with so many decimals."""
