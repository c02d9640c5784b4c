"""The engine of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from velado.tables.contract import Capability, Engine, Stage, Table
from velado.tables.listing import Listed, Place
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source


class PostgreSQLEngine(Engine):
    """One transaction for the whole run: repeatable read, so that the source is one snapshot; releases appear with its end."""

    name: ClassVar[str] = "postgresql"
    # Rows of a table have no order.
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.SPLIT, Capability.ATOMIC_MANY, Capability.INTERRUPT}
    )

    def open(self, source: Source, session: Session) -> Table:
        """Open a table, a view or a query."""
        from velado.tables.postgresql.connection import PostgreSQLConnection
        from velado.tables.postgresql.table import PostgreSQLTable

        assert source.database is not None
        return PostgreSQLTable(source, session, PostgreSQLConnection.shared(source.database, session))

    def stage(self, sinks: Sequence[Sink], session: Session) -> Stage:
        """Side tables in the schemas of the targets."""
        from velado.tables.postgresql.connection import PostgreSQLConnection
        from velado.tables.postgresql.stage import PostgreSQLStage

        assert sinks[0].database is not None
        return PostgreSQLStage(sinks, session, PostgreSQLConnection.shared(sinks[0].database, session))

    def tables(self, place: Place, session: Session) -> list[Listed]:
        """Those that the user may read."""
        from velado.tables.postgresql.connection import PostgreSQLConnection
        from velado.tables.postgresql.listing import tables_of

        assert place.database is not None
        connection = PostgreSQLConnection.shared(place.database, session)
        try:
            return tables_of(connection)
        finally:
            session.connections.give_back(place.database)
