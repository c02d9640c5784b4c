"""A conversation with Spark: statements of one session, with the settings that texts of values depend on."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from velado.progress import Progress
from velado.tables.address import Address, Cluster, TableName
from velado.tables.session import Session
from velado.tables.spark.dialect import SparkDialect
from velado.tables.spark.errors import condition_of, translate_error
from velado.tables.spark.jobs import jobs_of
from velado.tables.spark.rows import arrow_function
from velado.tables.spark.session import is_connect, session_at
from velado.tables.spark.types import column_of
from velado.tables.sql.connection import AtDatabase, Connection, ServerColumn

if TYPE_CHECKING:
    import pyarrow as pa

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
}
"""What texts of values, and texts in statements, depend on. The session gets its own back."""
PLACE = "spark"
SENT = 64_000_000
"""Bytes of a small table up to which every executor gets all of it."""
PIECE = 16_000_000
"""Bytes of rows that are handed over at once: a task takes no more than some of these."""


class SparkConnection(Connection):
    """The session of this process, or of a DataFrame. What is made in it, views and functions, goes with the conversation."""

    dialect = SparkDialect

    def __init__(self, address: Address, progress: Progress, spark: Any) -> None:
        super().__init__(address, progress)
        self._began = int(time.time())
        self.spark = spark
        self.connects = is_connect(spark)
        self.jobs = jobs_of(spark, self.new_name)
        self._views: set[str] = set()
        self.tables_read: set[str] = set()
        self.files_read: set[str] = set()
        self._float_text = ""
        with self.watch():
            _borrow_settings(spark)

    @classmethod
    def borrow(cls, at: AtDatabase, session: Session) -> SparkConnection:
        """The conversation of a session: in that of the DataFrame that is read, or in that of the process."""
        address, frame = at.database, getattr(at, "data", None)
        assert isinstance(address, Cluster)

        def connect() -> SparkConnection:
            return cls(address, session.progress, getattr(frame, "sparkSession", None) or session_at(address))

        found: SparkConnection = session.connections.borrow(PLACE, connect)
        found.progress = session.progress
        return found

    @property
    def place(self) -> Hashable:
        """A call speaks with one session of Spark, whatever its address is called."""
        return PLACE

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Those of Spark, of the way to Java, and of Connect."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        found: list[type[Exception]] = [PySparkException, Py4JError, ConnectionError, EOFError]
        if self.connects:
            import grpc

            found.append(grpc.RpcError)
        return tuple(found)

    def translate_error(self, error: Exception, name: str) -> BaseException:
        """By the condition that Spark tells."""
        return translate_error(error, name)

    @contextmanager
    def watch(self, name: str | None = None) -> Iterator[None]:
        """The jobs of a statement can be ended, and tell how far they are."""
        with super().watch(name), self.jobs.follow_jobs(self.progress):
            yield

    def new_name(self) -> str:
        """A name that no other table has; its end says when the conversation began, so that what is left over can be told."""
        return f"{super().new_name()}_{self._began}"

    # Statements

    def frame(self, query: str) -> Any:
        """A query, not run yet."""
        return self.spark.sql(query)

    def execute(self, statement: str) -> Any:
        """Run a statement."""
        return self.spark.sql(statement).collect()

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows."""
        return [tuple(row) for row in self.spark.sql(query).collect()]

    def stream_rows(self, query: str) -> pa.RecordBatchReader:
        """All rows at once: Spark sends a result in one piece."""
        return self.spark.sql(query).toArrow().to_reader()

    def describe_columns(self, relation: str, name: str) -> list[ServerColumn]:
        """The columns, by the types that Spark gives them."""
        with self.watch(name):
            found = [(f.name, f.dataType.simpleString()) for f in self.frame(f"SELECT * FROM {relation}").schema.fields]
        if any(kind in ("float", "double") for _, kind in found):
            self._write_floats()
        return [column_of(self.sql, column, kind) for column, kind in found]

    def speaking(self, kinds: Mapping[str, str]) -> SparkDialect:
        """How Spark says things about columns of some types."""
        return SparkDialect(kinds, self._float_text)

    def find(self, table: TableName) -> TableName | None:
        """In the schema that is in use, where none is said."""
        try:
            with self.jobs.follow_jobs(self.progress):
                self.spark.table(self.quote_table(table)).schema  # noqa: B018 - asks the catalog
        except self.errors as error:
            if condition_of(error).startswith(("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")):
                return None
            raise self.translate_error(error, str(table)) from None
        return table

    def quote_table(self, table: TableName) -> str:
        """A table's name in statements; the schema may stand in a catalog."""
        parts = [*(table.schema or "").split("."), table.name] if table.schema else [table.name]
        return ".".join(self.sql.quote(p) for p in parts)

    # Small tables

    def frame_from_arrow(self, rows: Any) -> Any:
        """A DataFrame of Arrow rows, handed over in pieces."""
        pieces = max(1, -(-rows.nbytes // PIECE))
        size = max(1, -(-rows.num_rows // pieces))
        frames = [self.spark.createDataFrame(rows.slice(at, size)) for at in range(0, max(rows.num_rows, 1), size)]
        found = functools.reduce(lambda a, b: a.unionAll(b), frames)
        # Times without a zone would become moments of the session's zone, which is UTC meanwhile.
        plain = [f.name for f in rows.schema if str(f.type).startswith("timestamp") and f.type.tz is None]
        times = {name: found[self.sql.quote(name)].cast("timestamp_ntz") for name in plain}
        # Connect refuses to add no column.
        return found.withColumns(times) if times else found

    def lookup(self, columns: Mapping[str, Any]) -> str:
        """A small table for joins, which every executor gets; a large one is shuffled like any other."""
        import pyarrow as pa
        from pyspark.sql import functions as F

        rows = pa.table(dict(columns))
        with self.watch():
            frame = self.frame_from_arrow(rows)
            return self.view(F.broadcast(frame) if rows.nbytes <= SENT else frame)

    def view(self, frame: Any) -> str:
        """A DataFrame under a name for statements."""
        name = self.new_name()
        frame.createOrReplaceTempView(name)
        self._views.add(name)
        return name

    def forget(self, name: str) -> None:
        """Let go of a name."""
        self._views.discard(name)
        self.spark.catalog.dropTempView(name)

    def _write_floats(self) -> None:
        """A function of the session that writes floats as Python does; Java's own text is not always the shortest."""
        if self._float_text:
            return
        self._float_text = f"{self.new_name()}_float"
        self.spark.udf.register(self._float_text, float_text())

    # Not needed: rows are handed over as views

    def load(self, table: str, batches: Iterator[pa.RecordBatch]) -> None:
        """Rows are not appended to tables one batch at a time."""
        raise AssertionError("Spark takes whole tables")

    def temporary(self, name: str, columns: Mapping[str, pa.DataType]) -> None:
        """There are views instead."""
        raise AssertionError("Spark has views instead")

    def prepare_joins(self, name: str, columns: Sequence[str]) -> None:
        """There are views instead."""

    # The end

    def interrupt(self) -> None:
        """End the jobs of the statement that is running."""
        self.jobs.cancel()

    def close(self) -> None:
        """The session goes on with its own settings, without our views and functions."""
        with suppress(*self.errors):
            for name in list(self._views):
                self.forget(name)
            if self._float_text:
                self.spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {self._float_text}")
            _give_settings_back(self.spark)
        self.jobs.close()


_borrowed: dict[int, tuple[int, dict[str, Any]]] = {}
_borrowing = threading.Lock()
"""Sessions whose settings are changed: how many conversations need that, and what they were. Calls may run side by side."""


def _borrow_settings(spark: Any) -> None:
    with _borrowing:
        users, before = _borrowed.get(id(spark), (0, {}))
        if not users:
            before = {key: spark.conf.get(key, None) for key in SETTINGS}
            for key, value in SETTINGS.items():
                spark.conf.set(key, value)
        _borrowed[id(spark)] = (users + 1, before)


def _give_settings_back(spark: Any) -> None:
    with _borrowing:
        users, before = _borrowed.pop(id(spark))
        if users > 1:
            _borrowed[id(spark)] = (users - 1, before)
            return
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)


def float_text() -> Any:
    """The function that writes floats. It is sent to executors as it is: they need Arrow and NumPy, not Velado."""

    def shortest_texts(values: Any) -> Any:
        import numpy as np
        import pyarrow as pa

        single = pa.types.is_float32(values.type)
        # The shortest text of a float of 32 bits, and then as Python writes that number.
        texts = [None if x is None else repr(float(str(np.float32(x))) if single else x + 0.0) for x in values.to_pylist()]
        return pa.array(texts, pa.string())

    return arrow_function(shortest_texts, "string")
