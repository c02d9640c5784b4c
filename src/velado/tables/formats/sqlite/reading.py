"""SQLite files as sources: a table, view or query is copied in one read transaction, and the copy is what is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from velado.progress import Progress
from velado.tables.address import TableName
from velado.tables.files import digest_of
from velado.tables.formats.sqlite.connection import connect, quote_name, watch
from velado.tables.formats.sqlite.types import BYTES, SQLiteColumn, column_of, type_checks
from velado.tables.identity import FixedIdentity
from velado.tables.listing import Listed, check_not_replaced, named_table
from velado.tables.session import Session
from velado.tables.source import Source

ROWS = 50_000
"""Rows that are copied together."""
AT_ONCE = 100
"""Columns that one statement looks at."""
QUERY = "velado_query"
KINDS = ("blob", "text", "real", "integer", "fits", "full")


def copy_rows(source: Source, folder: Path, session: Session) -> tuple[Path, FixedIdentity]:
    """The rows of a source as a Parquet file in a private folder, and what tells them from all others."""
    path, progress, read = source.check_file(), session.progress, set()

    def note_table(action: int, table: str | None, *_: str | None) -> int:
        """Notes the tables that a statement reads, also below views."""
        if action == sqlite3.SQLITE_READ and table:
            read.add(TableName(table))
        return sqlite3.SQLITE_OK

    with closing(connect(path, "ro")) as connection, watch(connection, progress, source.name):
        connection.execute("BEGIN")
        if source.query is not None:
            with watch(connection, progress, source.name, query=True):
                connection.execute(f"CREATE TEMP VIEW {QUERY} AS {source.query.strip().rstrip(';')}")
                connection.execute(f"SELECT * FROM {QUERY} LIMIT 0").fetchall()
            table = TableName(QUERY)
        else:
            table = TableName(named_table(source, _list_tables(connection)).name)
        connection.set_authorizer(note_table)
        connection.execute(f"SELECT * FROM {quote_name(table.name)} LIMIT 0")
        connection.set_authorizer(None)
        check_not_replaced(source, session, read)
        return copy_of(connection, table, source.name, folder / "rows.parquet", progress)


def copy_of(
    connection: sqlite3.Connection, table: TableName, name: str, into: Path, progress: Progress
) -> tuple[Path, FixedIdentity]:
    """The rows of a table or view as a Parquet file, some at a time."""
    import pyarrow as pa
    import pyarrow.parquet

    columns = _columns(connection, table.name, progress)
    schema = pa.schema([(column.name, column.arrow) for column in columns])
    into.touch(mode=0o600)
    with pyarrow.parquet.ParquetWriter(into, schema) as writer:
        for rows in _rows(connection, table.name, columns, progress):
            cells = [column.cells(values) for column, values in zip(columns, zip(*rows, strict=True), strict=True)]
            writer.write_batch(pa.RecordBatch.from_arrays(cells, schema=schema))
    return into, FixedIdentity(digest_of(into, progress))


def _columns(connection: sqlite3.Connection, table: str, progress: Progress) -> list[SQLiteColumn]:
    declared = [
        (row[1], (row[2] or "").strip().upper())
        for row in connection.execute(f"PRAGMA table_xinfo({quote_name(table)})")
        if row[6] != 1
    ]
    found: list[SQLiteColumn] = []
    for first in range(0, len(declared), AT_ONCE):
        progress.check()
        chunk = declared[first : first + AT_ONCE]
        questions = ", ".join(x for column, kind in chunk for x in type_checks(column, kind))
        answers = connection.execute(f"SELECT {questions} FROM {quote_name(table)}").fetchone()
        for i, (column, kind) in enumerate(chunk):
            held = dict(zip(KINDS, answers[i * len(KINDS) : (i + 1) * len(KINDS)], strict=True))
            found.append(column_of(column, kind, held))
    return found


def _rows(
    connection: sqlite3.Connection, table: str, columns: Sequence[SQLiteColumn], progress: Progress
) -> Iterator[list[tuple[Any, ...]]]:
    listed = ", ".join(quote_name(column.name) if column.kind != BYTES else "NULL" for column in columns)
    cursor = connection.execute(f"SELECT {listed} FROM {quote_name(table)}")
    while rows := cursor.fetchmany(ROWS):
        progress.check()
        yield rows


def tables_of(source: Source, progress: Progress) -> list[Listed]:
    """The tables and views of a file."""
    with closing(connect(source.check_file(), "ro")) as connection, watch(connection, progress, source.name):
        connection.execute("BEGIN")
        return _list_tables(connection, counted=True)


def _list_tables(connection: sqlite3.Connection, counted: bool = False) -> list[Listed]:
    found = connection.execute(
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~' "
        "ORDER BY name"
    ).fetchall()
    return [_describe_table(connection, name, kind) if counted else Listed(None, name, kind) for name, kind in found]


def _describe_table(connection: sqlite3.Connection, name: str, kind: str) -> Listed:
    rows = None
    if kind == "table":
        rows = connection.execute(f"SELECT count(*) FROM {quote_name(name)}").fetchone()[0]
    try:
        columns = connection.execute(f"PRAGMA table_info({quote_name(name)})").fetchall()
    except sqlite3.OperationalError:
        # A view of what is not there any more.
        columns = []
    return Listed(None, name, kind, rows, tuple((row[1], row[2] or "") for row in columns))
