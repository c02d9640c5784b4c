"""A table read by DuckDB: a file, a table of a database file, or a table in memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from velado.errors import Cancelled, InputError
from velado.tables.contract import Identity, Slot, Split
from velado.tables.duckdb.append import IN_PLACE, as_text
from velado.tables.duckdb.database import enter, relation_in, relation_of
from velado.tables.duckdb.dialect import DuckDBDialect, field_of
from velado.tables.duckdb.errors import BAD_SQL, bad_query, translate_error
from velado.tables.duckdb.instance import Instance, Room
from velado.tables.duckdb.opening import Opened, open_source, parquet_relation
from velado.tables.duckdb.split import DuckDBSplit
from velado.tables.duckdb.types import cell, read_as
from velado.tables.files import free_memory
from velado.tables.formats.csv import Dialect, rows_below
from velado.tables.formats.csv_fields import blanks_beside_quotes, column_bytes, row_count
from velado.tables.formats.remote import download, rename_in_errors
from velado.tables.formats.sqlite.reading import copy_rows
from velado.tables.formats.xlsx import EARLIEST, LARGEST_EXACT, LATEST, write_xlsx
from velado.tables.header import First, Header, sheet_rows
from velado.tables.identity import FileIdentity
from velado.tables.plan import Plan, Translation
from velado.tables.session import MEMORY, Session
from velado.tables.source import HOLDS_TABLES, Source, format_of
from velado.tables.sql.dialect import literal
from velado.tables.sql.plan import PlanQuery
from velado.tables.sql.table import WIDE, SqlTable, inner_names
from velado.tables.types import ColumnType, Field
from velado.values import Text

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ENUM = 50_000
BATCH, SHEET_BATCH = 100_000, 2_000
"""Rows that are handed over together; a sheet takes its time for each."""
VECTOR, VECTORS = 2048 * 16, 8
"""Bytes that the engine takes for a column at a time, and how many of them a statement needs."""


class DuckDBTable(SqlTable):
    """Nothing is loaded before it is asked for.

    Memory is bounded by ``memory`` and the number of distinct combinations counted: sorting (the
    shuffle) spills to a private temporary folder, beside the output where there is one.
    """

    def __init__(self, source: Source, session: Session, room: Room | None = None, relation: str | None = None) -> None:
        """``room`` and ``relation``: where the table is, if it is one of a database that is open already."""
        self.source = source
        self.memory = session.memory
        self.progress = session.progress
        self._registered = 0
        self._identity: Identity | None = None
        self.file = source.path
        """The file that is read: the source itself, or a copy."""
        entered = room or self._enter(session)
        self._token, self._leave = entered.token, entered.close
        self.connection, self.folder = entered.connection, entered.folder
        try:
            opened = self._open(session, relation)
            self.header = Header(opened.header, self._first_rows(opened), opened.written)
            self.dialect = opened.dialect
            names = inner_names(len(self.header))
            self.relation = opened.relation or self._register(opened.table)
            found = [row[1] for row in self.ask(f"DESCRIBE SELECT * FROM {self.relation}")]
            if opened.text is not None and opened.dialect is not None:
                self._check_quotes(opened.text, opened.dialect)
                self._check_rows(opened.text, opened.dialect)
            kinds = [None if i in opened.others else read_as(kind) for i, kind in enumerate(found)]
            self.kinds = {name: kind or "VARCHAR" for name, kind in zip(self.header, kinds, strict=True)}
            self.columns = tuple(
                field_of(name, kind) if kind else Field.of_others(name, opened.others.get(i, found[i]))
                for i, (name, kind) in enumerate(zip(self.header, kinds, strict=True))
            )
            self.sql = DuckDBDialect(self.kinds)
            self.inner = dict(zip(self.header, names, strict=True))
            # Empty fields of a text table are missing already.
            marked = self.dialect is None or bool(source.missing)
            markers = list(dict.fromkeys(("", *(source.missing or ())))) if marked else []
            self.cells = {
                f.name: f"{literal(f.instead)} AS {self.inner[f.name]}"
                if f.unread
                else cell(self.sql, self.inner[f.name], kind, self.kinds[f.name], markers)
                for f, kind in zip(self.columns, found, strict=True)
            }
            if len(self.header) > WIDE:
                self._make_room()
        except BaseException:
            self.close()
            raise

    def _enter(self, session: Session) -> Room:
        """A room of the engine from which the source is reached."""
        source = self.source
        if source.url is None and source.path is not None and source.kind() == "duckdb":
            room, self._identity = enter(source, session)
            return room
        reached = [] if source.path is None or source.kind_of_file in HOLDS_TABLES else [source.path]
        return Instance(session, reached).whole()

    def _open(self, session: Session, relation: str | None) -> Opened:
        """Look at the source. What lives elsewhere, or is asked in another way, is copied into the private folder first."""
        source, kind = self.source, self.source.kind()
        if relation is not None or kind == "duckdb":
            header, found = relation_of(source, session, self.ask) if relation is None else relation_in(relation, source, self.ask)
            return Opened(header, found)
        if source.url is not None:
            if any(sink.url is not None and sink.replaces(source) for sink in session.sinks):
                raise InputError("output-is-input", "the output would replace the input", file=source.name)
            self.file, self._identity = download(source, self.folder, self.progress)
            with rename_in_errors(self.file, source.name):
                return open_source(replace(source, url=None, path=self.file), self.folder, self.progress)
        if kind == "sqlite":
            self.file, self._identity = copy_rows(source, self.folder, session)
            header, found = parquet_relation(self.file, source.names, source.name)
            return Opened(header, found)
        self._identity = None if source.path is None else FileIdentity.of(source.check_file(), self.progress)
        return open_source(source, self.folder, self.progress)

    def _check_quotes(self, text: Path, dialect: Dialect) -> None:
        """DuckDB drops blanks between a delimiter and a quote, others keep them: where they differ the file is refused."""
        if not blanks_beside_quotes(text, dialect):
            return
        sums = ", ".join(f"sum(strlen({c}))" for c in inner_names(len(self.header)))
        here = self.ask(f"SELECT {sums} FROM {self.relation}")[0]
        for name, found, other in zip(self.header, here, column_bytes(text, dialect, self.progress), strict=True):
            if (found or 0) != other:
                raise InputError(
                    "unreadable-file",
                    "blanks stand between a delimiter and a quote, and it is not clear whether they belong to the value",
                    file=self.source.name,
                    column=name,
                    hint="Remove these blanks, or name another quote character.",
                )

    def _check_rows(self, text: Path, dialect: Dialect) -> None:
        """After a name with a line break DuckDB may take all lines for one."""
        if not any(c in name for name in self.header for c in "\r\n"):
            return
        if self.rows() != row_count(text, dialect, self.progress):
            raise InputError(
                "unreadable-file",
                "the name of a column has a line break, and lines end in another way",
                file=self.source.name,
                hint="Take the line break out of the name.",
            )

    def _first_rows(self, opened: Opened) -> First | None:
        """Rows below the first line where that holds the header."""
        if not opened.written:
            return None
        if opened.dialect is not None:
            path, dialect = self.file, opened.dialect
            assert path is not None
            return lambda: rows_below(path, dialect)
        return lambda: sheet_rows(opened.table)

    def _make_room(self) -> None:
        """Rows of many columns need more memory, and as much again for every thread."""
        needed = len(self.header) * VECTOR * VECTORS
        self.limit(min(max(MEMORY, 2 * needed), max(MEMORY, free_memory() // 2)))
        self.run(f"SET threads = {max(1, min(os.cpu_count() or 1, self.memory // (2 * needed)))}")

    # What the table is

    def identity(self) -> Identity | None:
        """The file as it was when it was opened, or the copy of it; None for tables in memory."""
        return self._identity

    def size(self) -> int | None:
        """Bytes of the file."""
        return None if self.file is None else self.file.stat().st_size

    # Writing

    def write(self, plan: Plan, into: Slot) -> None:
        """Write what the plan makes of the table: a file in the format of the sink's suffix, or in batches to where the slot is."""
        sink = into.sink
        if into.path is None:
            query = self._query(plan, sink.order, sink.is_guarded)
            self.run("SET preserve_insertion_order = true")
            into.receive(query.result_fields, self.batches(query.text()), self.progress)
            into.complete()
            return
        kind = format_of(into.path)
        query = self._query(plan, sink.order, sink.is_guarded, self._unsuitable(plan) if kind == "xlsx" else frozenset())
        into.fields = query.result_fields
        unordered = sink.order == "shuffle" and not plan.noise
        self.run(f"SET preserve_insertion_order = {'false' if unordered else 'true'}")
        if kind in ("csv", "parquet"):
            self.copy(query.text(), into.path, sink.delimiter)
        elif kind == "xlsx":
            write_xlsx(into.path, self.batches(query.text(), SHEET_BATCH), [field.name for field in into.fields])
        else:
            import pyarrow as pa

            batches = self.batches(query.text())
            with pa.OSFile(str(into.path), "wb") as file, pa.ipc.new_file(file, batches.schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)

    def copy(self, query: str, path: Path, delimiter: str) -> None:
        """Write what a query gives as CSV or Parquet: into the private folder, as the engine reaches no other."""
        written = self.folder / "written"
        written.touch(mode=0o600)
        form = as_text(delimiter) if format_of(path) == "csv" else "FORMAT parquet"
        self.run(f"COPY ({query}) TO {literal(str(written))} ({form}, {IN_PLACE})")
        shutil.move(written, path)

    def text_batches(self) -> pa.RecordBatchReader:
        """All rows in their order, all cells as texts, some at a time."""
        self.run("SET preserve_insertion_order = true")
        return super().text_batches()

    def fetch(self, plan: Plan, order: str = "keep") -> pa.Table:
        """What the plan makes of the table, in memory."""
        self.run("SET preserve_insertion_order = true")
        return self.arrow(self._query(plan, order).text())

    def _query(self, plan: Plan, order: str, guard: bool = False, texts: frozenset[str] = frozenset()) -> PlanQuery:
        return PlanQuery(self, plan, order, guard, texts)

    def _unsuitable(self, plan: Plan) -> frozenset[str]:
        """Columns that a sheet holds as texts: decimals, and numbers, dates and times that it cannot show.

        What is asked is what will be released: nothing may follow from a record that is not.
        """
        query = self._query(plan, "any")
        conditions = {field.name: shown for field in query.result_fields if (shown := self._shown_by_sheets(field))}
        found = {f.name for f in self.columns if f.type is ColumnType.DECIMAL}
        if conditions:
            asked = ", ".join(f"bool_and({shown})" for shown in conditions.values())
            answers = self.ask(f"SELECT {asked} FROM ({query.text()})")[0]
            found |= {name for name, held in zip(conditions, answers, strict=True) if held is False}
        return frozenset(found)

    def _shown_by_sheets(self, field: Field) -> str:
        """Whether a sheet can hold a cell, in SQL; nothing for columns of which it can hold all."""
        c = self.sql.quote(field.name)
        if field.type is ColumnType.FLOAT:
            return f"isfinite({c}) AND abs({c}) <= {LARGEST_EXACT}"
        if field.type not in (ColumnType.DATE, ColumnType.TIMESTAMP):
            return ""
        day = field.type is ColumnType.DATE
        # Nanoseconds do not reach as far as the last day.
        whole, kind = (c, "DATE") if day else (f"CAST({c} AS TIMESTAMP)", "TIMESTAMP")
        shown = f"{whole} BETWEEN {kind} {literal(EARLIEST)} AND {kind} {literal(LATEST)}"
        return shown if day else f"{shown} AND epoch_ns(CASE WHEN {shown} THEN {c} END) % 1000000 = 0"

    def split(self, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot) -> Split:
        """The table in parts, in a database on disk."""
        return DuckDBSplit(self, places, coded, plan, into)

    # Plumbing

    def limit(self, memory: int) -> None:
        """Use no more memory than this many bytes."""
        self.memory = memory
        self.run(f"SET memory_limit = '{memory}B'")

    def interrupt(self) -> None:
        """End the statement that is running; none is when the table is closed."""
        import duckdb

        with suppress(duckdb.Error):
            self.connection.interrupt()

    def close(self) -> None:
        """Close the connection and remove temporary files."""
        self._leave()

    def lookup(self, columns: Mapping[str, Any]) -> str:
        """A small table for joins."""
        import pyarrow as pa

        return self._register(pa.table(dict(columns)))

    def _register(self, table: Any) -> str:
        self._registered += 1
        name = f"velado_{self._registered}"
        self.connection.register(name, table)
        return name

    def forget(self, name: str) -> None:
        """Let go of a small table."""
        self.connection.unregister(name)

    def _select_keys(self, columns: Sequence[str]) -> str:
        """Values in their own types: the few different ones become texts afterwards."""
        return self._key_cells(columns)[1]

    def _texts(self, values: Any) -> tuple[Text, ...]:
        """The canonical texts of the values of a dictionary."""
        import pyarrow as pa

        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            return tuple(values.to_pylist())
        name = self.lookup({"place": pa.array(range(len(values))), "value": values})
        return tuple(row[0] for row in self.ask(f"SELECT {self.sql.text('value')} FROM {name} ORDER BY place"))

    def compact_lookup(self, lookup: str, words: Mapping[str, Sequence[Text]]) -> str:
        """The small table in which few words are an ENUM, which sorts as bytes instead of texts."""
        replaced = ", ".join(f"{self.compact(column, known)} AS {column}" for column, known in words.items())
        self._registered += 1
        name = f"velado_{self._registered}"
        self.run(f"CREATE TEMP TABLE {name} AS SELECT * REPLACE ({replaced}) FROM {lookup}")
        return name

    def compact(self, cell: str, words: Sequence[Text]) -> str:
        """A cell as an ENUM of the words, where these are few."""
        import pyarrow as pa

        present = list(dict.fromkeys(w for w in words if w is not None))
        if not 0 < len(present) <= MOST_ENUM:
            return cell
        listed = self.lookup({"word": pa.array(present, pa.string())})
        kind = f"memory.main.{listed}_enum{self._token}"
        self.run(f"CREATE TYPE {kind} AS ENUM (SELECT word FROM {listed})")
        return f"CAST({cell} AS {kind})"

    def run(self, query: str) -> Any:
        """Run a statement; whoever cancels the call ends it."""
        import duckdb

        try:
            with self.progress.interrupting(self.interrupt):
                return self.connection.execute(query)
        except duckdb.Error as error:
            raise self.problem(error) from None

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        import duckdb

        try:
            with self.progress.interrupting(self.interrupt):
                return list(self.connection.execute(query).fetchall())
        except duckdb.Error as error:
            raise self.problem(error) from None

    def arrow(self, query: str) -> pa.Table:
        """The rows of a result as an Arrow table."""
        import duckdb

        try:
            with self.progress.interrupting(self.interrupt):
                return self.connection.sql(query).to_arrow_table()
        except duckdb.Error as error:
            raise self.problem(error) from None

    def batches(self, query: str, size: int = BATCH) -> pa.RecordBatchReader:
        """The rows of a result, some at a time."""
        import duckdb
        import pyarrow as pa

        # What goes wrong between two batches comes as an error of Arrow, which is one of the system.
        errors = (duckdb.Error, pa.ArrowException, OSError)

        def rows(reader: Any) -> Iterator[Any]:
            try:
                with self.progress.interrupting(self.interrupt):
                    for batch in reader:
                        self.progress.check()
                        yield batch
            except errors as error:
                raise self.problem(error) from None

        try:
            with self.progress.interrupting(self.interrupt):
                reader = self.connection.sql(query).to_arrow_reader(size)
        except errors as error:
            raise self.problem(error) from None
        return pa.RecordBatchReader.from_batches(reader.schema, rows(reader))

    def problem(self, error: Exception) -> BaseException:
        """The error that a user gets: a call that was cancelled, and a source that changed, explain every other."""
        if self.progress.cancelled:
            return Cancelled()
        self.check_unchanged()
        if self.source.query is not None and str(error).startswith(BAD_SQL):
            return bad_query(self.source.name)
        above = 0 if self.dialect is None else self.dialect.first_line - 1
        return translate_error(error, self.source.name, above)
