"""Releases in DuckDB database files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from velado.errors import Cancelled, InputError
from velado.sentences import Sentence
from velado.tables.address import TableName
from velado.tables.contract import Evidence, Slot, Table
from velado.tables.duckdb.database import MAIN, identifier, quote_table
from velado.tables.duckdb.errors import translate_error
from velado.tables.duckdb.instance import DATABASE, Room, borrow_instance
from velado.tables.duckdb.table import DuckDBTable
from velado.tables.sql.dialect import literal
from velado.tables.sql.file_stage import DatabaseFileSlot, DatabaseFileStage

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = "velado_rows"


class DuckDBDatabaseStage(DatabaseFileStage):
    """The connection of the stage is in a transaction that only it sees."""

    _room: Room | None = None

    def begin(self, place: Path) -> None:
        """On the engine that reads from the same file, where the session has one."""
        instance, leave = borrow_instance(self.session, self.path, True, place)
        try:
            if not instance.writable:
                # Opened by somebody who did not know that it would be written.
                raise translate_error(OSError("Unique file handle conflict"), self.sink.name)
            self._room = instance.room(leave)
        except BaseException:
            leave()
            raise
        self._run("SET preserve_insertion_order = true")
        self._run("BEGIN TRANSACTION")

    def full_name(self, table: TableName) -> TableName:
        """In the schema main, where none is said."""
        schema = table.schema or MAIN
        there = self._ask(f"SELECT schema_name FROM duckdb_schemas() WHERE database_name = {literal(DATABASE)}")
        known = {name.casefold(): name for (name,) in there}
        if schema.casefold() not in known:
            raise InputError("unknown-table", Sentence("the database has no schema '{schema}'", schema=schema), file=str(self.path))
        return TableName(table.name, known[schema.casefold()])

    def kind_of(self, table: TableName) -> str | None:
        """Names are told apart by more than capital letters."""
        for kind in ("table", "view"):
            found = self._ask(
                f"SELECT count(*) FROM duckdb_{kind}s() WHERE database_name = {literal(DATABASE)} AND NOT internal "
                f"AND schema_name = {literal(table.schema or MAIN)} AND lower({kind}_name) = lower({literal(table.name)})"
            )
            if found[0][0]:
                return kind
        return None

    def make(self, slot: DatabaseFileSlot, schema: pa.Schema) -> None:
        """With the types of the rows."""
        self._with(schema.empty_table(), lambda: self._run(f"CREATE TABLE {quote_table(slot.side)} AS SELECT * FROM {ROWS}"))

    def load(self, slot: DatabaseFileSlot, batch: pa.RecordBatch) -> None:
        """By the engine itself."""
        import pyarrow as pa

        rows = pa.Table.from_batches([batch])
        self._with(rows, lambda: self._run(f"INSERT INTO {quote_table(slot.side)} SELECT * FROM {ROWS}"))

    def _with(self, rows: Any, run: Callable[[], None]) -> None:
        """Rows that are there for a statement."""
        connection = self._connection()
        connection.register(ROWS, rows)
        try:
            run()
        finally:
            import duckdb

            # After an error the transaction takes no more statements.
            with suppress(duckdb.Error):
                connection.unregister(ROWS)

    def read_back(self, slot: Slot, memory: int | None = None) -> Table:
        """In the same transaction, which is the only one that sees it."""
        assert isinstance(slot, DatabaseFileSlot)
        assert self._room is not None
        room = replace(self._room, close=lambda: None)
        table = DuckDBTable(slot.sink.source(), self.session, room, quote_table(slot.side))
        if memory is not None:
            table.limit(memory)
        return table

    def rename(self, slot: DatabaseFileSlot, evidence: Evidence | None) -> None:
        """Rename, write the manifest, comment."""
        name = quote_table(slot.target)
        self._drop(slot.target, slot)
        self._run(f"ALTER TABLE {quote_table(slot.side)} RENAME TO {identifier(slot.target.name)}")
        if evidence is None or not slot.sink.evidence:
            return
        manifest = slot.target.beside("_manifest")
        self._drop(manifest, slot)
        self._run(f"CREATE TABLE {quote_table(manifest)} AS SELECT {literal(evidence.manifest)} AS manifest")
        self._run(f"COMMENT ON TABLE {name} IS {literal(evidence.comment)}")

    def _drop(self, table: TableName, slot: DatabaseFileSlot) -> None:
        if self.room_for(table, slot.sink):
            self._run(f"DROP TABLE {quote_table(table)}")

    def commit(self) -> None:
        """What the log of the file holds then is written into it when it is closed."""
        self._run("COMMIT")

    def end(self) -> None:
        """Roll back what was not committed."""
        import duckdb

        if self._room is None:
            return
        room, self._room = self._room, None
        with suppress(duckdb.Error):
            room.connection.execute("ROLLBACK")
        room.close()

    def _connection(self) -> Any:
        assert self._room is not None
        return self._room.connection

    def _run(self, statement: str) -> None:
        self._ask(statement)

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        import duckdb

        connection, progress = self._connection(), self.session.progress
        try:
            with progress.interrupting(connection.interrupt):
                return list(connection.execute(query).fetchall())
        except duckdb.Error as error:
            if progress.cancelled:
                raise Cancelled() from None
            raise _problem(error, self.sink.name) from None


def _problem(error: Exception, name: str) -> BaseException:
    text = str(error)
    if text.startswith("Dependency Error") or "main key table" in text:
        return InputError(
            "table-in-use",
            "other things of the database depend on the table that would be replaced",
            file=name,
            hint="Drop the views that use it, or choose another name.",
        )
    return translate_error(error, name)
