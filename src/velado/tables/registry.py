"""Which engine serves which place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from velado.tables.contract import Capability, Engine, Stage, Table
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source


def _duckdb() -> Engine:
    from velado.tables.duckdb import DuckDBEngine

    return DuckDBEngine()


ENGINES: dict[str, Callable[[], Engine]] = {"duckdb": _duckdb}
"""Engines by name, imported when they are used."""


def engine_of(place: Source | Sink) -> Engine:
    """The engine that reads a source or writes a sink."""
    return ENGINES["duckdb"]()


def open_table(source: Any, folder: Path | None = None, session: Session | None = None) -> Table:
    """Open a file (CSV, TSV, Parquet, XLSX, Arrow) or a pandas, Polars or Arrow table.

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
    return engine.stage(sinks, session or Session())
