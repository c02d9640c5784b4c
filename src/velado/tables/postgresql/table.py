"""A table of PostgreSQL."""

from __future__ import annotations

from functools import cached_property

from velado.tables.contract import Identity
from velado.tables.identity import FixedIdentity
from velado.tables.sql.server import ServerTable


class PostgreSQLTable(ServerTable):
    """One transaction is one snapshot."""

    def identity(self) -> Identity | None:
        """The snapshot of the transaction."""
        return self._identity

    @cached_property
    def _identity(self) -> FixedIdentity:
        shown, began = self.ask("SELECT CAST(pg_current_snapshot() AS text), CAST(now() AS text)")[0]
        return FixedIdentity(f"{self.source.name}@{shown}@{began}")

    def size(self) -> int | None:
        """Bytes of the table on the server."""
        if self.source.table is None:
            return None
        return int(self.ask(f"SELECT pg_total_relation_size({self.sql.literal(self.relation)})")[0][0]) or None
