"""Types of MariaDB and MySQL: which ones a table may have, and how each is read so that equal values are equal texts."""

from __future__ import annotations

import re
from typing import Any

from velado.tables.mariadb.dialect import MariaDBDialect
from velado.tables.sql.connection import ServerColumn
from velado.tables.types import ColumnType, Field

INTEGERS = ("tinyint", "smallint", "mediumint", "int", "bigint", "year")
MOMENTS = ("datetime", "timestamp")
TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set")
AS_TEXT = ("time", "uuid", "inet4", "inet6", "json", "binary(0)")
"""Types that are read as the server's own text. A column of nothing but NULL has the last."""
MOST = 16_000
"""Characters of a VARCHAR: a row has 65,535 bytes."""
NUMERIC, BLOB = 246, 252
FLAG_UNSIGNED, BYTES = 32, 63


def column_of(sql: MariaDBDialect, name: str, kind: str, collation: str | None) -> ServerColumn:
    """A column by its type and its collation."""
    cell, base = sql.quote(name), re.split(r"[ (]", kind, maxsplit=1)[0]
    number = re.match(r"decimal\((\d+),(\d+)\)", kind)
    if base in INTEGERS:
        plain = "zerofill" not in kind and base != "year"
        return _column(name, ColumnType.INTEGER, kind, cell if plain else f"CAST({cell} AS UNSIGNED)")
    if base == "bit":
        return _column(name, ColumnType.INTEGER, kind, f"CAST({cell} AS UNSIGNED)")
    if number and int(number[1]) <= 38:
        field = Field(name, ColumnType.DECIMAL, int(number[2]))
        plain = "zerofill" not in kind
        return ServerColumn(field, kind, cell if plain else f"CAST({cell} AS DECIMAL({number[1]},{number[2]}))", kind)
    if base == "double":
        # There is one zero.
        return _column(name, ColumnType.FLOAT, kind, f"({cell} + 0e0)")
    if base == "float":
        return ServerColumn(Field(name, ColumnType.FLOAT, single=True), kind, sql.float_to_double(cell), "float")
    if base == "date" or base in MOMENTS:
        return _column(name, ColumnType.DATE if base == "date" else ColumnType.TIMESTAMP, kind, cell)
    if base in TEXTS:
        stored = kind if base in ("char", "varchar") or base.endswith("text") else "longtext"
        read = cell if (collation or "").startswith("utf8mb4_") else f"CONVERT({cell} USING utf8mb4)"
        return ServerColumn(Field(name, ColumnType.TEXT), kind, f"({read} COLLATE {sql.bytewise})", stored)
    if base in AS_TEXT or kind in AS_TEXT or number:
        text = f"(CAST({cell} AS CHAR) COLLATE {sql.bytewise})"
        return ServerColumn(Field(name, ColumnType.TEXT), kind, text, "longtext" if base == "json" else "varchar(80)")
    other = Field.of_others(name, kind)
    return ServerColumn(other, kind, f"({sql.literal(other.instead)} COLLATE {sql.bytewise})", "varchar(80)")


def _column(name: str, type: ColumnType, kind: str, cell: str) -> ServerColumn:
    return ServerColumn(Field(name, type), kind, cell, kind)


def characters(kind: str) -> int | None:
    """How many characters a text type holds, if it is short."""
    found = re.fullmatch(r"(?:var)?char\((\d+)\)", kind)
    return int(found[1]) if found else None


def wide(field: Field) -> str:
    """The type for changed values of a column: as wide as its family gets."""
    match field.type:
        case ColumnType.DECIMAL:
            return f"decimal(38,{field.decimals})"
        case ColumnType.FLOAT:
            return "double"
        case ColumnType.TIMESTAMP:
            return "datetime(6)"
        case ColumnType.DATE:
            return "date"
        case ColumnType.BOOLEAN:
            return "tinyint(1)"
        case _:
            return "bigint"


def arrow_kind(kind: str) -> Any:
    """The Arrow type in which values of a column of whole numbers or decimals are fetched."""
    import pyarrow as pa

    base = re.split(r"[ (]", kind, maxsplit=1)[0]
    if base == "bigint":
        return pa.uint64() if "unsigned" in kind else pa.int64()
    number = re.match(r"decimal\((\d+),(\d+)\)", kind)
    if number:
        return pa.decimal128(int(number[1]), int(number[2]))
    return {"tinyint": pa.int16(), "smallint": pa.int32(), "mediumint": pa.int32(), "int": pa.int64(), "year": pa.int32()}.get(base)


def arrow_of(described: Any) -> Any:
    """The Arrow type in which a column of a result is fetched, by what the driver tells of it."""
    import pyarrow as pa

    code, flags, length, scale = described.type_code, described.flags, described.length, described.scale
    if code == NUMERIC:
        digits = length - (1 if scale else 0) - (0 if flags & FLAG_UNSIGNED else 1)
        return pa.decimal128(max(digits, scale, 1), scale) if digits <= 38 else pa.string()
    if code == 8 and flags & FLAG_UNSIGNED:
        return pa.uint64()
    found = {
        1: pa.int16(),
        2: pa.int32(),
        3: pa.int64(),
        8: pa.int64(),
        9: pa.int32(),
        13: pa.int32(),
        4: pa.float32(),
        5: pa.float64(),
        10: pa.date32(),
        7: pa.timestamp("us"),
        12: pa.timestamp("us"),
    }
    return found.get(code, pa.string())


def stored_as(kind: Any, characters: int | None = None) -> str:
    """The server's type for values of an Arrow type; texts of at most so many characters."""
    import pyarrow as pa

    t = pa.types
    if t.is_boolean(kind):
        return "tinyint(1)"
    if t.is_integer(kind):
        name = {8: "tinyint", 16: "smallint", 32: "int"}.get(kind.bit_width, "bigint")
        return f"{name} unsigned" if t.is_unsigned_integer(kind) else name
    if t.is_floating(kind):
        return "double" if kind.bit_width == 64 else "float"
    if t.is_decimal(kind) and kind.precision <= 65 and 0 <= kind.scale <= 38:
        return f"decimal({kind.precision},{kind.scale})"
    if t.is_date(kind):
        return "date"
    if t.is_timestamp(kind) and kind.tz is None and kind.unit != "ns":
        return "datetime" if kind.unit == "s" else f"datetime({3 if kind.unit == 'ms' else 6})"
    return "longtext" if characters is None or characters > MOST else f"varchar({max(characters, 1)})"
