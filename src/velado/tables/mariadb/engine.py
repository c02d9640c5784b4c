"""The engine of MariaDB and MySQL."""

from __future__ import annotations

from typing import ClassVar

from velado.tables.sql.engine import ServerEngine, ServerModules


class MariaDBEngine(ServerEngine):
    """One snapshot for the whole run; releases appear with one RENAME TABLE."""

    name: ClassVar[str] = "mariadb"

    def modules(self) -> ServerModules:
        """Those of MariaDB."""
        from velado.tables.mariadb.connection import MariaDBConnection
        from velado.tables.mariadb.listing import tables_of
        from velado.tables.mariadb.stage import MariaDBStage
        from velado.tables.mariadb.table import MariaDBTable

        return ServerModules(MariaDBConnection, MariaDBTable, MariaDBStage, tables_of)
