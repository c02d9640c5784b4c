"""A table of a server: counted, recoded and written there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from velado.errors import InputError
from velado.sentences import Sentence
from velado.tables.address import TableName
from velado.tables.contract import Slot, Split
from velado.tables.formats.names import names_of
from velado.tables.header import Header
from velado.tables.plan import Plan, Translation
from velado.tables.session import Session
from velado.tables.source import Source
from velado.tables.sql.connection import Connection
from velado.tables.sql.plan import PlanQuery
from velado.tables.sql.server_split import ServerSplit
from velado.tables.sql.table import SqlTable, inner_names
from velado.tables.types import ColumnType

if TYPE_CHECKING:
    import pyarrow as pa


class ServerTable(SqlTable):
    """A table, a view or a query. Rows leave the server only where they are to go elsewhere."""

    connection: Connection

    def __init__(self, source: Source, session: Session, connection: Connection, relation: str | None = None) -> None:
        """``relation``: the table where it has another name than the source says."""
        self.source, self.connection = source, connection
        self.memory = session.memory
        self._session, self._closed = session, False
        try:
            self.relation = relation or self._relation()
            found = connection.describe_columns(self.relation, source.name)
            self._check_types(source)
            self.header = Header(names_of([c.field.name for c in found], source.names, source.name))
            self.columns = tuple(c.field for c in found)
            self.inner = dict(zip(self.header, inner_names(len(found)), strict=True))
            self.sql = connection.speaking({c.field.name: c.stored for c in found})
            markers = list(dict.fromkeys(("", *(source.missing or ()))))
            self.cells = {}
            for column, (name, inner) in zip(found, self.inner.items(), strict=True):
                text = column.field.type is ColumnType.TEXT
                cell = self.sql.missing_as(column.cell, markers) if text else column.cell
                self.cells[name] = f"{cell} AS {inner}"
        except BaseException:
            self.close()
            raise

    def _relation(self) -> str:
        source = self.source
        if source.query is not None:
            return f"({source.query.strip().rstrip(';')}\n) AS velado_query"
        assert source.table is not None
        wanted = TableName.parse(source.table, source.name)
        found = self.connection.find(wanted)
        if found is None:
            raise InputError(
                "unknown-table",
                Sentence("the database has no table '{table}' that may be read", table=str(wanted)),
                file=self.connection.address.text,
                hint="velado tables ADDRESS lists the tables.",
            )
        return self.name_in_sql(found)

    def name_in_sql(self, table: TableName) -> str:
        """A table's name in statements."""
        return ".".join(self.connection.sql.quote(p) for p in (table.schema, table.name) if p is not None)

    def _check_types(self, source: Source) -> None:
        """Options of text tables have no meaning here."""
        source.kind()

    @property
    def progress(self) -> Any:
        """That of the call."""
        return self.connection.progress

    # Writing

    def write(self, plan: Plan, into: Slot) -> None:
        """Write what the plan makes of the table: where it lives, or in batches to where the slot is."""
        sink = into.sink
        query = PlanQuery(self, plan, sink.order, sink.is_guarded)
        if self.is_at(into):
            self.create(query, into)
            return
        into.receive(query.result_fields, self.result_batches(query), self.progress)
        into.complete()

    def result_batches(self, query: PlanQuery) -> pa.RecordBatchReader:
        """The rows of a plan, in batches."""
        return self.batches(query.text())

    def is_at(self, into: Slot) -> bool:
        """Whether a slot is in this very place."""
        return getattr(into, "connection", None) is self.connection

    def create(self, query: PlanQuery, into: Any) -> None:
        """Write a table where this one lives."""
        into.create(query.result_fields, query.text())

    def fetch(self, plan: Plan, order: str = "keep") -> pa.Table:
        """What the plan makes of the table, in memory."""
        return self.result_batches(PlanQuery(self, plan, order)).read_all()

    def split(self, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot) -> Split:
        """The table in parts, in temporary tables of the server."""
        return ServerSplit(self, places, coded, plan, into)

    # Plumbing

    def limit(self, memory: int) -> None:
        """The server has its own limits."""
        self.memory = memory

    def interrupt(self) -> None:
        """End the statement that is running."""
        self.connection.interrupt()

    def close(self) -> None:
        """Give the connection back, once."""
        if not self._closed:
            self._closed = True
            self._session.connections.give_back(self.connection.place)

    def lookup(self, columns: Mapping[str, Any]) -> str:
        """A small table for joins: a temporary one of the server."""
        return self.connection.lookup(columns)

    def forget(self, name: str) -> None:
        """Let go of a small table."""
        self.run(f"DROP TABLE IF EXISTS {name}")

    def run(self, query: str) -> Any:
        """Run a statement."""
        return self.connection.run(query, self.source.name)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        return self.connection.ask(query, self.source.name)

    def batches(self, query: str) -> pa.RecordBatchReader:
        """The rows of a result, some at a time."""
        return self.connection.batches(query, self.source.name)

    def arrow(self, query: str) -> pa.Table:
        """The rows of a result as an Arrow table."""
        return self.batches(query).read_all()
