"""A copy of a table in a database on disk that is counted and written part by part, for tables larger than memory.

Recoded columns are whole numbers: the place of the value in an order that the caller gives. A *part* is a range of
places for every recoded column, so parts are found with plain comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from velado.tables.contract import Part, PartCount, PartMarginal, Slot, Split
from velado.tables.duckdb.append import Appender
from velado.tables.duckdb.table import DuckDBTable
from velado.tables.formats.formulas import guarded
from velado.tables.plan import Plan, Translation
from velado.tables.sql.dialect import literal
from velado.tables.sql.plan import guarded_cell
from velado.tables.types import ColumnType, Field
from velado.values import ROOT, Text

RECLUSTER = 8
"""A part that is this many times smaller than the table it lies in gets a table of its own."""


class DuckDBSplit(Split):
    """The rows of a table with recoded columns as places p0, p1, … and coded columns as s0, s1, …"""

    def __init__(
        self,
        table: DuckDBTable,
        places: Sequence[Translation],
        coded: Sequence[Translation],
        plan: Plan,
        into: Slot,
    ) -> None:
        self._table, self._into = table, into
        self._columns, self._coded = len(places), len(coded)
        self._made = 0
        self._place_of = {t.column: i for i, t in enumerate(places)}
        self._typed = {t.column for t in places if t.typed}
        self._layout = {
            name: None if name in self._place_of or name in plan.starred else table.inner[name]
            for name in table.header
            if name not in plan.dropped
        }
        assert into.path is not None
        self._target = Appender(into.path, into.sink.delimiter, into.sink.order, table.progress)
        into.fields = tuple(
            table.field(name) if inner is not None or name in self._typed else Field(name, ColumnType.TEXT)
            for name, inner in self._layout.items()
        )
        self._file = table.folder / "parts.duckdb"
        self._run(f"ATTACH {literal(str(self._file))} AS parts")
        try:
            self._copy(places, coded)
        except BaseException:
            self.close()
            raise

    def _copy(self, places: Sequence[Translation], coded: Sequence[Translation]) -> None:
        table = self._table
        joins, cells = [], []
        for kind, translations in (("p", places), ("s", coded)):
            for i, t in enumerate(translations):
                # A value that the translation does not know would silently lose its rows in an inner join.
                joins.append(
                    f"LEFT JOIN {self._numbers(t)} AS {kind}{i}t ON p.{table.inner[t.column]} = {kind}{i}t.key"
                )
                missing = [int(c) for k, c in zip(t.keys, t.codes, strict=True) if k is None]
                known = (
                    f"CASE WHEN p.{table.inner[t.column]} IS NULL THEN {missing[0]} ELSE {kind}{i}t.code END"
                    if missing
                    else f"{kind}{i}t.code"
                )
                cells.append(f"CAST({known} AS {'USMALLINT' if len(t.keys) < 2**16 else 'UINTEGER'}) AS {kind}{i}")
        cells += [f"p.{inner} AS {inner}" for inner in self._layout.values() if inner is not None]
        rows = f"FROM {table.of(table.header)} AS p {' '.join(joins)}"
        self._run(f"CREATE TABLE parts.t0 AS SELECT {', '.join(cells)} {rows}")
        nulls = [f"{k}{i} IS NULL" for k, n in (("p", self._columns), ("s", self._coded)) for i in range(n)]
        unknown = table.ask(f"SELECT count(*) FROM parts.t0 WHERE {' OR '.join(nulls) or 'false'}")[0][0]
        assert not unknown, "every value was counted before"
        self.records = int(table.ask("SELECT count(*) FROM parts.t0")[0][0])

    def _numbers(self, t: Translation) -> str:
        """A table value → number, values in the column's own type: joining numbers is faster than joining texts."""
        import pyarrow as pa

        known = [(k, int(c)) for k, c in zip(t.keys, t.codes, strict=True) if k is not None]
        keys, codes = pa.array([k for k, _ in known], pa.string()), pa.array([c for _, c in known], pa.int64())
        name = self._table.lookup({"key": keys, "code": codes})
        kind = self._table.kinds[t.column]
        self._run(f"CREATE TEMP TABLE {name}_numbers AS SELECT TRY_CAST(key AS {kind}) AS key, code FROM {name}")
        return f"{name}_numbers"

    def whole(self) -> Part:
        """All records."""
        return Part((0,) * self._columns, (2**32 - 1,) * self._columns, "parts.t0", self.records)

    def _where(self, part: Part, table: str = "") -> str:
        limits = [
            f"{table}p{i} BETWEEN {a} AND {b}"
            for i, (a, b) in enumerate(zip(part.low, part.high, strict=True))
            if a > 0 or b < 2**32 - 1
        ]
        return " AND ".join(limits) or "true"

    def marginals(self, part: Part) -> list[PartMarginal]:
        """Per recoded column how the records of a part lie on it: one pass over its rows.

        With coded columns there is one count per (place, code) of each of them, after one another.
        """
        sets = [
            f"(p{i}, s{s})" if self._coded else f"(p{i})"
            for i in range(self._columns)
            for s in range(max(self._coded, 1))
        ]
        keys = [*(f"p{i}" for i in range(self._columns)), *(f"s{s}" for s in range(self._coded))]
        found = self._table.arrow(
            f"SELECT grouping_id({', '.join(keys)}) AS g, {', '.join(keys)}, count(*) AS n FROM {part.within} "
            f"WHERE {self._where(part)} GROUP BY GROUPING SETS ({', '.join(sets)})"
        )
        ids = found.column("g").to_numpy()
        counts = found.column("n").to_numpy().astype(np.int64)
        everything = (1 << len(keys)) - 1
        result = []
        for i in range(self._columns):
            places, attributes, codes, numbers = [], [], [], []
            for s in range(max(self._coded, 1)):
                own = [len(keys) - 1 - i] + ([self._coded - 1 - s] if self._coded else [])
                rows = np.flatnonzero(ids == everything - sum(1 << b for b in own))
                places.append(found.column(f"p{i}").take(rows).to_numpy().astype(np.int64))
                codes.append(
                    found.column(f"s{s}").take(rows).to_numpy().astype(np.int64)
                    if self._coded
                    else np.zeros(len(rows), np.int64)
                )
                attributes.append(np.full(len(rows), s, dtype=np.int64))
                numbers.append(counts[rows])
            result.append(PartMarginal(*(np.concatenate(x) for x in (places, attributes, codes, numbers))))
        return result

    def own(self, part: Part, records: int) -> Part:
        """The part in a table of its own if it is a small piece of the one it lies in."""
        if records * RECLUSTER > part.within_records:
            return part
        self._made += 1
        name = f"parts.t{self._made}"
        self._run(f"CREATE TABLE {name} AS SELECT * FROM {part.within} WHERE {self._where(part)}")
        return Part(part.low, part.high, name, records)

    def drop(self, part: Part) -> None:
        """Let go of the table that no open part lies in."""
        self._run(f"DROP TABLE IF EXISTS {part.within}")

    def count(self, part: Part) -> list[PartCount]:
        """Places, codes and counts of the distinct rows of a part, once per coded column (or once alone)."""
        results = []
        for s in range(max(self._coded, 1)):
            keys = [*(f"p{i}" for i in range(self._columns)), *([f"s{s}"] if self._coded else [])]
            listed = ", ".join(keys)
            found = self._table.arrow(
                f"SELECT {listed}, count(*) AS n FROM {part.within} WHERE {self._where(part)} GROUP BY {listed}"
            )
            places = np.column_stack([found.column(i).to_numpy().astype(np.int32) for i in range(self._columns)])
            codes = (
                found.column(self._columns).to_numpy().astype(np.int64)
                if self._coded
                else np.zeros(len(places), np.int64)
            )
            results.append(PartCount(places, codes, found.column("n").to_numpy().astype(np.int64)))
        return results

    def write(self, part: Part, rows: np.ndarray, shown: np.ndarray, labels: Sequence[Sequence[Text]]) -> None:
        """Append the records of a part with their labels."""
        import pyarrow as pa

        table, guard = self._table, self._into.sink.guarded
        columns: dict[str, Any] = {f"p{i}": pa.array(rows[:, i].astype(np.int64)) for i in range(self._columns)}
        for i, texts in enumerate(labels):
            codes = pa.array(shown[:, i].astype(np.int32))
            words = pa.array(guarded(texts, guard), pa.string())
            columns[f"l{i}"] = pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())
        name = table.lookup(columns)
        on = " AND ".join(f"d.p{i} = m.p{i}" for i in range(self._columns))
        cells = [f"{self._cell(f.name)} AS {table.sql.quoted(f.name)}" for f in self._into.fields]
        rest = f"FROM {part.within} AS d JOIN {name} AS m ON {on} WHERE {self._where(part, 'd.')}"
        query = f"SELECT {', '.join(cells)} {rest}"
        if self._into.sink.order == "shuffle":
            query += f" ORDER BY {table.sql.random()}"
        try:
            for batch in table.batches(query):
                self._target.append(batch)
        finally:
            table.forget(name)

    def _cell(self, column: str) -> str:
        """A cell as it is appended: the writer of text tables gets texts, and so writes canonical ones."""
        sql, field = self._table.sql, self._table.field(column)
        if column in self._place_of:
            label = f"m.l{self._place_of[column]}"
            typed = column in self._typed and not self._target.texts
            return sql.typed(label, field, changed=field.single) if typed else label
        inner = self._layout[column]
        if inner is None:
            return literal(ROOT)
        if field.type is not ColumnType.TEXT:
            return sql.text(f"d.{inner}") if self._target.texts else f"d.{inner}"
        return guarded_cell(sql, f"d.{inner}") if self._into.sink.guarded else f"d.{inner}"

    def finish(self) -> None:
        """All parts are written."""
        self._target.finish()

    def close(self) -> None:
        """Remove the copy, and what was not finished."""
        self._target.close()
        self._table.connection.execute("DETACH DATABASE IF EXISTS parts")
        Path(self._file).unlink(missing_ok=True)

    def _run(self, query: str) -> Any:
        return self._table.run(query)
