"""Which tables a database of PostgreSQL holds."""

from __future__ import annotations

from velado.tables.listing import Listed
from velado.tables.postgresql.connection import PostgreSQLConnection

TABLES = """
SELECT c.oid, n.nspname, c.relname, CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END,
  CASE WHEN c.relkind <> 'v' AND c.reltuples >= 0 THEN CAST(c.reltuples AS bigint) END,
  CASE WHEN c.relkind IN ('r', 'm') THEN pg_total_relation_size(c.oid) END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
ORDER BY n.nspname, c.relname
"""
COLUMNS = """
SELECT a.attrelid, a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum
"""


def tables_of(connection: PostgreSQLConnection) -> list[Listed]:
    """Tables and views that the user may read, with the server's own estimate of their rows."""
    columns: dict[int, list[tuple[str, str]]] = {}
    for table, name, kind in connection.ask(COLUMNS):
        columns.setdefault(table, []).append((name, kind))
    return [
        Listed(schema, name, kind, rows, tuple(columns.get(table, ())), size)
        for table, schema, name, kind, rows, size in connection.ask(TABLES)
    ]
