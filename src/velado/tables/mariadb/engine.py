"""The engine of MariaDB and MySQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from velado.tables.contract import Capability, Engine, Stage, Table
from velado.tables.listing import Listed, Place
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source


class MariaDBEngine(Engine):
    """One snapshot for the whole run; releases appear with one RENAME TABLE."""

    name: ClassVar[str] = "mariadb"
    # Rows of a table have no order.
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.SPLIT, Capability.ATOMIC_MANY, Capability.INTERRUPT}
    )

    def open(self, source: Source, session: Session) -> Table:
        """Open a table, a view or a query."""
        from velado.tables.mariadb.connection import MariaDBConnection
        from velado.tables.mariadb.table import MariaDBTable

        assert source.database is not None
        return MariaDBTable(source, session, MariaDBConnection.shared(source.database, session))

    def stage(self, sinks: Sequence[Sink], session: Session) -> Stage:
        """Side tables in the schemas of the targets."""
        from velado.tables.mariadb.connection import MariaDBConnection
        from velado.tables.mariadb.stage import MariaDBStage

        assert sinks[0].database is not None
        return MariaDBStage(sinks, session, MariaDBConnection.shared(sinks[0].database, session))

    def tables(self, place: Place, session: Session) -> list[Listed]:
        """Those that the user has any right to."""
        from velado.tables.mariadb.connection import MariaDBConnection
        from velado.tables.mariadb.listing import tables_of

        assert place.database is not None
        connection = MariaDBConnection.shared(place.database, session)
        try:
            return tables_of(connection)
        finally:
            session.connections.give_back(place.database)
