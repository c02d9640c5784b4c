"""A table of Spark: counted, recoded and written by the cluster."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from velado.tables.address import TableName
from velado.tables.contract import Capability, Identity, Slot, Split, Spread
from velado.tables.counts import Counts, Groups
from velado.tables.identity import FixedIdentity
from velado.tables.plan import Plan, Translation
from velado.tables.session import Session
from velado.tables.source import Source
from velado.tables.spark.connection import SparkConnection
from velado.tables.spark.reading import FilesIdentity, Opened, RowsIdentity, files_of, open_frame
from velado.tables.spark.spread import SparkSpread
from velado.tables.sql.plan import PlanQuery
from velado.tables.sql.server import ServerTable
from velado.values import Text

if TYPE_CHECKING:
    import pyarrow as pa


class SparkTable(ServerTable):
    """A table, a view, a query, files or a DataFrame. Its rows stay on the cluster."""

    connection: SparkConnection

    def __init__(self, source: Source, session: Session, connection: SparkConnection, found: Opened | None = None) -> None:
        """``found``: the rows where they are not those that the source says."""
        self._found, self._lots = found, {}  # type: tuple[Opened | None, dict[Any, tuple[Any, str]]]
        self._side = found is not None
        super().__init__(source, session, connection)
        self._identity = None if self._side else self._find_identity()

    def _relation(self) -> str:
        with self.connection.watch(self.source.name):
            if self._found is None:
                self._found = open_frame(self.source, self.connection)
                self._remember(self._found.frame)
            return self.connection.view(self._found.frame)

    def _remember(self, frame: Any) -> None:
        """What is read must not be replaced."""
        connection = self.connection
        connection.files_read |= set(frame.inputFiles())
        if self.source.table is not None:
            table = TableName.parse(self.source.table)
            schema = table.schema or connection.spark.catalog.currentDatabase()
            connection.tables_read.add(connection.quote_table(TableName(table.name, schema)))

    # Which table it is

    def identity(self) -> Identity | None:
        """A version, the files, or the sum over all rows."""
        return self._identity

    def _find_identity(self) -> Identity:
        assert self._found is not None
        name = self.source.name
        if self._found.version is not None:
            return FixedIdentity(f"{name}@{self._found.version}")
        if self._found.files:
            with self.connection.watch(name):
                files = files_of(self._found.frame, self.connection)
            if files:
                return FilesIdentity(self._found.frame, self.connection, name, files)
        return RowsIdentity(self, self.checksum())

    def checksum(self) -> tuple[int, ...]:
        """How many rows there are now, and two sums of their hashes."""
        row = self.sql.hash(list(self.inner.values())) if self.inner else "0"
        sums = "count(*), CAST(sum(CAST(h AS DECIMAL(38, 0))) AS STRING), bit_xor(h)"
        found = self.ask(f"SELECT {sums} FROM (SELECT {row} AS h FROM {self.of(self.header)}) AS r")[0]
        return tuple(int(x or 0) for x in found)

    def size(self) -> int | None:
        """Bytes of the files."""
        found = self._identity
        return sum(size for _, size, _ in found.files) if isinstance(found, FilesIdentity) else None

    # Counting

    def count(self, columns: Sequence[str], lot: tuple[int, int] = (0, 1), by: Sequence[str] = ()) -> Counts:
        """How often each combination occurs. Lots are counted once for all of them, and kept on the cluster."""
        if lot[1] == 1 or not columns:
            return super().count(columns, lot, by)
        asked = (tuple(columns), lot[1], tuple(by))
        if asked not in self._lots:
            cells, keys = self._key_cells(columns)
            number = f"{self.sql.hash([self.inner[c] for c in by])} % {lot[1]}"
            inside = f"SELECT {cells}, {number} AS lot FROM {self.of([*columns, *by])}"
            query = f"SELECT {self._select_keys(columns)}, count(*) AS n, lot FROM ({inside}) AS g GROUP BY {keys}, lot"
            with self.connection.watch(self.source.name):
                frame = self.connection.frame(query).persist()
                self._lots[asked] = (frame, self.connection.view(frame))
        keys = ", ".join(f"k{i}" for i in range(len(columns)))
        found = self.arrow(f"SELECT {keys}, n FROM {self._lots[asked][1]} WHERE lot = {lot[0]}")
        return self._counts(found, columns)

    def groups(
        self,
        combinations: Sequence[Sequence[str]],
        below: Sequence[int],
        besides: str | None = None,
        lots: int = 1,
        lacking: bool = False,
    ) -> list[Groups]:
        """The cluster holds all groups at once."""
        return super().groups(combinations, below, besides, lacking=lacking)

    def page(
        self, offset: int, limit: int, sort: str | None = None, where: Mapping[str, Text] | None = None, descending: bool = False
    ) -> pa.Table:
        """Some rows to look at. They are not numbered first, for which all of them would have to come to one place."""
        shown = ", ".join(f"{self.text_of(name, f't.{c}')} AS {c}" for name, c in self.inner.items())
        cell = "" if sort is None else f"t.{self.inner[sort]}"
        order = f"ORDER BY {cell} IS NULL, {cell}{' DESC' if descending else ''}" if cell else ""
        inside = f"SELECT * FROM {self.of(self.header)} {self.where_clause(where)} {order} LIMIT {int(limit)} OFFSET {int(offset)}"
        return self.arrow(f"SELECT {shown} FROM ({inside}) AS t").rename_columns(list(self.inner))

    # Writing

    def arrange(self, frame: Any, order: str) -> Any:
        """Rows in a random order: dealt out to partitions by chance, and sorted by chance in each."""
        from pyspark.sql import functions as F

        if order != "shuffle":
            return frame
        return frame.repartition(F.rand(secrets.randbits(63))).sortWithinPartitions(F.rand(secrets.randbits(63)))

    def result_frame(self, query: PlanQuery) -> Any:
        """What a plan makes of the table, as a DataFrame."""
        if query.order == "sorted":
            return self.connection.frame(query.text())
        return self.arrange(self.connection.frame(replace(query, order="").text()), query.order)

    def create(self, query: PlanQuery, into: Any) -> None:
        """Write where this table lives."""
        with self.connection.watch(self.source.name):
            frame = self.result_frame(query)
        into.create(query.result_fields, frame)

    def result_batches(self, query: PlanQuery) -> pa.RecordBatchReader:
        """The rows of a plan, in batches."""
        with self.connection.watch(self.source.name):
            return self.result_frame(query).toArrow().to_reader()

    def recode(self, plan: Plan) -> tuple[Any, int]:
        """What the plan makes of the table, as a DataFrame that no longer depends on the table."""
        if self.source.data is None:
            return super().recode(plan)
        with self.connection.watch(self.source.name):
            frame = self.result_frame(PlanQuery(self, plan, "")).localCheckpoint()
            return frame, int(frame.count())

    def split(self, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot) -> Split:
        """Parts are solved where the table lives, not one by one."""
        self.engine.require(Capability.SPLIT)
        raise AssertionError

    def spread(self, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot) -> Spread:
        """The table in many parts, cut and solved by the cluster."""
        return SparkSpread(self, places, coded, plan, into)

    # Plumbing

    def forget(self, name: str) -> None:
        """Let go of a small table."""
        self.connection.forget(name)

    def close(self) -> None:
        """Give the session back, once."""
        if not self._closed:
            for frame, _ in self._lots.values():
                frame.unpersist()
        super().close()
