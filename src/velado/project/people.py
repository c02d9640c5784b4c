"""Which column of a table says whose rows they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from velado.errors import InputError
from velado.sentences import Sentence
from velado.tables import Table

if TYPE_CHECKING:
    from velado.project.document import Project

ROWS = "rows"
"""Every row is a person."""


def person_column(project: Project, table: Table) -> str | None:
    """The column whose values are the people, None if every row is one; an error if that is not clear.

    Identifiers that repeat say that rows may belong together, unless another identifier tells all rows apart. Rows that
    lack an identifier do not share one.
    """
    if project.unit not in (None, ROWS):
        return checked_person(table, project.unit)
    # Columns that the project does not mention are left out as identifiers are, but nobody called them so.
    identifiers = [c.name for c in project.columns if c.role == "identifier" and not table.field(c.name).unread]
    repeated = [name for name in identifiers if table.repeats(name)] if project.unit is None else []
    if repeated and all(name in repeated or table.lacks(name) for name in identifiers):
        raise InputError(
            "repeated-identifier",
            "values of this identifier stand in several rows: does a person have several rows?",
            file=table.name,
            column=repeated[0],
            hint=Sentence(
                "Write 'person: {column}' (or household: COLUMN) if its rows belong to one person, so that k counts "
                "people; or 'person: rows' if every row is a person.",
                column=repeated[0],
            ),
        )
    return None


def checked_person(table: Table, column: str) -> str | None:
    """A column that says who each row belongs to; None if it tells all rows apart.

    Rows that do not say it count as nobody: each of them may belong to any of the others.
    """
    if column not in table.header:
        raise InputError(
            "unknown-column",
            "the table has no such column, and it is to say which rows belong to one person",
            file=table.name,
            column=column,
        )
    if table.repeats(column):
        return column
    if not table.lacks(column):
        return None
    if not table.groups([[column]], [1])[0].records:
        raise InputError(
            "missing-values",
            "no row says to whom it belongs",
            file=table.name,
            column=column,
            hint="Name another column, or write 'person: rows' if every row is a person.",
        )
    return column
