"""Parts of a table of a server, in temporary tables there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from velado.tables.sql.split import SqlSplit

if TYPE_CHECKING:
    from velado.tables.sql.server import ServerTable


class ServerSplit(SqlSplit):
    """Parts are appended to a table of the same server there, and sent elsewhere in batches."""

    _table: ServerTable

    def keep(self, name: str, query: str) -> str:
        """A temporary table."""
        made = self._table.connection.temporary_name(f"_{name}")
        self._table.run(f"CREATE TEMPORARY TABLE {made} AS {query}")
        return made

    def forget(self, name: str) -> None:
        """Its room is free again."""
        self._table.forget(name)

    def small(self, cell: str, values: int) -> str:
        """Four bytes."""
        return f"CAST({cell} AS integer)"

    def append(self, query: str) -> None:
        """Where the table lives, or in batches."""
        table, into = self._table, self._into
        if table.is_at(into):
            into.append(into.fields, query)  # type: ignore[attr-defined]
        else:
            into.receive(into.fields, table.batches(query), table.progress)

    def finish(self) -> None:
        """All parts are written."""
        self._into.complete()

    def close(self) -> None:
        """Temporary tables go with the connection, or with the transaction."""
