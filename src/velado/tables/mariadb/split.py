"""Parts of a table of MariaDB or MySQL, in temporary tables there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from velado.tables.contract import Part
from velado.tables.mariadb.types import wide
from velado.tables.sql.server_split import ServerSplit
from velado.tables.types import ColumnType

if TYPE_CHECKING:
    from velado.tables.mariadb.table import MariaDBTable


class MariaDBSplit(ServerSplit):
    """Without GROUPING SETS: one statement per set."""

    _table: MariaDBTable

    def begin(self) -> None:
        """Columns that pass keep their types."""
        if not self._table.is_at(self._into):
            return
        kinds = self._into.kinds = {}  # type: ignore[attr-defined]
        for released in self._into.fields:
            name, own = released.name, self._table.kinds[released.name]
            if self._layout[name] is not None:
                kinds[name] = own
            elif released.type is not ColumnType.TEXT:
                kinds[name] = wide(released) if released.single else own
            elif name in self._place_of:
                # Labels of later parts may be longer than those of the first.
                kinds[name] = "longtext"

    def keep(self, name: str, query: str) -> str:
        """A temporary table."""
        made = self._table.connection.temporary_name(f"_{name}")
        self._table.run(f"CREATE TEMPORARY TABLE {made} AS {query}")
        return made

    def small(self, cell: str, values: int) -> str:
        """As the lookup has it."""
        return cell

    def count_pairs(self, sets: Sequence[tuple[str, str | None]], part: Part) -> Any:
        """Counts by each of several pairs, one after the other."""
        import pyarrow as pa

        found = []
        for g, (place, code) in enumerate(sets):
            keys = place if code is None else f"{place}, {code}"
            counted = self._table.arrow(
                f"SELECT {g} AS g, {place} AS place, {code or 0} AS code, count(*) AS n FROM {part.within} "
                f"WHERE {self._where(part)} GROUP BY {keys}"
            )
            found.append(counted.cast(pa.schema([(name, pa.int64()) for name in counted.column_names])))
        return pa.concat_tables(found)
