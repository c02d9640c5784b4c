"""Releases in SQLite files: one transaction, which only its own connection sees."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from velado.errors import InputError
from velado.sentences import Sentence
from velado.tables.address import TableName
from velado.tables.contract import Evidence, Slot, Table
from velado.tables.formats.sqlite.connection import connect, quote_name, watch
from velado.tables.formats.sqlite.reading import copy_of
from velado.tables.formats.sqlite.types import declared_as, sqlite_cells
from velado.tables.publication.private import PrivateFolder
from velado.tables.registry import open_table
from velado.tables.source import Source
from velado.tables.sql.file_stage import DatabaseFileSlot, DatabaseFileStage

if TYPE_CHECKING:
    import pyarrow as pa

MAIN = "main"


class SQLiteStage(DatabaseFileStage):
    """From its first moment on nobody else writes to the file; readers see what was there before."""

    connection: sqlite3.Connection | None = None

    def begin(self, place: Path) -> None:
        """A transaction that may write."""
        try:
            self.connection = connect(place, "rw" if place.exists() else "rwc")
        except sqlite3.Error:
            raise InputError(
                "unwritable-output", "no permission to write there", file=self.path, hint="Choose another output path."
            ) from None
        # Views that name the table which is replaced stay as they are.
        self._run("PRAGMA legacy_alter_table = ON")
        self._run("BEGIN IMMEDIATE")

    def full_name(self, table: TableName) -> TableName:
        """There is one schema."""
        if table.schema is not None and table.schema.casefold() != MAIN:
            raise InputError(
                "unknown-table", Sentence("the database has no schema '{schema}'", schema=table.schema), file=str(self.path)
            )
        if table.name.casefold().startswith("sqlite_"):
            raise InputError("bad-table", Sentence("'{table}' is no name of a table", table=str(table)), file=str(self.path))
        return TableName(table.name)

    def kind_of(self, table: TableName) -> str | None:
        """Names are told apart by more than capital letters."""
        found = self._ask("SELECT type FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)", table.name)
        return str(found[0][0]) if found else None

    def make(self, slot: DatabaseFileSlot, schema: pa.Schema) -> None:
        """With the types of the rows."""
        listed = ", ".join(f"{quote_name(f.name)} {declared_as(f.type)}" for f in schema)
        self._run(f"CREATE TABLE {quote_name(slot.side.name)} ({listed})")

    def load(self, slot: DatabaseFileSlot, batch: pa.RecordBatch) -> None:
        """Row by row, as SQLite takes them."""
        assert self.connection is not None
        marks = ", ".join("?" * batch.num_columns)
        cells = [sqlite_cells(column) for column in batch.columns]
        with watch(self.connection, self.session.progress, self.sink.name):
            self.connection.executemany(f"INSERT INTO {quote_name(slot.side.name)} VALUES ({marks})", zip(*cells, strict=True))

    def read_back(self, slot: Slot, memory: int | None = None) -> Table:
        """Copied out in the same transaction, and counted by the engine."""
        assert isinstance(slot, DatabaseFileSlot)
        assert self.connection is not None
        progress = self.session.progress
        private = PrivateFolder.beside(self.session.scratch or self.path.parent)
        try:
            with watch(self.connection, progress, self.sink.name):
                path, _ = copy_of(self.connection, slot.side, self.sink.name, private.path / "rows.parquet", progress)
            table = open_table(Source(path=path, names="exact"), session=replace(self.session, scratch=private.path))
        except BaseException:
            private.remove()
            raise
        self._stack.callback(private.remove)
        if memory is not None:
            table.limit(memory)
        return table

    def rename(self, slot: DatabaseFileSlot, evidence: Evidence | None) -> None:
        """Rename and write the manifest; SQLite knows no comments."""
        self._drop(slot.target, slot)
        self._run(f"ALTER TABLE {quote_name(slot.side.name)} RENAME TO {quote_name(slot.target.name)}")
        if evidence is not None and slot.sink.evidence:
            manifest = slot.target.beside("_manifest")
            self._drop(manifest, slot)
            self._run(f"CREATE TABLE {quote_name(manifest.name)} (manifest TEXT)")
            self._run(f"INSERT INTO {quote_name(manifest.name)} VALUES (?)", evidence.manifest)

    def _drop(self, table: TableName, slot: DatabaseFileSlot) -> None:
        if self.room_for(table, slot.sink):
            self._run(f"DROP TABLE {quote_name(table.name)}")

    def commit(self) -> None:
        """Everything appears."""
        self._run("COMMIT")

    def end(self) -> None:
        """Roll back what was not committed."""
        if self.connection is None:
            return
        connection, self.connection = self.connection, None
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        connection.close()

    def _run(self, statement: str, *values: Any) -> None:
        self._ask(statement, *values)

    def _ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        assert self.connection is not None
        with watch(self.connection, self.session.progress, self.sink.name):
            return list(self.connection.execute(query, values).fetchall())
