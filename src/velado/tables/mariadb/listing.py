"""Which tables a server of MariaDB or MySQL shows a user."""

from __future__ import annotations

from velado.tables.listing import Listed
from velado.tables.mariadb.connection import MariaDBConnection

OTHERS = "('information_schema', 'mysql', 'performance_schema', 'sys')"
TABLES = f"""
SELECT TABLE_SCHEMA, TABLE_NAME, CASE WHEN TABLE_TYPE LIKE '%VIEW' THEN 'view' ELSE 'table' END, TABLE_ROWS, DATA_LENGTH + INDEX_LENGTH
FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN {OTHERS} ORDER BY TABLE_SCHEMA, TABLE_NAME
"""
COLUMNS = f"""
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA NOT IN {OTHERS} ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION
"""


def tables_of(connection: MariaDBConnection) -> list[Listed]:
    """Tables and views that the user has any right to, with the server's own estimate of their rows."""
    columns: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for schema, table, name, kind in connection.ask(COLUMNS):
        columns.setdefault((schema, table), []).append((name, kind))
    return [
        Listed(
            schema,
            name,
            kind,
            None if rows is None else int(rows),
            tuple(columns.get((schema, name), ())),
            None if size is None else int(size),
        )
        for schema, name, kind, rows, size in connection.ask(TABLES)
    ]
