"""Which engine serves which place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.tables.contract import Capability, Engine, Stage, Table
from velado.tables.listing import Listed, Place
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source


def _duckdb() -> Engine:
    from velado.tables.duckdb import DuckDBEngine

    return DuckDBEngine()


def _postgresql() -> Engine:
    from velado.tables.postgresql import PostgreSQLEngine

    return PostgreSQLEngine()


def _mariadb() -> Engine:
    from velado.tables.mariadb import MariaDBEngine

    return MariaDBEngine()


def _spark() -> Engine:
    from velado.tables.spark import SparkEngine

    return SparkEngine()


ENGINES: dict[str, Callable[[], Engine]] = {"duckdb": _duckdb, "postgresql": _postgresql, "mariadb": _mariadb, "spark": _spark}
"""Engines by name, imported when they are used."""


def engine_of(place: Source | Sink | Place) -> Engine:
    """The engine that reads a source, writes a sink or lists the tables of a database."""
    return ENGINES["duckdb" if place.database is None else place.database.engine]()


def open_table(source: Any, folder: Path | None = None, session: Session | None = None) -> Table:
    """Open a file (CSV, TSV, Parquet, XLSX, Arrow, SQLite, DuckDB), a table of a database, or a pandas, Polars, Arrow or
    Spark table.

    A relative path is one in ``folder``.
    """
    found = Source.of(source, folder)
    engine = engine_of(found)
    table = engine.open(found, session or Session())
    table.engine = engine
    return table


def open_stage(sinks: Sequence[Sink], session: Session | None = None) -> Stage:
    """A stage for tables that are published together."""
    engine = engine_of(sinks[0])
    if len(sinks) > 1:
        engine.require(Capability.ATOMIC_MANY)
        if len({(sink.database, sink.table and sink.path, sink.url is None) for sink in sinks}) > 1:
            raise InputError(
                "several-places",
                "several tables are published at one moment, which different databases or places cannot do",
                hint="Send all tables to one database, or all to files.",
            )
    return engine.stage(sinks, session or Session())


def list_tables(address: str | Path, session: Session | None = None) -> list[Listed]:
    """The tables and views of a database: one of a server, or a DuckDB or SQLite file."""
    place = Place.of(address)
    return engine_of(place).tables(place, session or Session())


def check_sinks(sinks: Sequence[Sink], session: Session) -> None:
    """Raise at once what a server would say when a release is ready: no right to write there, or a table that is there."""
    if any(sink.database is not None for sink in sinks):
        open_stage(sinks, session).close()
