"""The embedded engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from velado.tables.contract import Capability, Engine, Stage, Table
from velado.tables.listing import Listed, Place
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source


class DuckDBEngine(Engine):
    """Files, database files and tables in memory, with nothing to install."""

    name: ClassVar[str] = "duckdb"
    # One machine: parts are solved one by one.
    capabilities: ClassVar[frozenset[Capability]] = frozenset(Capability) - {Capability.SPREAD}

    def open(self, source: Source, session: Session) -> Table:
        """Open a file here or elsewhere, a table of a database file, or a table in memory."""
        from velado.tables.duckdb.table import DuckDBTable

        return DuckDBTable(source, session)

    def stage(self, sinks: Sequence[Sink], session: Session) -> Stage:
        """Private places beside the targets; side tables in a database file."""
        kind = "remote" if sinks[0].url is not None else sinks[0].format
        if kind == "duckdb":
            from velado.tables.duckdb.database_stage import DuckDBDatabaseStage

            return DuckDBDatabaseStage(sinks, session)
        if kind == "sqlite":
            from velado.tables.duckdb.sqlite_stage import SQLiteStage

            return SQLiteStage(sinks, session)
        if kind == "remote":
            from velado.tables.duckdb.remote_stage import RemoteStage

            return RemoteStage(sinks, session)
        from velado.tables.duckdb.stage import FileStage

        return FileStage(sinks, session)

    def tables(self, place: Place, session: Session) -> list[Listed]:
        """Those of a DuckDB or SQLite file."""
        if place.format == "sqlite":
            from velado.tables.formats.sqlite.reading import tables_of

            return tables_of(place.source(), session.progress)
        from velado.tables.duckdb.database import tables_of_file

        return tables_of_file(place.source(), session)
