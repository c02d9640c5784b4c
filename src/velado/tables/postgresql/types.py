"""Types of PostgreSQL: which ones a table may have, and how each is read so that equal values are equal texts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from velado.tables.sql.connection import ServerColumn
from velado.tables.sql.dialect import SqlDialect
from velado.tables.types import ColumnType, Field

PLAIN = {
    "smallint": ColumnType.INTEGER,
    "integer": ColumnType.INTEGER,
    "bigint": ColumnType.INTEGER,
    "date": ColumnType.DATE,
    "boolean": ColumnType.BOOLEAN,
}
TEXTS = (
    "text",
    "character varying",
    "character",
    "bpchar",
    "name",
    "citext",
    "uuid",
    "inet",
    "cidr",
    "macaddr",
    "macaddr8",
    "interval",
    "time without time zone",
    "time with time zone",
    "timestamp with time zone",
    "money",
    "json",
    "jsonb",
    "xml",
    "bit",
    "bit varying",
    '"char"',
    "oid",
    "pg_lsn",
    "unknown",
)
"""Types that are read as text: the server's own, in UTC."""
ENUM = "e"


def column_of(sql: SqlDialect, name: str, kind: str, sort: str, array: bool) -> ServerColumn:
    """A column by its type; ``sort`` is the server's letter for kinds of types."""
    cell = sql.quote(name)
    plain = re.sub(r"\(.*?\)", "", kind)
    number = re.fullmatch(r"numeric\((\d+),(-?\d+)\)", kind)
    if plain in PLAIN and not array:
        return ServerColumn(Field(name, PLAIN[plain]), kind, cell, kind)
    if plain == "timestamp without time zone":
        return ServerColumn(Field(name, ColumnType.TIMESTAMP), kind, cell, "timestamp")
    if plain in ("real", "double precision"):
        # There is one zero.
        zero = f"{cell} + CAST(0 AS {plain})"
        return ServerColumn(Field(name, ColumnType.FLOAT, single=plain == "real"), kind, f"({zero})", plain)
    if number and int(number[1]) <= 38 and int(number[2]) >= 0:
        return ServerColumn(Field(name, ColumnType.DECIMAL, int(number[2])), kind, cell, kind)
    if number and int(number[1]) - int(number[2]) <= 38 and int(number[2]) < 0:
        # Hundreds or thousands.
        whole = "numeric(38, 0)"
        return ServerColumn(Field(name, ColumnType.DECIMAL), kind, f"CAST({cell} AS {whole})", whole)
    if plain == "numeric":
        # Without a number of decimals 1.0 and 1 are equal and written differently.
        return _text(name, kind, f"trim_scale({cell})")
    if (plain in TEXTS or plain.rpartition(".")[2] in ("citext",) or sort == ENUM) and not array:
        return _text(name, kind, cell)
    other = Field.of_others(name, "list[" if array else kind)
    return replace(_text(name, kind, sql.literal(other.instead)), field=other)


def _text(name: str, kind: str, cell: str) -> ServerColumn:
    text = cell if kind == "text" else f"CAST({cell} AS text)"
    return ServerColumn(Field(name, ColumnType.TEXT), kind, f'{text} COLLATE "C"', "text")


def arrow_of(kind: str) -> Any:
    """The Arrow type in which values of a type are fetched."""
    import pyarrow as pa

    number = re.fullmatch(r"numeric\((\d+),(-?\d+)\)", kind)
    if number and int(number[1]) <= 38 and int(number[2]) >= 0:
        return pa.decimal128(int(number[1]), int(number[2]))
    found = {
        "smallint": pa.int16(),
        "integer": pa.int32(),
        "bigint": pa.int64(),
        "real": pa.float32(),
        "double precision": pa.float64(),
        "date": pa.date32(),
        "boolean": pa.bool_(),
        "timestamp without time zone": pa.timestamp("us"),
    }
    return found.get(re.sub(r"\(.*?\)", "", kind), pa.string())


def stored_as(kind: Any) -> str:
    """The type of PostgreSQL for values of an Arrow type."""
    import pyarrow as pa

    t = pa.types
    if t.is_boolean(kind):
        return "boolean"
    if t.is_uint64(kind):
        return "numeric(20, 0)"
    if t.is_integer(kind):
        return "smallint" if kind.bit_width == 8 else {16: "smallint", 32: "integer"}.get(kind.bit_width, "bigint")
    if t.is_floating(kind):
        return "double precision" if kind.bit_width == 64 else "real"
    if t.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if t.is_date(kind):
        return "date"
    return "timestamp" if t.is_timestamp(kind) and kind.tz is None and kind.unit != "ns" else "text"
