"""A copy of a table on disk that can be counted and written part by part, for tables larger than memory.

Recoded columns are whole numbers: the place of the value in an order that the caller gives. A *part* is a range of
places for every recoded column, so parts are found with plain comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from velado.tables.contract import Translation
from velado.tables.duckdb.opening import literal
from velado.tables.duckdb.table import DuckDBTable, guarded, guarded_cell, quoted
from velado.values import ROOT, Text

RECLUSTER = 8
"""A part that is this many times smaller than the table it lies in gets a table of its own."""


@dataclass(frozen=True)
class Part:
    """Ranges of places, both ends included, the table that holds them and its records."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    table: str
    table_records: int


class EncodedTable:
    """The rows of a table with recoded columns as places p0, p1, … and coded columns as s0, s1, …"""

    def __init__(
        self,
        table: DuckDBTable,
        places: Sequence[Translation],
        coded: Sequence[Translation],
        dropped: Sequence[str],
        starred: Sequence[str],
    ) -> None:
        self._table = table
        self._columns, self._coded = len(places), len(coded)
        self._made = 0
        self._file = table._temporary / "parts.duckdb"
        self._run(f"ATTACH {literal(str(self._file))} AS parts")
        self._layout = self._describe(places, dropped, starred)
        joins, cells = [], []
        for kind, translations in (("p", places), ("s", coded)):
            for i, t in enumerate(translations):
                # A value that the translation does not know would silently lose its rows in an inner join.
                joins.append(
                    f"LEFT JOIN {self._numbers(t)} AS {kind}{i}t ON p.{table._inner[t.column]} = {kind}{i}t.key"
                )
                missing = [int(c) for k, c in zip(t.keys, t.codes, strict=True) if k is None]
                known = (
                    f"CASE WHEN p.{table._inner[t.column]} IS NULL THEN {missing[0]} ELSE {kind}{i}t.code END"
                    if missing
                    else f"{kind}{i}t.code"
                )
                cells.append(f"CAST({known} AS {'USMALLINT' if len(t.keys) < 2**16 else 'UINTEGER'}) AS {kind}{i}")
        cells += [f"p.{inner} AS {inner}" for inner in self._layout.values() if inner is not None]
        self._run(f"CREATE TABLE parts.t0 AS SELECT {', '.join(cells)} FROM {table._relation} AS p {' '.join(joins)}")
        nulls = [f"{k}{i} IS NULL" for k, n in (("p", self._columns), ("s", self._coded)) for i in range(n)]
        unknown = self._run(f"SELECT count(*) FROM parts.t0 WHERE {' OR '.join(nulls) or 'false'}").fetchall()[0][0]
        assert not unknown, "every value was counted before"
        self.records = int(self._run("SELECT count(*) FROM parts.t0").fetchall()[0][0])

    def _numbers(self, t: Translation) -> str:
        """A table value → number, values in the column's own type: joining numbers is faster than joining texts."""
        import pyarrow as pa

        known = [(k, int(c)) for k, c in zip(t.keys, t.codes, strict=True) if k is not None]
        keys, codes = pa.array([k for k, _ in known], pa.string()), pa.array([c for _, c in known], pa.int64())
        name = self._table._register(pa.table({"key": keys, "code": codes}))
        kind = self._table.types[t.column]
        self._run(f"CREATE TEMP TABLE {name}_numbers AS SELECT TRY_CAST(key AS {kind}) AS key, code FROM {name}")
        return f"{name}_numbers"

    def _describe(
        self, places: Sequence[Translation], dropped: Sequence[str], starred: Sequence[str]
    ) -> dict[str, str | None]:
        """The columns of the output: the inner name of those that pass, None for recoded and starred ones."""
        recoded = {t.column for t in places}
        self._place_of = {t.column: i for i, t in enumerate(places)}
        return {
            name: None if name in recoded or name in starred else self._table._inner[name]
            for name in self._table.header
            if name not in dropped
        }

    def whole(self) -> Part:
        """The part that is everything."""
        return Part((0,) * self._columns, (2**32 - 1,) * self._columns, "parts.t0", self.records)

    def _where(self, part: Part, table: str = "") -> str:
        limits = [
            f"{table}p{i} BETWEEN {a} AND {b}"
            for i, (a, b) in enumerate(zip(part.low, part.high, strict=True))
            if a > 0 or b < 2**32 - 1
        ]
        return " AND ".join(limits) or "true"

    def marginals(self, part: Part) -> list[list[np.ndarray]]:
        """Per recoded column the places, codes and counts of a part: one pass over its rows.

        With coded columns there is one count per (place, code) of each of them, after one another.
        """
        sets = [
            f"(p{i}, s{s})" if self._coded else f"(p{i})"
            for i in range(self._columns)
            for s in range(max(self._coded, 1))
        ]
        keys = [*(f"p{i}" for i in range(self._columns)), *(f"s{s}" for s in range(self._coded))]
        found = self._table._arrow(
            f"SELECT grouping_id({', '.join(keys)}) AS g, {', '.join(keys)}, count(*) AS n FROM {part.table} "
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
            result.append([np.concatenate(x) for x in (places, attributes, codes, numbers)])
        return result

    def own_table(self, part: Part, records: int) -> Part:
        """The part in a table of its own if it is a small piece of the one it lies in."""
        if records * RECLUSTER > part.table_records:
            return part
        self._made += 1
        name = f"parts.t{self._made}"
        self._run(f"CREATE TABLE {name} AS SELECT * FROM {part.table} WHERE {self._where(part)}")
        return Part(part.low, part.high, name, records)

    def drop(self, table: str) -> None:
        """Let go of a table that no open part lies in."""
        self._run(f"DROP TABLE IF EXISTS {table}")

    def count(self, part: Part) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Places, codes and counts of the distinct rows of a part, once per coded column (or once alone)."""
        results = []
        for s in range(max(self._coded, 1)):
            keys = [*(f"p{i}" for i in range(self._columns)), *([f"s{s}"] if self._coded else [])]
            listed = ", ".join(keys)
            found = self._table._arrow(
                f"SELECT {listed}, count(*) AS n FROM {part.table} WHERE {self._where(part)} GROUP BY {listed}"
            )
            places = np.column_stack([found.column(i).to_numpy().astype(np.int32) for i in range(self._columns)])
            codes = (
                found.column(self._columns).to_numpy().astype(np.int64)
                if self._coded
                else np.zeros(len(places), np.int64)
            )
            results.append((places, codes, found.column("n").to_numpy().astype(np.int64)))
        return results

    def batches(
        self, part: Part, rows: np.ndarray, shown: np.ndarray, labels: Sequence[Sequence[Text]], order: str, guard: bool
    ) -> Iterator[Any]:
        """The records of a part with their labels, as Arrow batches.

        ``rows`` are the distinct rows as places, ``shown`` their labels, codes into ``labels`` of each column.
        """
        import pyarrow as pa

        columns: dict[str, Any] = {f"p{i}": pa.array(rows[:, i].astype(np.int64)) for i in range(self._columns)}
        for i, texts in enumerate(labels):
            codes = pa.array(shown[:, i].astype(np.int32))
            columns[f"l{i}"] = pa.DictionaryArray.from_arrays(codes, pa.array(guarded(texts, guard), pa.string())).cast(
                pa.string()
            )
        name = self._table._register(pa.table(columns))
        on = " AND ".join(f"d.p{i} = m.p{i}" for i in range(self._columns))
        cells = []
        for column, inner in self._layout.items():
            if column in self._place_of:
                cell = f"m.l{self._place_of[column]}"
            else:
                cell = literal(ROOT) if inner is None else self._passed(column, inner, guard)
            cells.append(f"{cell} AS {quoted(column)}")
        query = (
            f"SELECT {', '.join(cells)} FROM {part.table} AS d JOIN {name} AS m ON {on} WHERE {self._where(part, 'd.')}"
        )
        query += " ORDER BY random()" if order == "shuffle" else ""
        try:
            yield from self._table._batches(query)
        finally:
            self._table.connection.unregister(name)

    def _passed(self, column: str, inner: str, guard: bool) -> str:
        text = self._table.types[column] == "VARCHAR"
        return guarded_cell(f"d.{inner}") if guard and text else f"d.{inner}"

    def close(self) -> None:
        """Remove the copy."""
        self._run("DETACH parts")
        Path(self._file).unlink(missing_ok=True)

    def _run(self, query: str) -> Any:
        return self._table._run(query)
