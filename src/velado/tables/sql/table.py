"""The verbs of a table in SQL.

Inside, columns are called c0, c1, …: names of engines may not be case-sensitive and could clash with those of our own
queries. Missing values are NULL, however the source writes them.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from velado.tables.contract import Table
from velado.tables.counts import NOBODY, Counts, Groups
from velado.tables.plan import Plan, Translation
from velado.tables.sql.dialect import SqlDialect
from velado.tables.types import ColumnType, Field
from velado.values import Text

if TYPE_CHECKING:
    import pyarrow as pa

MOST_UNITS = 1 << 62
WIDE = 400
"""Columns above which an engine plans a statement with an expression for each of them too long."""
AT_ONCE = 100
GROUPINGS = 16
"""Groupings in one statement: an engine may do them all at the same time, each in its own memory."""
ABSENT = ""
"""Stands for a missing value as a join key: the empty text is no value, so it is no other value's key."""


def inner_names(count: int) -> list[str]:
    """The names of columns inside the engine."""
    return [f"c{i}" for i in range(count)]


class SqlTable(Table):
    """A table that is asked in SQL. Engines say how a statement is run and how a small table is handed over."""

    sql: SqlDialect
    inner: dict[str, str]
    relation: str
    """What stands behind FROM, columns as the source has them."""
    cells: dict[str, str]
    """Per column its cell, with its inner name: missing values are NULL, equal values are written alike."""

    @abstractmethod
    def run(self, query: str) -> Any:
        """Run a statement."""

    @abstractmethod
    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small result."""

    @abstractmethod
    def arrow(self, query: str) -> pa.Table:
        """The rows of a result as an Arrow table."""

    @abstractmethod
    def lookup(self, columns: Mapping[str, Any]) -> str:
        """A small table for joins, from Arrow arrays; its name."""

    @abstractmethod
    def forget(self, name: str) -> None:
        """Let go of a small table."""

    def compact_lookup(self, lookup: str, words: Mapping[str, Sequence[Text]]) -> str:
        """A small table of which columns of few different words may be kept compactly; its name."""
        return lookup

    def compact(self, cell: str, words: Sequence[Text]) -> str:
        """A text cell whose every value is one of the words, as the engine sorts and stores it best."""
        return cell

    def of(self, columns: Sequence[str], name: str = "t") -> str:
        """The relation with these columns: planning takes its time for every column that is in it.

        An error if one of them is not read; among all columns of the table it may be.
        """
        if self._unread and columns is not self.header:
            for field in (self._unread[c] for c in columns if c in self._unread):
                field.check(self.name)
        cells = ", ".join(self.cells[c] for c in dict.fromkeys(columns))
        return f"(SELECT {cells} FROM {self.relation}) AS {name}" if cells else self.relation

    @cached_property
    def _unread(self) -> dict[str, Field]:
        return {name: field for name, field in zip(self.header, self.columns, strict=True) if field.unread}

    def text_of(self, column: str, cell: str = "") -> str:
        """The canonical text of a column's cell; the cell as it is called here, if not by its inner name."""
        return self.sql.text(cell or self.inner[column], self.type_of(column))

    # Asking

    def rows(self) -> int:
        """Number of rows."""
        return int(self.ask(f"SELECT count(*) FROM {self.relation}")[0][0])

    def distinct(self, columns: Sequence[str]) -> int:
        """About how many combinations of the columns' values there are."""
        return int(self.ask(self.sql.about_distinct([self.inner[c] for c in columns], self.of(columns)))[0][0])

    def count(self, columns: Sequence[str], lot: tuple[int, int] = (0, 1), by: Sequence[str] = ()) -> Counts:
        """How often each combination of the columns' values occurs; of ``lot`` (i, n) those whose hash is i modulo n."""
        if not columns:
            return self._counts(self.arrow(f"SELECT count(*) AS n FROM {self.relation}"), columns)
        cells, keys = self._key_cells(columns)
        chosen = ""
        if lot[1] > 1:
            chosen = f"WHERE {self.sql.hash([self.inner[c] for c in by])} % {lot[1]} = {lot[0]}"
        inside = f"SELECT {cells} FROM {self.of([*columns, *by])} {chosen}"
        shown, many = self._select_keys(columns), self.sql.many_groups if len(columns) > 1 else ""
        return self._counts(self.arrow(f"SELECT {many}{shown}, count(*) AS n FROM ({inside}) AS g GROUP BY {keys}"), columns)

    def groups(
        self,
        combinations: Sequence[Sequence[str]],
        below: Sequence[int],
        besides: str | None = None,
        lots: int = 1,
        lacking: bool = False,
    ) -> list[Groups]:
        """Per combination of columns, how small the groups of rows are that are alike in them."""
        found = np.zeros((len(combinations), 4), dtype=np.int64)
        asked = list(enumerate(zip(combinations, below, strict=True)))
        for lot, first in itertools.product(range(lots), range(0, len(asked), GROUPINGS)):
            some = asked[first : first + GROUPINGS]
            parts = [self._group_query(i, columns, n, besides, (lot, lots), lacking) for i, (columns, n) in some]
            for i, *numbers in self.ask(" UNION ALL ".join(parts)):
                found[i] += numbers
        return [Groups(*numbers) for numbers in found.tolist()]

    def _group_query(
        self, number: int, columns: Sequence[str], below: int, besides: str | None, lot: tuple[int, int], lacking: bool
    ) -> str:
        """A row with the number of a combination, its records: all, alone, and in small groups, and how many groups there are."""
        cells = [self.inner[c] for c in columns]
        conditions = [] if lacking else [f"{cells[-1]} IS NOT NULL"]
        if besides is not None:
            other = f"{self.text_of(columns[-1])} <> {self.sql.literal(besides)}"
            conditions.append(f"({other} OR {cells[-1]} IS NULL)" if lacking else other)
        if lot[1] > 1:
            conditions.append(f"{self.sql.hash(cells)} % {lot[1]} = {lot[0]}")
        keys = ", ".join(self.group_key(c, self.inner[c]) for c in columns)
        many = self.sql.many_groups if len(columns) > 1 else ""
        chosen = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        sizes = f"SELECT {many}count(*) AS n FROM {self.of(columns)} {chosen} GROUP BY {keys}"
        totals = ("n", "CASE WHEN n = 1 THEN 1 ELSE 0 END", f"CASE WHEN n < {int(below)} THEN n ELSE 0 END", "1")
        summed = ", ".join(f"coalesce({self.sql.sum(x)}, 0)" for x in totals)
        return f"SELECT {number} AS number, {summed} FROM ({sizes}) AS s{number}"

    def lacks(self, column: str) -> bool:
        """Whether a row has no value in the column."""
        return bool(self.ask(f"SELECT count(*) > count({self.inner[column]}) FROM {self.of([column])}")[0][0])

    def repeats(self, column: str) -> bool:
        """Whether a value of the column stands in several rows."""
        cell = self.inner[column]
        return bool(self.ask(f"SELECT count(DISTINCT {cell}) < count({cell}) FROM {self.of([column])}")[0][0])

    def shares(self, columns: Sequence[str], person: str) -> tuple[Counts, int]:
        """The people of each combination, each person shared out evenly over their rows; counted in so many units.

        The sum over the rows of a group is never more than the number of different people in it. A row that does not say
        whose it is adds nobody: it may belong to any of the others.
        """
        who = self.inner[person]
        owned = f"SELECT {who} AS who, count(*) AS n FROM {self.of([person])} WHERE {who} IS NOT NULL GROUP BY {who}"
        found = self.ask(f"SELECT n, count(*) FROM ({owned}) AS o GROUP BY n")
        unit = common_unit([n for n, _ in found], sum(people for _, people in found))
        cells, keys = self._key_cells(columns)
        share = f"coalesce({self.sql.quotient(unit, 'o.n')}, 0)"
        table = self.arrow(
            f"SELECT {self._select_keys(columns)}, {self.sql.sum('share')} AS n FROM (SELECT {cells}, {share} AS share "
            f"FROM {self.of([*columns, person], 'p')} LEFT JOIN ({owned}) AS o ON p.{who} = o.who) AS g GROUP BY {keys}"
        )
        return self._counts(table, columns), unit

    def members(self, columns: Sequence[str], person: str) -> tuple[Counts, np.ndarray]:
        """Each combination with each person in it: counts of rows, and a number that stands for the person, ``NOBODY`` where
        rows do not say whose they are.

        Two people could get the same number, by a chance of one in 2⁶⁴: then one is counted too few.
        """
        cells, keys = self._key_cells(columns)
        cell = self.inner[person]
        who = f"CASE WHEN {cell} IS NOT NULL THEN {self.sql.hash([cell])} END"
        table = self.arrow(
            f"SELECT {self._select_keys(columns)}, count(*) AS n, who FROM (SELECT {cells}, {who} AS who "
            f"FROM {self.of([*columns, person])}) AS g GROUP BY {keys}, who"
        )
        return self._counts(table, columns), np.from_dlpack(table.column("who").combine_chunks().fill_null(NOBODY))

    def group_key(self, column: str, cell: str) -> str:
        """A cell as rows are grouped by it: whatever tells its values apart."""
        return cell

    def key_text(self, column: str, key: str) -> str:
        """The canonical text of what rows were grouped by."""
        return self.text_of(column, key)

    def _key_cells(self, columns: Sequence[str]) -> tuple[str, str]:
        """The cells of some columns named k0, k1, …, and these names."""
        cells = ", ".join(f"{self.group_key(c, self.inner[c])} AS k{i}" for i, c in enumerate(columns))
        return cells, ", ".join(f"k{i}" for i in range(len(columns)))

    def _select_keys(self, columns: Sequence[str]) -> str:
        """The keys of a GROUP BY as they are fetched: most engines hand texts over best."""
        return ", ".join(f"{self.key_text(c, f'k{i}')} AS k{i}" for i, c in enumerate(columns))

    def _counts(self, table: pa.Table, columns: Sequence[str]) -> Counts:
        """The columns of a GROUP BY and the counts behind them."""
        # Not `to_numpy`: that imports pandas where it is installed, which takes longer than most counts.
        dictionaries, codes = [], []
        for i in range(len(columns)):
            encoded = table.column(i).combine_chunks().dictionary_encode(null_encoding="encode")
            dictionaries.append(self._texts(encoded.dictionary))
            codes.append(np.from_dlpack(encoded.indices).astype(np.int32))
        counts = np.from_dlpack(table.column(len(columns)).combine_chunks()).astype(np.int64)
        return Counts(tuple(columns), tuple(dictionaries), tuple(codes), counts)

    def _texts(self, values: Any) -> tuple[Text, ...]:
        """The canonical texts of the values of a dictionary."""
        return tuple(values.to_pylist())

    def amounts(self, columns: Sequence[str]) -> Iterator[tuple[str, dict[Text, int]]]:
        """How often each value of each column occurs; of many columns several in one pass."""
        if len(columns) <= WIDE:
            for name in columns:
                counts = self.count([name])
                values = (counts.dictionaries[0][code] for code in counts.codes[0])
                yield name, dict(zip(values, counts.counts.tolist(), strict=True))
            return
        for first in range(0, len(columns), AT_ONCE):
            chunk = columns[first : first + AT_ONCE]
            cells = self.sql.unpivot([self.text_of(c) for c in chunk])
            found: list[dict[Text, int]] = [{} for _ in chunk]
            for i, value, n in self.ask(f"SELECT i, v, count(*) FROM (SELECT {cells} FROM {self.of(chunk)}) AS u GROUP BY i, v"):
                found[i][value] = n
            yield from zip(chunk, found, strict=True)

    def count_constant_rows(self, value: str) -> int:
        """How many rows show the value in every column."""
        conditions = [f"coalesce({self.text_of(c)} = {self.sql.literal(value)}, false)" for c in self.inner]
        where = self.sql.all_true(conditions)
        return int(self.ask(f"SELECT count(*) FROM {self.of(self.header)} WHERE {where}")[0][0])

    def unseen(self, plan: Plan) -> dict[str, list[str]]:
        """Per translated column, up to five values that its translation does not know."""
        found = {}
        for translation in plan.translations:
            known = self.lookup({"velado_key": self.key_values(translation)})
            cell = self.key(translation)
            rows = self.ask(
                f"SELECT DISTINCT {cell} AS v FROM {self.of([translation.column], 'p')} LEFT JOIN {known} AS k "
                f"ON {cell} = k.velado_key WHERE k.velado_key IS NULL ORDER BY v LIMIT 5"
            )
            if rows:
                found[translation.column] = ["(missing)" if r[0] in (None, ABSENT) else str(r[0]) for r in rows]
        return found

    @abstractmethod
    def batches(self, query: str) -> pa.RecordBatchReader:
        """The rows of a result, some at a time."""

    def text_batches(self) -> pa.RecordBatchReader:
        """All rows, all cells as texts, some at a time."""
        import pyarrow as pa

        cells = ", ".join(f"{self.text_of(name)} AS {c}" for name, c in self.inner.items())
        found = self.batches(f"SELECT {cells} FROM {self.of(self.header)}")
        schema = pa.schema([(name, pa.string()) for name in self.inner])
        texts = (pa.RecordBatch.from_arrays([a.cast(pa.string()) for a in b.columns], schema=schema) for b in found)
        return pa.RecordBatchReader.from_batches(schema, texts)

    def page(
        self, offset: int, limit: int, sort: str | None = None, where: Mapping[str, Text] | None = None, descending: bool = False
    ) -> pa.Table:
        """Some rows to look at, all cells as texts: sorted by a column, and only those with given values."""
        shown = ", ".join(f"{self.text_of(name)} AS {c}" for name, c in self.inner.items())
        numbered = f"(SELECT t.*, {self.sql.row_number()} AS velado_row FROM {self.of(self.header)}) AS n"
        # The cell itself, not its text of the same name.
        down = " DESC" if descending else ""
        order = "velado_row" if sort is None else f"n.{self.inner[sort]} IS NULL, n.{self.inner[sort]}{down}, velado_row"
        found = self.arrow(
            f"SELECT {shown} FROM {numbered} {self.where_clause(where)} ORDER BY {order} LIMIT {int(limit)} OFFSET {int(offset)}"
        )
        return found.rename_columns(list(self.inner))

    def where_clause(self, where: Mapping[str, Text] | None) -> str:
        """The rows with given values, as a condition."""
        conditions = [
            f"{self.inner[name]} IS NULL" if value is None else f"{self.text_of(name)} = {self.sql.literal(value)}"
            for name, value in (where or {}).items()
        ]
        return f"WHERE {' AND '.join(conditions)}" if conditions else ""

    def key(self, t: Translation) -> str:
        """The cell of a translated column as it is joined with its table."""
        cell = self.text_of(t.column, f"p.{self.inner[t.column]}")
        return f"coalesce({cell}, {self.sql.literal(ABSENT)})" if None in t.keys else cell

    def key_values(self, t: Translation) -> pa.Array:
        """The keys of a translation as `key` says them; a missing value has one, too."""
        import pyarrow as pa

        return pa.array([ABSENT if k is None else k for k in t.keys], pa.string())

    def texts(self) -> list[str]:
        """The columns of texts."""
        return [f.name for f in self.columns if f.type is ColumnType.TEXT]


def common_unit(sizes: Sequence[int], people: int) -> int:
    """A unit that can be divided by every one of some numbers, or by many of them, and still be summed over all people.

    >>> common_unit([1, 2, 3], 1000)
    6
    """
    unit = 1
    for size in sorted(sizes):
        if math.lcm(unit, size) * max(people, 1) < MOST_UNITS:
            unit = math.lcm(unit, size)
    return unit
