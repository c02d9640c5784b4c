"""A table of MariaDB or MySQL."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from velado.results import Discreet
from velado.tables.address import TableName
from velado.tables.contract import Identity, Slot, Split
from velado.tables.counts import Counts, Groups
from velado.tables.identity import FixedIdentity
from velado.tables.mariadb.connection import MariaDBConnection
from velado.tables.mariadb.dialect import BETWEEN, MariaDBDialect
from velado.tables.mariadb.split import MariaDBSplit
from velado.tables.mariadb.types import arrow_kind, wide
from velado.tables.plan import Plan, Translation
from velado.tables.session import Session
from velado.tables.source import Source
from velado.tables.sql.errors import CHANGED, known_error
from velado.tables.sql.plan import PlanQuery
from velado.tables.sql.server import ServerTable
from velado.tables.types import ColumnType, Field
from velado.values import Text

if TYPE_CHECKING:
    import pyarrow as pa

LONG = 1000
"""Bytes above which a text is grouped by its characters: others by their bytes."""
KEPT = 500_000
"""Combinations that are remembered, so that the server need not count them twice."""
BUCKETS = 1 << 20


@dataclass(frozen=True, repr=False)
class RowsIdentity(Discreet, Identity):
    """All rows of a table that has no snapshot: how many, and sums over all their cells in whatever order."""

    table: Any = field(compare=False)
    seen: tuple[Any, ...]

    def check(self) -> None:
        """Raise if the rows are not what they were."""
        if self.table.checksum() != self.seen:
            raise known_error(CHANGED, self.table.name)

    def digest(self) -> str:
        """The sums."""
        self.check()
        return f"{self.table.name}@{'@'.join(map(str, self.seen))}"


class MariaDBTable(ServerTable):
    """Where the server cannot keep a snapshot to the end, the rows are summed up before and afterwards."""

    connection: MariaDBConnection
    sql: MariaDBDialect

    def __init__(self, source: Source, session: Session, connection: MariaDBConnection, relation: str | None = None) -> None:
        self._raw: list[str] = []
        super().__init__(source, session, connection, relation)
        try:
            self.kinds = self.sql.kinds
            if relation is None:
                connection.relations.append(self.relation)
            self._as_known(source.fields)
            self._long = set(self.texts())
            self._bytes: dict[str, int] = {}
            self._counted: dict[tuple[str, ...], Counts] = {}
            self._raw = [self.sql.quote(f.name) for f in self.columns]
            if relation is None and session.sinks:
                self.identity()
        except BaseException:
            self.close()
            raise

    def _as_known(self, fields: Sequence[Field]) -> None:
        """Truth values are numbers here: only who wrote them knows."""
        truths = {f.name for f in fields if f.type is ColumnType.BOOLEAN}
        self.columns = tuple(
            Field(f.name, ColumnType.BOOLEAN) if f.name in truths and f.type is ColumnType.INTEGER else f for f in self.columns
        )

    # Which table it is

    def identity(self) -> Identity | None:
        """The snapshot, or the sums over all rows."""
        return self._identity

    @cached_property
    def _identity(self) -> Identity:
        if self._is_kept:
            now = self.ask("SELECT CAST(NOW(6) AS CHAR)")[0][0]
            return FixedIdentity(f"{self.source.name}@{now}")
        return RowsIdentity(self, self.checksum())

    @property
    def _is_kept(self) -> bool:
        """Whether the server keeps the snapshot of what is read, also while it writes."""
        if self.source.table is None or not self._facts or self._facts[3] != "InnoDB":
            return False
        here = any(sink.database == self.connection.address for sink in self._session.sinks)
        return self.connection.isolates or not here

    @cached_property
    def _facts(self) -> tuple[Any, ...]:
        """What the server knows of the table."""
        if self.source.table is None:
            return ()
        found = self.connection.tables(TableName.parse(self.source.table))
        return found[0] if found else ()

    def checksum(self) -> tuple[Any, ...]:
        """How many rows there are now, and sums of 48 bits of each of their hashes, twice."""
        cells = ", ".join(f"COALESCE(CONCAT('=', {cell}), '-')" for cell in self._raw)
        row = f"MD5(CONCAT_WS({BETWEEN}, {cells}))"
        sums = ", ".join(f"SUM(CAST(CONV(SUBSTRING(h, {at}, 12), 16, 10) AS UNSIGNED))" for at in (1, 13))
        query = f"SELECT COUNT(*), {sums} FROM (SELECT {row} AS h FROM {self.relation}) AS rows_of_it"
        return self.connection.beside.ask(query, self.source.name)[0]

    def size(self) -> int | None:
        """Bytes of the table on the server."""
        return int(self._facts[4]) if self._facts and self._facts[4] else None

    # Counting: the server makes room for the longest text that there may be, so it is told the longest that there is

    def _measure(self, columns: Sequence[str]) -> None:
        unknown = [c for c in dict.fromkeys(columns) if c in self._long]
        if not unknown:
            return
        longest = ", ".join(f"MAX(LENGTH({self.inner[c]}))" for c in unknown)
        found = self.ask(f"SELECT {longest} FROM {self.of(unknown)}")[0]
        for name, most in zip(unknown, found, strict=True):
            self._long.discard(name)
            self._bytes[name] = most or 0

    def group_key(self, column: str, cell: str) -> str:
        """The bytes of a text, which take less room and time than its characters."""
        most = self._bytes.get(column)
        return cell if most is None or most > LONG else f"LEFT(CAST({cell} AS BINARY), {max(most, 1)})"

    def key_text(self, column: str, key: str) -> str:
        """The text of these bytes."""
        most = self._bytes.get(column)
        return self.text_of(column, key) if most is None or most > LONG else f"CONVERT({key} USING utf8mb4)"

    def count(self, columns: Sequence[str], lot: tuple[int, int] = (0, 1), by: Sequence[str] = ()) -> Counts:
        """How often each combination of the columns' values occurs; the last counts are remembered, as nothing changes."""
        if lot[1] == 1 and tuple(columns) in self._counted:
            self.progress.check()
            return self._counted[tuple(columns)]
        self._measure([*columns, *by])
        found = super().count(columns, lot, by)
        if lot[1] == 1 and len(columns) > 1:
            self._counted = {tuple(columns): found} if len(found.counts) <= KEPT else {}
        return found

    def distinct(self, columns: Sequence[str]) -> int:
        """About how many combinations there are, by how many of a million buckets have one (Whang et al. 1990)."""
        row = self.sql.among([f"COALESCE({self.text_of(c)}, CHAR(30 USING utf8mb4))" for c in columns])
        found = self.ask(f"SELECT COUNT(DISTINCT CRC32({row}) & {BUCKETS - 1}) FROM {self.of(columns)}")[0][0]
        if found < 0.95 * BUCKETS:
            return round(-BUCKETS * math.log1p(-found / BUCKETS))
        self._measure(columns)
        cells = [self.group_key(c, self.inner[c]) for c in columns]
        return int(self.ask(self.sql.about_distinct(cells, self.of(columns)))[0][0])

    def groups(
        self,
        combinations: Sequence[Sequence[str]],
        below: Sequence[int],
        besides: str | None = None,
        lots: int = 1,
        lacking: bool = False,
    ) -> list[Groups]:
        """Per combination of columns, how small the groups of rows are; of what was counted before, without asking."""
        self._measure([c for columns in combinations for c in columns])
        known = {
            i: _groups(self._counted[k], below[i], besides)
            for i, c in enumerate(combinations)
            if (k := tuple(c)) in self._counted and not lacking
        }
        rest = [i for i in range(len(combinations)) if i not in known]
        asked = super().groups([combinations[i] for i in rest], [below[i] for i in rest], besides, lots, lacking)
        found = known | dict(zip(rest, asked, strict=True))
        return [found[i] for i in range(len(combinations))]

    def shares(self, columns: Sequence[str], person: str) -> tuple[Counts, int]:
        """The people of each combination, each person shared out evenly over their rows."""
        self._measure([*columns, person])
        return super().shares(columns, person)

    def members(self, columns: Sequence[str], person: str) -> tuple[Counts, np.ndarray]:
        """Each combination with each person in it."""
        self._measure([*columns, person])
        return super().members(columns, person)

    def amounts(self, columns: Sequence[str]) -> Iterator[tuple[str, dict[Text, int]]]:
        """How often each value of each column occurs, column by column."""
        for name in columns:
            counts = self.count([name])
            values = (counts.dictionaries[0][code] for code in counts.codes[0])
            yield name, dict(zip(values, counts.counts.tolist(), strict=True))

    # Writing

    def create(self, query: PlanQuery, into: Any) -> None:
        """Columns that pass keep their types."""
        plan = query.plan
        replaced = {t.column for t in plan.replaced} | {n.column for n in plan.noise}
        recoded = {t.column: t for t in plan.translations}
        into.kinds = {}
        for released in query.result_fields:
            name, original = released.name, self.field(released.name)
            if released != original or name in plan.starred:
                continue
            if released.type is ColumnType.TEXT:
                if name not in recoded and name not in replaced:
                    into.kinds[name] = self.kinds[name]
                continue
            new = name in recoded and not set(recoded[name].labels) <= set(recoded[name].keys)
            changed = name in replaced or (new and released.single)
            into.kinds[name] = wide(released) if changed else self.kinds[name]
        super().create(query, into)

    def result_batches(self, query: PlanQuery) -> pa.RecordBatchReader:
        """The rows of a plan, columns that keep their type in its very width; truth values as such."""
        import pyarrow as pa

        reader = self.batches(query.text())
        changed = {t.column for t in query.plan.replaced} | {n.column for n in query.plan.noise}
        types = []
        for shown, plain in zip(query.result_fields, reader.schema, strict=True):
            own = None if shown.name in changed or shown.type is ColumnType.TEXT else arrow_kind(self.kinds[shown.name])
            types.append(pa.bool_() if shown.type is ColumnType.BOOLEAN else own or plain.type)
        schema = pa.schema(list(zip(reader.schema.names, types, strict=True)))
        return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in reader))

    def split(self, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot) -> Split:
        """The table in parts, in temporary tables of the server."""
        self._measure([t.column for t in (*places, *coded)])
        return MariaDBSplit(self, places, coded, plan, into)

    def forget(self, name: str) -> None:
        """Without the word TEMPORARY the transaction would end."""
        self.run(f"DROP TEMPORARY TABLE IF EXISTS {name}")


def _groups(counts: Counts, below: int, besides: str | None) -> Groups:
    """How small groups are, from their counts: those with a value in the last column."""
    shown = np.array([value is not None and value != besides for value in counts.dictionaries[-1]], dtype=bool)
    sizes = counts.counts[shown[counts.codes[-1]]] if len(shown) else counts.counts[:0]
    return Groups.of(sizes, below)
