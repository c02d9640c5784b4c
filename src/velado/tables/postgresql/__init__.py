"""PostgreSQL: tables, views and queries of a server."""

from velado.tables.postgresql.engine import PostgreSQLEngine

__all__ = ["PostgreSQLEngine"]
