"""A table that is cut and solved on the cluster: one job for the marginals of all parts of a level, then one for all parts.

The part of a record follows from its places (`velado.tables.spark.parts`). Recoded columns are whole numbers p0, p1, …: the place of the value in an order;
coded columns are s0, s1, … A part goes to one executor, is solved there by the function that the caller sends, and leaves
as released rows; the driver gets a summary of each part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from velado.tables.contract import Cut, PartCount, PartMarginal, Slot, Solved, Spread
from velado.tables.formats.formulas import guard_formulas
from velado.tables.plan import Plan, Translation
from velado.tables.spark.parts import COUNTED, Level, counting_work, deciding_work, parts_of
from velado.tables.spark.rows import arrow_function
from velado.tables.sql.plan import guard_cell
from velado.tables.types import ColumnType, Field
from velado.values import ROOT

if TYPE_CHECKING:
    from velado.tables.spark.table import SparkTable

PART, SUMMARY = "velado_part", "velado_summary"
EXECUTOR = "1g"
"""Memory of an executor where nothing is said, as Spark has it."""
SHARE = 0.3
"""Share of an executor's memory that Python may use for a part beside Java, per core."""
FITS = 2**62
UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class SparkSpread(Spread):
    """The copy is kept by the executors, in memory or on their disks."""

    def __init__(
        self, table: SparkTable, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot
    ) -> None:
        self._table, self._into, self._connection = table, into, table.connection
        self._columns, self._coded = len(places), len(coded)
        self._places, self._codes = _sizes(places), _sizes(coded)
        self._levels: list[Level] = []
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
        joins, cells = [], []
        for kind, translations in (("p", places), ("s", coded)):
            for i, t in enumerate(translations):
                codes = pa.array(t.codes.astype(np.int32))
                lookup = table.lookup({"velado_key": table.key_values(t), "code": codes})
                # A value that the translation does not know would silently lose its rows in an inner join.
                joins.append(f"LEFT JOIN {lookup} AS {kind}{i}t ON {table.key(t)} = {kind}{i}t.velado_key")
                cells.append(f"{kind}{i}t.code AS {kind}{i}")
        cells += [f"p.{inner} AS {inner}" for inner in self._passed.values()]
        query = f"SELECT {', '.join(cells)} FROM {table.of(table.header, 'p')} {' '.join(joins)}"
        with self._connection.watch(table.source.name):
            self._kept = self._connection.frame(query).persist()
            view = self._connection.view(self._kept)
        nulls = [f"{k}{i} IS NULL" for k, n in (("p", self._columns), ("s", self._coded)) for i in range(n)]
        unknown = f"count_if({' OR '.join(nulls) or 'false'})"
        lost, self.records = table.ask(f"SELECT {unknown}, count(*) FROM {view}")[0]
        assert not lost, "every value was counted before"

    # Cutting

    def decide(self, parts: Sequence[int], work: Callable[[list[PartMarginal]], bytes]) -> dict[int, bytes]:
        """Executors count by part, place and code, one pass over the numbers of all records; one of them gets all counts of a part."""
        columns = [*(f"p{i}" for i in range(self._columns)), *(f"s{i}" for i in range(self._coded))]
        count = counting_work(self._levels, parts, self._places, self._codes)
        on_part = deciding_work(work, self._columns, max(self._coded, 1))
        with self._connection.watch(self._table.source.name):
            counted = self._kept.select(*columns).mapInArrow(count, ", ".join(f"{name} long" for name in COUNTED))
            found = counted.groupBy("part").applyInArrow(on_part, "part long, found binary").toArrow()
        return dict(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def cut(self, cuts: Mapping[int, Cut]) -> None:
        """Executors find the part of a record by all cuts so far; nothing is written anew."""
        self._levels.append(Level.of(cuts))

    # Solving

    def solve(self, work: Callable[[list[PartCount]], Solved]) -> list[bytes]:
        """Each part on one executor; its records leave with labels, and one more row with the summary."""
        from pyspark.sql.types import BinaryType, StringType, StructField, StructType

        table, connection, into = self._table, self._connection, self._into
        kept = {f.name: f for f in self._kept.schema.fields}
        labels = [StructField(f"l{i}", StringType()) for i in range(self._columns)]
        passed = [StructField(inner, kept[inner].dataType) for inner in self._passed.values()]
        schema = StructType([StructField(SUMMARY, BinaryType()), *labels, *passed])
        with connection.watch(table.source.name):
            parts = self._kept.withColumn(PART, part_column(self._levels, self._columns))
            on_part = part_work(work, self._columns, self._coded, tuple(self._passed.values()), into.sink.is_guarded)
            solved = parts.groupBy(PART).applyInArrow(on_part, schema).persist()
            try:
                view = connection.view(solved)
                summaries = connection.frame(f"SELECT {SUMMARY} FROM {view} WHERE {SUMMARY} IS NOT NULL").toArrow()
                cells = [f"{self._cell(f.name)} AS {table.sql.quote(f.name)}" for f in into.fields]
                rows = connection.frame(f"SELECT {', '.join(cells)} FROM {view} AS m WHERE {SUMMARY} IS NULL")
                self._send(table.arrange(rows, into.sink.order))
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
            return sql.cast(label, field, changed=field.single) if column in self._typed else label
        if column not in self._passed:
            return sql.literal(ROOT)
        cell = f"m.{self._passed[column]}"
        risky = self._into.sink.is_guarded and field.type is ColumnType.TEXT
        return guard_cell(sql, cell) if risky else cell

    def close(self) -> None:
        """Let go of the copy."""
        if self._kept is not None:
            self._kept.unpersist()
            self._kept = None


def _sizes(translations: Sequence[Translation]) -> list[int]:
    """How many numbers the values of each column have."""
    return [int(t.codes.max(initial=0)) + 1 for t in translations]


def part_column(levels: Sequence[Level], columns: int) -> Any:
    """The number of the part of each record, from its places."""
    from pyspark.sql import functions as F

    def part(*places: Any) -> Any:
        import pyarrow as pa

        return pa.array(parts_of(levels, [x.to_numpy(zero_copy_only=False).astype(np.int64) for x in places]))

    return arrow_function(part, "long")(*(F.col(f"p{i}") for i in range(columns)))


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
            words = pa.array(guard_formulas(texts, guard), pa.string())
            labels = words.take(pa.array(shown[row_of, i].astype(np.int64)))
            arrays[f"l{i}"] = pa.concat_arrays([labels, pa.array(last, pa.string())])
        for name in passed:
            cells = records.column(name).combine_chunks()
            arrays[name] = pa.concat_arrays([cells, pa.nulls(1, cells.type)])
        return pa.table(arrays)

    return on_part


def distinct_rows(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows, sorted, and which of them each row is."""
    sizes = places.max(axis=0, initial=0).astype(object) + 1
    if sizes.prod() < FITS:
        order = np.argsort(np.ravel_multi_index(tuple(places.T), tuple(sizes)))
    else:
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
