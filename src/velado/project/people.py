"""Which column of a table says whose rows they are."""

from __future__ import annotations

from velado.errors import InputError
from velado.project.document import ROWS, Project
from velado.sentences import Sentence
from velado.tables import Table


def person_column(project: Project, table: Table) -> str | None:
    """The column whose values are the people, None if every row is one; an error if that is not clear.

    Identifiers that repeat say that rows may belong together, unless another identifier tells all rows apart.
    """
    if project.unit not in (None, ROWS):
        return checked_person(table, project.unit)
    # Columns that the project does not mention are left out as identifiers are, but nobody called them so.
    identifiers = [c.name for c in project.columns if c.role == "identifier"]
    repeated = [name for name in identifiers if table.repeats(name)] if project.unit is None else []
    if repeated and len(repeated) == len(identifiers):
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
    """A column that says who each row belongs to; None if it tells all rows apart."""
    if column not in table.header:
        raise InputError(
            "unknown-column", "the table has no such column, and it is to say which rows belong to one person",
            file=table.name, column=column,
        )  # fmt: skip
    if table.lacks(column):
        raise InputError(
            "missing-values", "a row does not say to whom it belongs", file=table.name, column=column,
            hint="Give every row its person, or write 'person: rows'.",
        )  # fmt: skip
    return column if table.repeats(column) else None
