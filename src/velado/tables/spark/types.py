"""Types of Spark: which ones a table may have, and how each is read so that equal values are equal texts."""

from __future__ import annotations

import re

from velado.tables.sql.connection import ServerColumn
from velado.tables.sql.dialect import SqlDialect
from velado.tables.types import ColumnType, Field

PLAIN = {
    "tinyint": ColumnType.INTEGER,
    "smallint": ColumnType.INTEGER,
    "int": ColumnType.INTEGER,
    "bigint": ColumnType.INTEGER,
    "date": ColumnType.DATE,
    "boolean": ColumnType.BOOLEAN,
    "timestamp_ntz": ColumnType.TIMESTAMP,
}


def column_of(sql: SqlDialect, name: str, kind: str) -> ServerColumn:
    """A column by its type."""
    cell = sql.quote(name)
    number = re.fullmatch(r"decimal\((\d+),(-?\d+)\)", kind)
    if kind in PLAIN:
        return ServerColumn(Field(name, PLAIN[kind]), kind, cell, kind)
    if kind in ("float", "double"):
        # There is one zero.
        zero = f"({cell} + CAST(0 AS {kind}))"
        return ServerColumn(Field(name, ColumnType.FLOAT, single=kind == "float"), kind, zero, kind)
    if number and int(number[2]) >= 0:
        return ServerColumn(Field(name, ColumnType.DECIMAL, int(number[2])), kind, cell, kind)
    if kind == "timestamp":
        # A moment, which has a zone: in UTC, as other engines write it.
        return _text(name, kind, f"concat(CAST({cell} AS STRING), '+00')")
    if kind.startswith(("string", "char", "varchar")):
        plain = f"collate({cell}, 'UTF8_BINARY')" if "collate" in kind else cell
        return _text(name, kind, f"CAST({plain} AS STRING)")
    if kind.startswith(("interval", "time")):
        return _text(name, kind, f"CAST({cell} AS STRING)")
    other = Field.of_others(name, "list[" if kind.startswith("array") else kind)
    return ServerColumn(other, kind, sql.literal(other.instead), "string")


def _text(name: str, kind: str, cell: str) -> ServerColumn:
    return ServerColumn(Field(name, ColumnType.TEXT), kind, cell, "string")
