"""A table of PostgreSQL."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from velado.tables.contract import Identity
from velado.tables.identity import FixedIdentity
from velado.tables.plan import Translation
from velado.tables.sql.server import ServerTable
from velado.tables.types import INTEGER, ColumnType

if TYPE_CHECKING:
    import pyarrow as pa

DIGITS = 19
"""Signs with which a whole number may not fit 64 bits any more."""


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

    # Whole numbers are joined as such: that is faster than by their texts

    def key(self, t: Translation) -> str:
        """The cell of a translated column as it is joined with its table."""
        return f"p.{self.inner[t.column]}" if self._whole(t) else super().key(t)

    def key_values(self, t: Translation) -> pa.Array:
        """The keys of a translation as `key` says them."""
        import pyarrow as pa

        return pa.array([int(k) for k in t.keys if k is not None], pa.int64()) if self._whole(t) else super().key_values(t)

    def _whole(self, t: Translation) -> bool:
        """Whether all keys of a column of whole numbers are whole numbers."""
        if self.type_of(t.column) is not ColumnType.INTEGER:
            return False
        return all(k is not None and INTEGER.fullmatch(k) and len(k) < DIGITS for k in t.keys)
