"""A copy of a table where it lives that is counted and written part by part, for tables larger than memory.

Recoded columns are whole numbers: the place of the value in an order that the caller gives. A *part* is a range of
places for every recoded column, so parts are found with plain comparisons.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from velado.tables.contract import Part, PartCount, PartMarginal, Slot, Split
from velado.tables.formats.formulas import guard_formulas
from velado.tables.plan import Plan, Translation
from velado.tables.sql.plan import guard_cell
from velado.tables.sql.table import SqlTable
from velado.tables.types import ColumnType, Field
from velado.values import ROOT, Text

RECLUSTER = 8
"""A part that is this many times smaller than the table it lies in gets a table of its own."""
LAST = 2**31 - 1
"""No place is beyond it."""


class SqlSplit(Split):
    """The rows of a table with recoded columns as places p0, p1, … and coded columns as s0, s1, …

    Engines say where such copies are kept (`keep`, `forget`), of what type places are, and how rows are appended.
    """

    texts = False
    """Whether the target takes nothing but texts."""

    def __init__(
        self, table: SqlTable, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot
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
        into.fields = tuple(
            table.field(name) if inner is not None or name in self._typed else Field(name, ColumnType.TEXT)
            for name, inner in self._layout.items()
        )
        try:
            self.begin()
            self._copy(places, coded)
        except BaseException:
            self.close()
            raise

    # What engines say

    def begin(self) -> None:
        """Make room for the copies."""

    @abstractmethod
    def keep(self, name: str, query: str) -> str:
        """The result of a query as a table; what it is called from now on."""

    @abstractmethod
    def forget(self, name: str) -> None:
        """Let go of such a table."""

    @abstractmethod
    def small(self, cell: str, values: int) -> str:
        """A whole number below ``values``, in a type that takes little room."""

    def join_codes(self, t: Translation, name: str) -> tuple[str, str]:
        """The join of a column with the numbers of its values, and the cell with the number."""
        import pyarrow as pa

        codes = pa.array(t.codes.astype(np.int64))
        lookup = self._table.lookup({"velado_key": self._table.key_values(t), "code": codes})
        return f"LEFT JOIN {lookup} AS {name} ON {self._table.key(t)} = {name}.velado_key", f"{name}.code"

    def count_pairs(self, sets: Sequence[tuple[str, str | None]], part: Part) -> Any:
        """Counts by each of several pairs of a place and a code (or by a place alone), as one Arrow table.

        Its columns: ``g`` is the number of the pair, ``place``, ``code`` and ``n``.
        """
        keys = list(dict.fromkeys(k for pair in sets for k in pair if k is not None))
        everything = (1 << len(keys)) - 1
        bits = [everything - sum(1 << (len(keys) - 1 - keys.index(k)) for k in pair if k is not None) for pair in sets]
        whens = " ".join(f"WHEN {b} THEN {g}" for g, b in enumerate(bits))
        # Of the places, and of the codes, one has a value: that which is grouped by.
        place = f"coalesce({', '.join(dict.fromkeys(p for p, _ in sets))}, 0)"
        code = f"coalesce({', '.join([*dict.fromkeys(c for _, c in sets if c is not None), '0'])})"
        said = ", ".join(f"({', '.join(k for k in pair if k is not None)})" for pair in sets)
        return self._table.arrow(
            f"SELECT CASE {self.grouping(keys)} {whens} END AS g, {place} AS place, {code} AS code, count(*) AS n "
            f"FROM {part.within} WHERE {self._where(part)} GROUP BY GROUPING SETS ({said})"
        )

    def grouping(self, keys: Sequence[str]) -> str:
        """The number whose bits say which of the keys a row is not grouped by."""
        return f"grouping({', '.join(keys)})"

    @abstractmethod
    def append(self, query: str) -> None:
        """Append the rows of a query to what is written."""

    # What all do alike

    def _copy(self, places: Sequence[Translation], coded: Sequence[Translation]) -> None:
        table = self._table
        joins, cells = [], []
        for kind, translations in (("p", places), ("s", coded)):
            for i, t in enumerate(translations):
                # A value that the translation does not know would silently lose its rows in an inner join.
                join, number = self.join_codes(t, f"{kind}{i}t")
                joins.append(join)
                cells.append(f"{self.small(number, len(t.keys))} AS {kind}{i}")
        cells += [f"p.{inner} AS {inner}" for inner in self._layout.values() if inner is not None]
        whole = self.keep("t0", f"SELECT {', '.join(cells)} FROM {table.of(table.header, 'p')} {' '.join(joins)}")
        nulls = [f"{k}{i} IS NULL" for k, n in (("p", self._columns), ("s", self._coded)) for i in range(n)]
        unknown = table.ask(f"SELECT count(*) FROM {whole} WHERE {' OR '.join(nulls) or 'false'}")[0][0]
        assert not unknown, "every value was counted before"
        self.records = int(table.ask(f"SELECT count(*) FROM {whole}")[0][0])
        self._whole = Part((0,) * self._columns, (LAST,) * self._columns, whole, self.records)

    def whole(self) -> Part:
        """All records."""
        return self._whole

    def _where(self, part: Part, table: str = "") -> str:
        limits = [
            f"{table}p{i} BETWEEN {a} AND {b}"
            for i, (a, b) in enumerate(zip(part.low, part.high, strict=True))
            if a > 0 or b < LAST
        ]
        return " AND ".join(limits) or "true"

    def marginals(self, part: Part) -> list[PartMarginal]:
        """Per recoded column how the records of a part lie on it.

        With coded columns there is one count per (place, code) of each of them, after one another.
        """
        coded = max(self._coded, 1)
        sets = [(f"p{i}", f"s{s}" if self._coded else None) for i in range(self._columns) for s in range(coded)]
        found = self.count_pairs(sets, part)
        numbers, places, codes, counts = (_whole_numbers(found.column(c)) for c in ("g", "place", "code", "n"))
        result = []
        for i in range(self._columns):
            rows = np.flatnonzero((numbers >= i * coded) & (numbers < (i + 1) * coded))
            result.append(PartMarginal(places[rows], numbers[rows] - i * coded, codes[rows], counts[rows]))
        return result

    def own(self, part: Part, records: int) -> Part:
        """The part in a table of its own if it is a small piece of the one it lies in."""
        if records * RECLUSTER > part.within_records:
            return part
        self._made += 1
        name = self.keep(f"t{self._made}", f"SELECT * FROM {part.within} WHERE {self._where(part)}")
        return Part(part.low, part.high, name, records)

    def drop(self, part: Part) -> None:
        """Let go of the table that no open part lies in."""
        self.forget(part.within)

    def count(self, part: Part) -> list[PartCount]:
        """Places, codes and counts of the distinct rows of a part, once per coded column (or once alone)."""
        results = []
        for s in range(max(self._coded, 1)):
            keys = [*(f"p{i}" for i in range(self._columns)), *([f"s{s}"] if self._coded else [])]
            listed = ", ".join(keys)
            found = self._table.arrow(
                f"SELECT {listed}, count(*) AS n FROM {part.within} WHERE {self._where(part)} GROUP BY {listed}"
            )
            places = np.column_stack([_whole_numbers(found.column(i)).astype(np.int32) for i in range(self._columns)])
            codes = _whole_numbers(found.column(self._columns)) if self._coded else np.zeros(len(places), np.int64)
            results.append(PartCount(places, codes, _whole_numbers(found.column("n"))))
        return results

    def write(self, part: Part, rows: np.ndarray, shown: np.ndarray, labels: Sequence[Sequence[Text]]) -> None:
        """Append the records of a part with their labels."""
        import pyarrow as pa

        table, guard = self._table, self._into.sink.is_guarded
        columns: dict[str, Any] = {f"p{i}": pa.array(rows[:, i].astype(np.int64)) for i in range(self._columns)}
        for i, texts in enumerate(labels):
            codes = pa.array(shown[:, i].astype(np.int32))
            words = pa.array(guard_formulas(texts, guard), pa.string())
            columns[f"l{i}"] = pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())
        name = table.lookup(columns)
        on = " AND ".join(f"d.p{i} = m.p{i}" for i in range(self._columns))
        cells = [f"{self._cell(f.name)} AS {table.sql.quote(f.name)}" for f in self._into.fields]
        rest = f"FROM {part.within} AS d JOIN {name} AS m ON {on} WHERE {self._where(part, 'd.')}"
        query = f"SELECT {', '.join(cells)} {rest}"
        if self._into.sink.order == "shuffle":
            query += f" ORDER BY {table.sql.random()}"
        try:
            self.append(query)
        finally:
            table.forget(name)

    def _cell(self, column: str) -> str:
        """A cell as it is appended: who takes texts gets canonical ones."""
        sql, field = self._table.sql, self._table.field(column)
        if column in self._place_of:
            label = f"m.l{self._place_of[column]}"
            typed = column in self._typed and not self.texts
            return sql.cast(label, field, changed=field.single) if typed else label
        inner = self._layout[column]
        if inner is None:
            return sql.literal(ROOT)
        if field.type is not ColumnType.TEXT:
            return sql.text(f"d.{inner}", field.type) if self.texts else f"d.{inner}"
        return guard_cell(sql, f"d.{inner}") if self._into.sink.is_guarded else f"d.{inner}"


def _whole_numbers(column: Any) -> np.ndarray:
    found: np.ndarray = column.to_numpy().astype(np.int64)
    return found
