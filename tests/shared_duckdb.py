"""One DuckDB for all quick tests of a worker: starting one takes longer than most of what small tables ask of it.

Every table gets a connection to it, as tables of one database file do in the product. What only an engine of one's own
can show, such as the files that it may reach, is tested by what is marked `own_engine`, by every command in a process of
its own, and by all that runs beside the quick tests.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from velado.tables.duckdb import table
from velado.tables.duckdb.instance import Instance, Room


@cache
def _engine() -> Any:
    engine = duckdb.connect(config={"preserve_insertion_order": "false"})
    engine.execute("SET GLOBAL TimeZone = 'UTC'")
    engine.execute("SET GLOBAL python_enable_replacements = false")
    return engine


class SharedInstance(Instance):
    """An instance that is a connection to the engine of the worker."""

    def _connect(self, settings: dict[str, Any]) -> Any:
        connection = _engine().cursor()
        connection.execute(f"SET memory_limit = '{settings['memory_limit']}'")
        return connection

    def _lock(self, files: Sequence[Path]) -> None:
        for setting in ("TimeZone = 'UTC'", "python_enable_replacements = false"):
            self.connection.execute(f"SET {setting}")

    def whole(self) -> Room:
        """Types are the only names that connections share."""
        return Room(self.connection, self.folder, self.close, secrets.token_hex(4))


def use(shared: bool) -> None:
    """Say which engine tables open from now on."""
    table.Instance = SharedInstance if shared else Instance  # type: ignore[misc]
