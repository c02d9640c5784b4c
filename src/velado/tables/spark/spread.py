"""A table that is cut and solved on the cluster: one job for the marginals of all parts of a level, then one for all parts.

Every record has the number of its part. Recoded columns are whole numbers p0, p1, …: the place of the value in an order;
coded columns are s0, s1, … A part goes to one executor, is solved there by the function that the caller sends, and leaves
as released rows; the driver gets a summary of each part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from velado.tables.contract import Cut, PartCount, PartMarginal, Slot, Solved, Spread
from velado.tables.formats.formulas import guarded
from velado.tables.plan import Plan, Translation
from velado.tables.spark.table import SparkTable
from velado.tables.sql.plan import guarded_cell
from velado.tables.sql.split import grouping_sets
from velado.tables.types import ColumnType, Field
from velado.values import ROOT

PART, SUMMARY = "velado_part", "velado_summary"
EXECUTOR = "1g"
"""Memory of an executor where nothing is said, as Spark has it."""
SHARE = 0.3
"""Share of an executor's memory that Python may use for a part beside Java, per core."""
UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class SparkSpread(Spread):
    """The copy is kept by the executors, in memory or on their disks; each level of cuts makes a new one."""

    def __init__(
        self, table: SparkTable, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot
    ) -> None:
        self._table, self._into, self._connection = table, into, table.connection
        self._columns, self._coded = len(places), len(coded)
        self._place_of = {t.column: i for i, t in enumerate(places)}
        self._typed = {t.column for t in places if t.typed}
        self._passed = {
            name: table.inner[name]
            for name in table.header
            if name not in plan.dropped and name not in self._place_of and name not in plan.starred
        }
        self._layout = [name for name in table.header if name not in plan.dropped]
        into.fields = tuple(
            table.field(name) if name in self._passed or name in self._typed else Field(name, ColumnType.TEXT)
            for name in self._layout
        )
        self.memory = executor_memory(table.connection.spark)
        self._kept: Any = None
        try:
            self._copy(places, coded)
        except BaseException:
            self.close()
            raise

    def _copy(self, places: Sequence[Translation], coded: Sequence[Translation]) -> None:
        import pyarrow as pa

        table = self._table
        joins, cells = [], [f"0 AS {PART}"]
        for kind, translations in (("p", places), ("s", coded)):
            for i, t in enumerate(translations):
                codes = pa.array(t.codes.astype(np.int32))
                lookup = table.lookup({"velado_key": table.key_values(t), "code": codes})
                # A value that the translation does not know would silently lose its rows in an inner join.
                joins.append(f"LEFT JOIN {lookup} AS {kind}{i}t ON {table.key(t)} = {kind}{i}t.velado_key")
                cells.append(f"{kind}{i}t.code AS {kind}{i}")
        cells += [f"p.{inner} AS {inner}" for inner in self._passed.values()]
        with self._connection.watched(table.source.name):
            self._keep(
                self._connection.frame(
                    f"SELECT {', '.join(cells)} FROM {table.of(table.header, 'p')} {' '.join(joins)}"
                )
            )
        nulls = [f"{k}{i} IS NULL" for k, n in (("p", self._columns), ("s", self._coded)) for i in range(n)]
        unknown = f"count_if({' OR '.join(nulls) or 'false'})"
        lost, self.records = table.ask(f"SELECT {unknown}, count(*) FROM {self._view}")[0]
        assert not lost, "every value was counted before"

    def _keep(self, frame: Any) -> None:
        """This copy instead of the one before."""
        before = self._kept
        self._kept = frame.persist()
        self._view = self._connection.view(self._kept)
        self._before = before

    # Cutting

    def marginals(self, parts: Sequence[int]) -> dict[int, list[PartMarginal]]:
        """Counts by part, place and code: one pass over all records of the parts."""
        coded = max(self._coded, 1)
        sets = [(f"p{i}", f"s{s}" if self._coded else None) for i in range(self._columns) for s in range(coded)]
        keys, whens, place, code, said = grouping_sets(sets, [PART])
        found = self._table.arrow(
            f"SELECT {PART}, CASE grouping_id({', '.join(keys)}) {whens} END AS g, {place} AS place, {code} AS code, "
            f"count(*) AS n FROM {self._view} WHERE {PART} >= {min(parts)} GROUP BY GROUPING SETS ({said})"
        )
        self._let_go()
        numbers = [np.asarray(found.column(i).to_numpy()).astype(np.int64) for i in range(5)]
        order = np.lexsort((numbers[2], numbers[1], numbers[0]))
        part, pair, places, codes, counts = (x[order] for x in numbers)
        result: dict[int, list[PartMarginal]] = {}
        for number in parts:
            a, b = np.searchsorted(part, [number, number + 1])
            result[number] = []
            for i in range(self._columns):
                first, last = a + np.searchsorted(pair[a:b], [i * coded, (i + 1) * coded])
                rows = slice(first, last)
                result[number].append(PartMarginal(places[rows], pair[rows] - i * coded, codes[rows], counts[rows]))
        return result

    def _let_go(self) -> None:
        """The copy before this one was needed to make it."""
        if self._before is not None:
            self._before.unpersist()
            self._before = None

    def cut(self, cuts: Mapping[int, Cut]) -> None:
        """A join with the pieces, which every executor gets."""
        import pyarrow as pa

        rows = [(part, c.column, *piece) for part, c in cuts.items() for piece in c.pieces]
        arrays = [pa.array(x, pa.int32()) for x in zip(*rows, strict=True)]
        pieces = self._table.lookup(dict(zip(("part", "axis", "low", "high", "new"), arrays, strict=True)))
        place = "CASE c.axis " + " ".join(f"WHEN {i} THEN t.p{i}" for i in range(self._columns)) + " END"
        others = [
            *(f"p{i}" for i in range(self._columns)), *(f"s{i}" for i in range(self._coded)), *self._passed.values(),
        ]  # fmt: skip
        with self._connection.watched(self._table.source.name):
            self._keep(
                self._connection.frame(
                    f"SELECT coalesce(c.new, t.{PART}) AS {PART}, {', '.join(f't.{x}' for x in others)} "
                    f"FROM {self._view} AS t LEFT JOIN {pieces} AS c "
                    f"ON t.{PART} = c.part AND {place} BETWEEN c.low AND c.high"
                )
            )

    # Solving

    def solve(self, work: Callable[[list[PartCount]], Solved]) -> list[bytes]:
        """Each part on one executor; its records leave with labels, and one more row with the summary."""
        from pyspark.sql.types import BinaryType, StringType, StructField, StructType

        table, connection, into = self._table, self._connection, self._into
        kept = {f.name: f for f in self._kept.schema.fields}
        labels = [StructField(f"l{i}", StringType()) for i in range(self._columns)]
        passed = [StructField(inner, kept[inner].dataType) for inner in self._passed.values()]
        schema = StructType([StructField(SUMMARY, BinaryType()), *labels, *passed])
        with connection.watched(table.source.name):
            solved = self._kept.groupBy(PART).applyInArrow(
                part_work(work, self._columns, self._coded, tuple(self._passed.values()), into.sink.guarded), schema
            )
            solved = solved.persist()
            try:
                view = connection.view(solved)
                summaries = connection.frame(f"SELECT {SUMMARY} FROM {view} WHERE {SUMMARY} IS NOT NULL").toArrow()
                cells = [f"{self._cell(f.name)} AS {table.sql.quoted(f.name)}" for f in into.fields]
                rows = connection.frame(f"SELECT {', '.join(cells)} FROM {view} AS m WHERE {SUMMARY} IS NULL")
                self._send(table.arranged(rows, into.sink.order))
            finally:
                solved.unpersist()
        return [bytes(x) for x in summaries.column(0).to_pylist()]

    def _send(self, frame: Any) -> None:
        into = self._into
        if into.sink.order == "sorted":
            frame = frame.orderBy(*(frame[f"`{name}`"].asc_nulls_last() for name in frame.columns))
        if self._table.is_at(into):
            into.append(into.fields, frame)  # type: ignore[attr-defined]
        else:
            into.receive(into.fields, frame.toArrow().to_reader(), self._table.progress)
            into.complete()

    def _cell(self, column: str) -> str:
        """A cell as it is written."""
        sql, field = self._table.sql, self._table.field(column)
        if column in self._place_of:
            label = f"m.l{self._place_of[column]}"
            return sql.typed(label, field, changed=field.single) if column in self._typed else label
        if column not in self._passed:
            return sql.literal(ROOT)
        cell = f"m.{self._passed[column]}"
        risky = self._into.sink.guarded and field.type is ColumnType.TEXT
        return guarded_cell(sql, cell) if risky else cell

    def close(self) -> None:
        """Let go of the copies."""
        for frame in (self._kept, getattr(self, "_before", None)):
            if frame is not None:
                frame.unpersist()
        self._kept = self._before = None


def part_work(
    work: Callable[[list[PartCount]], Solved], columns: int, coded: int, passed: tuple[str, ...], guard: bool
) -> Callable[[Any], Any]:
    """What an executor does with the records of a part: an Arrow table in, one with labels and a summary out."""

    def on_part(records: Any) -> Any:
        import pyarrow as pa

        places = np.column_stack([records.column(f"p{i}").to_numpy().astype(np.int32) for i in range(columns)])
        rows, row_of = distinct_rows(places)
        counted = []
        for s in range(max(coded, 1)):
            codes = records.column(f"s{s}").to_numpy().astype(np.int64) if coded else np.zeros(len(row_of), np.int64)
            domain = int(codes.max(initial=0)) + 1
            pairs, counts = np.unique(row_of * domain + codes, return_counts=True)
            counted.append(PartCount(rows[pairs // domain], pairs % domain, counts.astype(np.int64)))
        solved = work(counted)
        # The same rows, perhaps in another order.
        known, number = distinct_rows(solved.rows.astype(np.int32))
        assert np.array_equal(known, rows), "a part was solved for other rows than its own"
        shown = np.empty_like(solved.shown)
        shown[number] = solved.shown
        last = [None]
        arrays = {SUMMARY: pa.array([None] * len(row_of) + [solved.packed], pa.binary())}
        for i, texts in enumerate(solved.labels):
            words = pa.array(guarded(texts, guard), pa.string())
            labels = words.take(pa.array(shown[row_of, i].astype(np.int64)))
            arrays[f"l{i}"] = pa.concat_arrays([labels, pa.array(last, pa.string())])
        for name in passed:
            cells = records.column(name).combine_chunks()
            arrays[name] = pa.concat_arrays([cells, pa.nulls(1, cells.type)])
        return pa.table(arrays)

    return on_part


def distinct_rows(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows, sorted, and which of them each row is."""
    order = np.lexsort(places.T[::-1])
    ranked = places[order]
    new = np.empty(len(order), dtype=bool)
    new[:1] = True
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    row_of = np.empty(len(order), dtype=np.int64)
    row_of[order] = np.cumsum(new) - 1
    return ranked[new], row_of


def executor_memory(spark: Any) -> int:
    """Bytes that work on one part may use beside Java."""
    total = bytes_of(spark.conf.get("spark.executor.memory", EXECUTOR))
    overhead = spark.conf.get("spark.executor.memoryOverhead", None)
    cores = int(spark.conf.get("spark.executor.cores", None) or 1)
    beside = bytes_of(overhead) if overhead else total * SHARE
    return int(beside // max(cores, 1))


def bytes_of(text: str) -> int:
    """A size as Spark writes it.

    >>> bytes_of("1536m"), bytes_of("2g")
    (1610612736, 2147483648)
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", text.lower())
    return int(float(found[1]) * UNITS.get(found[2], 2**20)) if found else bytes_of(EXECUTOR)
