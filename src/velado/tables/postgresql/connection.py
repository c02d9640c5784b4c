"""A conversation with PostgreSQL: one transaction, repeatable read."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from velado.errors import missing_package
from velado.progress import Progress
from velado.tables.address import Address, TableName
from velado.tables.postgresql.dialect import PostgreSQLDialect
from velado.tables.postgresql.errors import not_connected, translate_error
from velado.tables.postgresql.types import arrow_of, column_of, stored_as
from velado.tables.sql.connection import Connection, ServerColumn

if TYPE_CHECKING:
    import pyarrow as pa

SETTINGS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "0",
    "standard_conforming_strings": "on",
    "client_min_messages": "error",
    "enable_nestloop": "off",
    "enable_mergejoin": "off",
}
"""What texts of values depend on; how long to wait for a lock; a search may take long. All
joins are of many rows with small tables by equal keys, whatever the server expects of keys that are computed."""
PIECE = 1 << 23
"""Bytes of rows that are made one batch."""
WORK = "64MB"
"""Memory of the server for a sort or a hash table, at least."""
SECONDS = 10
"""How long to wait for a server."""


class PostgreSQLConnection(Connection):
    """psycopg; rows come and go as CSV, which Arrow reads and writes in compiled code."""

    dialect = PostgreSQLDialect

    def __init__(self, address: Address, progress: Progress) -> None:
        super().__init__(address, progress)
        self._driver = self._connect()
        import psycopg

        self._driver.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with self.watch():
            said = " ".join(f"SET {name} = '{value}';" for name, value in SETTINGS.items())
            self._driver.autocommit = True
            self._driver.execute(said)
            self._driver.execute(
                f"SELECT set_config('work_mem', '{WORK}', false) "
                f"WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('{WORK}')"
            )
            self._driver.autocommit = False

    def _connect(self) -> Any:
        try:
            import psycopg
        except ImportError:
            raise missing_package("missing-extra", "PostgreSQL needs an extra package", "databases") from None
        a = self.address
        given = {"host": a.host, "port": a.port, "user": a.user, "dbname": a.name or None, "password": a.secret()}
        options: dict[str, Any] = {"connect_timeout": SECONDS, "application_name": "velado", **dict(a.options)}
        options |= {k: v for k, v in given.items() if v is not None}
        try:
            return psycopg.connect(**options)
        except psycopg.Error as error:
            problem = not_connected(error, a)
        if problem.code == "login-refused" and (typed := a.prompt_password()):
            try:
                return psycopg.connect(**{**options, "password": typed})
            except psycopg.Error as error:
                problem = not_connected(error, a)
        raise problem

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Those of psycopg."""
        import psycopg

        return (psycopg.Error,)

    def translate_error(self, error: Exception, name: str) -> BaseException:
        """By the state that the server tells."""
        return translate_error(error, name)

    def execute(self, statement: str) -> Any:
        """Without parameters, so that % stays what it is."""
        return self._driver.execute(statement)

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows."""
        return list(self._driver.execute(query).fetchall())

    def _columns(self, query: str) -> list[tuple[str, str, str, bool]]:
        """Name, type, kind of type and whether it is an array, of every column of a query."""
        cursor = self._driver.execute(f"SELECT * FROM {query} LIMIT 0")
        result = cursor.pgresult
        names = [result.fname(i).decode() for i in range(result.nfields)]
        oids, modifiers = ([getter(i) for i in range(result.nfields)] for getter in (result.ftype, result.fmod))
        if not names:
            return []
        found = self.fetch_rows(
            "SELECT format_type(t.oid, w.modifier), t.typtype, t.typelem <> 0 AND t.typcategory = 'A' "
            f"FROM unnest(ARRAY{oids}::oid[], ARRAY{modifiers}::integer[]) WITH ORDINALITY AS w(id, modifier, place) "
            "JOIN pg_type t ON t.oid = w.id ORDER BY w.place"
        )
        return [(name, kind, sort, array) for name, (kind, sort, array) in zip(names, found, strict=True)]

    def describe_columns(self, relation: str, name: str) -> list[ServerColumn]:
        """The columns, by the types that the server gives them."""
        with self.watch(name):
            columns = self._columns(relation)
        return [column_of(self.sql, column, kind, sort, array) for column, kind, sort, array in columns]

    def find(self, table: TableName) -> TableName | None:
        """Through the search path, where no schema is said."""
        wanted = ".".join(self.sql.quote(p) for p in (table.schema, table.name) if p is not None)
        found = self.ask(
            "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            f"WHERE c.oid = to_regclass({self.sql.literal(wanted)}) AND c.relkind IN ('r', 'v', 'm', 'p', 'f')"
        )
        return TableName(found[0][1], found[0][0]) if found else None

    def stream_rows(self, query: str) -> pa.RecordBatchReader:
        """Rows as CSV: a quoted empty text is no missing value."""
        import pyarrow as pa
        from pyarrow import csv

        schema = pa.schema([(name, arrow_of(kind)) for name, kind, _, _ in self._columns(f"({query}) AS velado_rows")])
        names = [f"c{i}" for i in range(len(schema))]
        reading = csv.ReadOptions(column_names=names, use_threads=False, block_size=2 * PIECE)
        parsing = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
        converting = csv.ConvertOptions(
            column_types=dict(zip(names, schema.types, strict=True)),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        )

        def rows() -> Iterator[pa.RecordBatch]:
            with self._driver.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv)") as copy:
                for piece in _pieces(copy):
                    read = csv.read_csv(io.BytesIO(piece), reading, parsing, converting)
                    yield from read.rename_columns(schema.names).cast(schema).to_batches()

        return pa.RecordBatchReader.from_batches(schema, rows())

    def load(self, table: str, batches: Iterator[pa.RecordBatch]) -> None:
        """By COPY, as CSV."""
        from pyarrow import csv

        options = csv.WriteOptions(include_header=False)
        with self._driver.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy:
            for batch in batches:
                self.progress.check()
                out = io.BytesIO()
                csv.write_csv(_writable(batch), out, options)
                copy.write(out.getbuffer())

    def temporary(self, name: str, columns: Mapping[str, pa.DataType]) -> None:
        """Gone with the transaction."""
        texts = {n: stored_as(kind) for n, kind in columns.items()}
        listed = ", ".join(f'{n} {k} COLLATE "C"' if k == "text" else f"{n} {k}" for n, k in texts.items())
        self.execute(f"CREATE TEMPORARY TABLE {name} ({listed}) ON COMMIT DROP")

    def prepare_joins(self, name: str, columns: Sequence[str]) -> None:
        """Joins are planned by statistics."""
        self.execute(f"ANALYZE {name}")

    def commit(self) -> None:
        """Everything appears."""
        with self.watch():
            self._driver.commit()

    def interrupt(self) -> None:
        """Ask the server to cancel."""
        import psycopg

        with suppress(psycopg.Error, OSError):
            self._driver.cancel_safe(timeout=SECONDS)

    def close(self) -> None:
        """Roll everything back that was not committed."""
        self._driver.close()


def _pieces(rows: Any) -> Iterator[bytes]:
    """Rows in pieces of some megabytes; the driver hands single rows over."""
    piece, size = [], 0
    for row in rows:
        piece.append(bytes(row))
        size += len(row)
        if size >= PIECE:
            yield b"".join(piece)
            piece, size = [], 0
    if piece:
        yield b"".join(piece)


def _writable(batch: pa.RecordBatch) -> Any:
    """A batch whose columns can all be written as CSV."""
    import pyarrow as pa

    t = pa.types
    table = pa.Table.from_batches([batch])
    for i, field in enumerate(table.schema):
        if t.is_decimal(field.type) or t.is_dictionary(field.type) or t.is_time(field.type) or t.is_string_view(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
    return table
