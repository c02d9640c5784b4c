"""Which tables a database holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.errors import MOST_LISTED, InputError, suggest
from velado.sentences import Sentence
from velado.tables.address import Address, TableName, is_cluster
from velado.tables.session import Session
from velado.tables.source import HOLDS_TABLES, Source, check_path, format_of, is_elsewhere, place_of

MOST_NAMED = 10
"""Tables that an error names."""


@dataclass(frozen=True)
class Listed:
    """A table or a view: ``kind``; about how many ``rows`` it has, and its ``bytes``, where that is known; the name and the
    database's own type of each column."""

    schema: str | None
    name: str
    kind: str
    rows: int | None = None
    columns: tuple[tuple[str, str], ...] = ()
    bytes: int | None = None

    @property
    def full_name(self) -> str:
        """As a project file says it: the usual schema of a file is left out."""
        return str(TableName(self.name, None if self.schema == "main" else self.schema))


@dataclass(frozen=True)
class Place:
    """A database: that of a server, or a file of a format that holds tables."""

    database: Address | None = None
    path: Path | None = None
    format: str | None = None

    @classmethod
    def of(cls, address: str | Path) -> Place:
        """The database at an address or a path."""
        text = str(address)
        known = isinstance(address, str) and ("://" in address or is_cluster(address))
        if isinstance(address, str) and known and not is_elsewhere(address):
            return cls(**place_of(address.partition("#")[0]))
        if isinstance(address, str) and is_elsewhere(address):
            # Says which engines there are.
            Address.parse(address)
        path = Path(text)
        check_path(path)
        if format_of(path) not in HOLDS_TABLES:
            raise InputError(
                "no-database",
                "the file is no database, so that there are no tables to list",
                file=path,
                hint=Sentence("Formats that hold tables: {known}.", known=list(HOLDS_TABLES)),
            )
        return cls(path=path, format=format_of(path))

    def source(self, **more: Any) -> Source:
        """Of a file, as what is read there."""
        return Source(path=self.path, format=self.format, **more)


def named_table(source: Source, known: Sequence[Listed], usual: str = "main") -> TableName:
    """The full name of the table of a database file that a source names; an error tells those that are there."""
    if source.table is None:
        raise no_table(source, known)
    wanted = TableName.parse(source.table, source.name)
    schema = wanted.schema or usual
    there = {(t.schema or usual, t.name): t for t in known}
    folded = {(s.casefold(), n.casefold()): t for (s, n), t in there.items()}
    found = there.get((schema, wanted.name)) or folded.get((schema.casefold(), wanted.name.casefold()))
    if found is None:
        raise InputError(
            "unknown-table",
            Sentence("the database has no table '{table}' that may be read", table=str(wanted)),
            file=str(source.path),
            hint=suggest(str(wanted), [t.full_name for t in known]) if known else "",
        )
    return TableName(found.name, found.schema)


def check_not_replaced(source: Source, session: Session, read: Iterable[TableName]) -> None:
    """No table of a database file that is read, also by a view or a query, may be replaced by a release."""
    for sink in session.sinks:
        for table in read:
            if sink.table is not None and sink.replaces(source, table):
                raise InputError(
                    "output-is-input",
                    Sentence("the release would replace the table '{table}', which is read", table=str(table)),
                    file=sink.name,
                    hint="Choose another table.",
                )


def no_table(source: Source, known: Sequence[Listed]) -> InputError:
    """The error for a database of which no table is named, with the tables that there are."""
    names = [t.full_name for t in known]
    if not names:
        hint: str = Sentence("The database holds no table.")
    elif len(names) == 1:
        hint = Sentence("It holds one table: say table: {table}", table=names[0])
    elif len(names) <= MOST_NAMED:
        hint = Sentence("It holds the tables {tables}.", tables=names)
    else:
        hint = Sentence("It holds {number:,} tables, such as {tables}.", number=len(names), tables=names[:MOST_NAMED])
    return InputError(
        "no-table", "which table of the database?", file=source.name, hint=hint, fields={"tables": names[:MOST_LISTED]}
    )
