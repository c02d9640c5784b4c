"""The engine of PostgreSQL."""

from __future__ import annotations

from typing import ClassVar

from velado.tables.sql.engine import ServerEngine, ServerModules


class PostgreSQLEngine(ServerEngine):
    """One transaction for the whole run: repeatable read, so that the source is one snapshot; releases appear with its end."""

    name: ClassVar[str] = "postgresql"

    def modules(self) -> ServerModules:
        """Those of PostgreSQL."""
        from velado.tables.postgresql.connection import PostgreSQLConnection
        from velado.tables.postgresql.listing import tables_of
        from velado.tables.postgresql.stage import PostgreSQLStage
        from velado.tables.postgresql.table import PostgreSQLTable

        return ServerModules(PostgreSQLConnection, PostgreSQLTable, PostgreSQLStage, tables_of)
