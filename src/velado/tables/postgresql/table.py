"""A table of PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from velado.tables.contract import Identity
from velado.tables.sql.server import ServerTable


@dataclass(frozen=True)
class SnapshotIdentity(Identity):
    """A snapshot: whatever happens meanwhile, what is read stays what it was."""

    name: str

    def check(self) -> None:
        """A snapshot does not change."""

    def digest(self) -> str:
        """What the server calls it."""
        return self.name


class PostgreSQLTable(ServerTable):
    """One transaction is one snapshot."""

    def identity(self) -> Identity | None:
        """The snapshot of the transaction."""
        return self._identity

    @cached_property
    def _identity(self) -> SnapshotIdentity:
        shown, began = self.ask("SELECT CAST(pg_current_snapshot() AS text), CAST(now() AS text)")[0]
        return SnapshotIdentity(f"{self.source.name}@{shown}@{began}")

    def size(self) -> int | None:
        """Bytes of the table on the server."""
        if self.source.table is None:
            return None
        return int(self.ask(f"SELECT pg_total_relation_size({self.sql.literal(self.relation)})")[0][0]) or None
