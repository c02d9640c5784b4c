"""DuckDB database files: their tables, views and queries."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.progress import Progress
from velado.tables.address import TableName
from velado.tables.contract import Identity
from velado.tables.duckdb.errors import translate_error
from velado.tables.duckdb.instance import DATABASE, Room, borrow_instance
from velado.tables.files import digest_of
from velado.tables.formats.names import names_of
from velado.tables.identity import FileIdentity, FixedIdentity
from velado.tables.listing import Listed, check_not_replaced, named_table
from velado.tables.session import Session
from velado.tables.source import Source
from velado.tables.sql.dialect import literal
from velado.tables.sql.table import inner_names

Ask = Callable[[str], list[tuple[Any, ...]]]
MAIN = "main"


def enter(source: Source, session: Session) -> tuple[Room, Identity]:
    """A room in which the database file of a source is attached, and what the file was before.

    If the session is to write to the file, it is opened for that at once, and nobody else can change it meanwhile.
    """
    path = source.check_file()
    written = any(sink.path is not None and sink.table and _same(sink.path, path) for sink in session.sinks)
    identity: Identity = FileWithLog.of(path, session.progress)
    if written:
        identity = FixedIdentity(identity.digest())
    instance, leave = borrow_instance(session, path, written)
    try:
        return instance.room(leave), identity
    except BaseException:
        leave()
        raise


def relation_of(source: Source, session: Session, ask: Ask) -> tuple[list[str], str]:
    """The names of the columns, and the table, view or query in SQL with columns c0, c1, …"""
    if source.query is not None:
        body = f"({source.query.strip().rstrip(';')}\n)"
    else:
        body = quote_table(named_table(source, list_tables(ask)))
    check_not_replaced(source, session, _read_by(body, ask))
    return relation_in(body, source, ask)


def _read_by(body: str, ask: Ask) -> set[TableName]:
    """The tables that the engine would read, also below views."""
    (plan,) = ask(f"EXPLAIN (FORMAT json) SELECT * FROM {body} AS q")
    names = re.findall(r'"Table": ("(?:[^"\\]|\\.)*")', plan[1])
    found = [json.loads(name).partition(".")[2] for name in names]
    return {TableName(table, schema) for schema, _, table in (name.partition(".") for name in found)}


def relation_in(body: str, source: Source, ask: Ask) -> tuple[list[str], str]:
    """The same for a table or query in SQL."""
    names = [row[0] for row in ask(f"DESCRIBE SELECT * FROM {body} AS q")]
    header = names_of(names, source.names, source.name)
    return header, f"{body} AS f({', '.join(inner_names(len(header)))})"


def quote_table(table: TableName) -> str:
    """A table of the file in SQL."""
    parts = (DATABASE, table.schema or MAIN, table.name)
    return ".".join(map(identifier, parts))


def identifier(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def list_tables(ask: Ask) -> list[Listed]:
    """The tables and views of the attached file."""
    there = f"database_name = {literal(DATABASE)} AND NOT internal"
    columns: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for schema, table, column, kind in ask(
        f"SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() WHERE {there} "
        "ORDER BY schema_name, table_name, column_index"
    ):
        columns.setdefault((schema, table), []).append((column, kind))
    found = ask(
        f"SELECT schema_name, table_name, 'table', estimated_size FROM duckdb_tables() WHERE {there} "
        f"UNION ALL SELECT schema_name, view_name, 'view', NULL FROM duckdb_views() WHERE {there} ORDER BY 1, 2"
    )
    return [Listed(schema, name, kind, rows, tuple(columns.get((schema, name), ()))) for schema, name, kind, rows in found]


def tables_of_file(source: Source, session: Session) -> list[Listed]:
    """The tables and views of a file."""
    import duckdb

    room, _ = enter(source, session)
    try:
        return list_tables(lambda query: list(room.connection.execute(query).fetchall()))
    except duckdb.Error as error:
        raise translate_error(error, source.name) from None
    finally:
        room.close()


@dataclass(frozen=True)
class FileWithLog(FileIdentity):
    """A database file; what was not yet written into it is in a second file, its log."""

    log: FileIdentity | None = None

    @classmethod
    def of(cls, path: Path, progress: Progress | None = None) -> FileWithLog:
        """The identity of a database file now."""
        found, beside = FileIdentity.of(path, progress), path.with_name(path.name + ".wal")
        log = FileIdentity.of(beside, progress) if beside.exists() else None
        return cls(found.path, found.state, found.progress, log)

    def check(self) -> None:
        """Raise if one of the files is not what it was."""
        super().check()
        if self.log is not None:
            self.log.check()

    def digest(self) -> str:
        """SHA-256 of the file; of both digests where there is a log."""
        found = super().digest()
        if self.log is None:
            return found
        return hashlib.sha256(f"{found} {digest_of(self.log.path, self.progress)}".encode()).hexdigest()


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
