"""Parts of a table of MariaDB or MySQL, in temporary tables there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from velado.tables.contract import Part
from velado.tables.mariadb.table import MariaDBTable
from velado.tables.sql.server_split import ServerSplit
from velado.tables.types import ColumnType


class MariaDBSplit(ServerSplit):
    """Without GROUPING SETS: one statement per set."""

    _table: MariaDBTable

    def begin(self) -> None:
        """Columns that pass keep their types."""
        if self._table.is_at(self._into):
            kinds = {}
            for released in self._into.fields:
                passing = self._layout[released.name] is not None
                if passing or (released.name in self._typed and not released.single):
                    kinds[released.name] = self._table.kinds[released.name]
            self._into.kinds = {  # type: ignore[attr-defined]
                name: kind for name, kind in kinds.items() if self._layout[name] is not None or self._table.type_of(name) is not ColumnType.TEXT
            }  # fmt: skip

    def keep(self, name: str, query: str) -> str:
        """A temporary table."""
        made = self._table.connection.temporary_name(f"_{name}")
        self._table.run(f"CREATE TEMPORARY TABLE {made} AS {query}")
        return made

    def small(self, cell: str, values: int) -> str:
        """As the lookup has it."""
        return cell

    def grouped(self, sets: Sequence[tuple[str, str | None]], part: Part) -> Any:
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
