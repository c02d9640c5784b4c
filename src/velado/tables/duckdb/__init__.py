"""DuckDB: files and tables in memory."""

from velado.tables.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine"]
