"""The first rows of a project's table and of its release, to look at; identifiers are never among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from velado.project import Project
from velado.results import Discreet
from velado.schema import Column, Schema
from velado.tables import Session, Table, open_table
from velado.values import Text


@dataclass(frozen=True, repr=False)
class FirstRows(Discreet):
    """Some rows as texts, and the columns that are not shown."""

    NAMES: ClassVar[tuple[str, ...]] = ("columns",)
    columns: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    hidden: tuple[str, ...] = ()


def rows_before(project: Project, count: int, session: Session | None = None) -> FirstRows:
    """The first rows of the source, without the columns that may tell who somebody is."""
    with open_table(project.source, session=session) as table:
        schema = Schema(project.columns).fit_header(table.header, project.rest, table.name)
        hidden = [c.name for c in schema.values() if _identifies(c) or c.name in (project.person, project.household)]
        return _first(table, count, tuple(hidden))


def rows_after(project: Project, count: int, session: Session | None = None) -> FirstRows:
    """The first rows of the release as it was published."""
    with open_table(project.release_source(), project.folder, session) as table:
        return _first(table, count)


def _identifies(column: Column) -> bool:
    """Whether a column names people, or is treated as if it did."""
    return column.role == "identifier" or (column.operation is not None and column.operation.takes_identifiers)


def _first(table: Table, count: int, hidden: tuple[str, ...] = ()) -> FirstRows:
    columns = tuple(name for name in table.header if name not in hidden)
    page = table.page(0, count)
    rows = zip(*(page[name].to_pylist() for name in columns), strict=True) if columns else ()
    return FirstRows(columns, tuple(rows), hidden)
