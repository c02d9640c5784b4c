"""Parts of a table in a database on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from velado.tables.duckdb.append import Appender
from velado.tables.plan import Translation
from velado.tables.sql.dialect import literal
from velado.tables.sql.split import SqlSplit

if TYPE_CHECKING:
    from velado.tables.duckdb.table import DuckDBTable


class DuckDBSplit(SqlSplit):
    """Copies in a file of the table's private folder; files are written piece by piece."""

    _table: DuckDBTable
    _target: Appender | None = None

    def begin(self) -> None:
        """Attach the file, and open the target if it is one."""
        into, table = self._into, self._table
        if into.path is not None:
            self._target = Appender(into.path, into.sink.delimiter, into.sink.order, table.progress)
            self.texts = self._target.texts
        self._file = table.folder / "parts.duckdb"
        table.run(f"ATTACH {literal(str(self._file))} AS parts")

    def keep(self, name: str, query: str) -> str:
        """A table of the file."""
        self._table.run(f"CREATE TABLE parts.{name} AS {query}")
        return f"parts.{name}"

    def forget(self, name: str) -> None:
        """Its room is used again."""
        self._table.run(f"DROP TABLE IF EXISTS {name}")

    def small(self, cell: str, values: int) -> str:
        """Two bytes or four."""
        return f"CAST({cell} AS {'USMALLINT' if values < 2**16 else 'UINTEGER'})"

    def join_codes(self, t: Translation, name: str) -> tuple[str, str]:
        """Values in the column's own type: joining numbers is faster than joining texts."""
        import pyarrow as pa

        table, inner = self._table, self._table.inner[t.column]
        known = [(k, int(c)) for k, c in zip(t.keys, t.codes, strict=True) if k is not None]
        keys, codes = pa.array([k for k, _ in known], pa.string()), pa.array([c for _, c in known], pa.int64())
        lookup = table.lookup({"value": keys, "code": codes})
        kind = table.kinds[t.column]
        table.run(f"CREATE TEMP TABLE {lookup}_numbers AS SELECT TRY_CAST(value AS {kind}) AS value, code FROM {lookup}")
        missing = [int(c) for k, c in zip(t.keys, t.codes, strict=True) if k is None]
        number = f"CASE WHEN p.{inner} IS NULL THEN {missing[0]} ELSE {name}.code END" if missing else f"{name}.code"
        return f"LEFT JOIN {lookup}_numbers AS {name} ON p.{inner} = {name}.value", number

    def append(self, query: str) -> None:
        """Batch by batch."""
        batches = self._table.batches(query)
        if self._target is None:
            self._into.receive(self._into.fields, batches, self._table.progress)
            return
        for batch in batches:
            self._target.append(batch)

    def finish(self) -> None:
        """All parts are written."""
        if self._target is None:
            self._into.complete()
        else:
            self._target.finish()

    def close(self) -> None:
        """Remove the copy, and what was not finished."""
        if self._target is not None:
            self._target.close()
        self._table.connection.execute("DETACH DATABASE IF EXISTS parts")
        if hasattr(self, "_file"):
            Path(self._file).unlink(missing_ok=True)

    def grouping(self, keys: Any) -> str:
        """Of any number of keys."""
        return f"grouping_id({', '.join(keys)})"
