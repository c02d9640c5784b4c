"""What a database holds: its schemas, tables and views, their columns and types, and about how many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from velado.progress import Progress
from velado.results import Discreet, Result
from velado.tables import Session, TableName, registry
from velado.tables.address import with_table
from velado.tables.source import Source, is_elsewhere, place_of


class ListedColumn(NamedTuple):
    """A column, and its type as the database calls it."""

    name: str
    type: str


@dataclass(frozen=True, repr=False)
class ListedTable(Discreet):
    """A table or a view. ``rows`` are those of the database's own estimate, where it has one; ``bytes`` what it takes there."""

    NAMES: ClassVar[tuple[str, ...]] = ("schema", "name", "kind")
    schema: str | None
    name: str
    kind: str
    rows: int | None
    bytes: int | None
    columns: tuple[ListedColumn, ...]

    @property
    def full_name(self) -> str:
        """As project files and addresses write it: ``schema.name``; the usual schema of a file is left out."""
        return str(TableName(self.name, None if self.schema in ("", "main") else self.schema))


@dataclass(frozen=True, repr=False)
class DatabaseTables(Result):
    """The tables and views of a database that its user may know of."""

    SCHEMA: ClassVar[str] = "velado-tables-1"
    database: str
    tables: tuple[ListedTable, ...]

    def summary(self) -> dict[str, Any]:
        """How many tables and views there are."""
        return {"tables": len(self.tables)}


def list_tables(database: Any, progress: Progress | None = None) -> DatabaseTables:
    """The tables and views of a database, from its address or, of SQLite and DuckDB, its file. No row is read.

    >>> list_tables("postgresql://ana@db.example/clinic").tables[0].full_name     # doctest: +SKIP
    'public.people'
    """
    text = with_table(database)[0] if isinstance(database, str) else database
    found = registry.list_tables(text, Session((progress or Progress()).through(open=1)("open")))
    listed = tuple(
        ListedTable(t.schema, t.name, t.kind, t.rows, t.bytes, tuple(ListedColumn(*c) for c in t.columns)) for t in found
    )
    return DatabaseTables(_name(text), listed)


def _name(database: Any) -> str:
    """What it is called, without a password."""
    if isinstance(database, str) and "://" in database and not is_elsewhere(database):
        place = place_of(database)
        return str(place["database"].text if "database" in place else place["path"])
    return str(database) if not isinstance(database, Source) else database.name
