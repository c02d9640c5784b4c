"""Columns of all tables of a project, what is said of each, and saying something of several at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from velado.service.errors import NotFound
from velado.service.projects.document import Document, DocumentColumn
from velado.studio.project_page import Change, ProjectPage


class TableColumn(NamedTuple):
    """A column of a table; None: of the only one."""

    table: str | None
    column: str

    @property
    def text(self) -> str:
        """The place as people read it, and as forms send it."""
        return self.column if self.table is None else f"{self.table}: {self.column}"


def column_of(work: ProjectPage, name: str) -> DocumentColumn:
    """What is said of a column that can have a hierarchy."""
    column = work.part.column(name)
    if column is None or column.role in ("", "identifier"):
        raise NotFound()
    return column


def all_columns(work: ProjectPage) -> list[tuple[TableColumn, DocumentColumn]]:
    """All columns of all tables."""
    parts = work.document.parts.items()
    return [(TableColumn(table, name), column) for table, part in parts for name, column in part.columns.items()]


def same_attribute(work: ProjectPage, column: str) -> list[TableColumn]:
    """A column, and those of other tables that are of the same attribute: they must be described alike."""
    own = column_of(work, column)
    same = [
        place
        for place, other in all_columns(work)
        if place.table != work.table and (other.attribute, other.role) == (own.attribute, own.role)
    ]
    return [TableColumn(work.table, column), *same]


def other_columns(work: ProjectPage, column: str) -> list[TableColumn]:
    """Columns that could use the same hierarchy."""
    taken = set(same_attribute(work, column))
    return [place for place, other in all_columns(work) if place not in taken and other.role in ("quasi-identifier", "sensitive")]


def column_change(places: list[TableColumn], said: Mapping[str, Any]) -> Change:
    """A change that says something of columns; None takes it away. What columns share is said of what they share."""

    def describe(document: Document) -> None:
        for place in places:
            document.table(place.table).describe(place.column, said)

    return describe
