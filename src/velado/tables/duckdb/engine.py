"""The embedded engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from velado.tables.contract import Capability, Engine, Stage, Table
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source


class DuckDBEngine(Engine):
    """Files and tables in memory, with nothing to install."""

    name: ClassVar[str] = "duckdb"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(Capability)

    def open(self, source: Source, session: Session) -> Table:
        """Open a file or a table in memory."""
        from velado.tables.duckdb.table import DuckDBTable

        return DuckDBTable(source, session)

    def stage(self, sinks: Sequence[Sink], session: Session) -> Stage:
        """Private places beside the targets."""
        from velado.tables.duckdb.stage import FileStage

        return FileStage(sinks, session)
