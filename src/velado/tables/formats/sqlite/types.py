"""Types of SQLite: a column says what it should hold, and every cell may hold something else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from velado.tables.formats.sqlite.connection import quote_name

if TYPE_CHECKING:
    import pyarrow as pa

DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
MOST_DIGITS = 15
"""Digits that a floating-point number keeps, which is what SQLite makes of a decimal one."""
DAY = "date({c}, '+0 days') = {c} AND {c} >= '0001'"
MOMENT = (
    "datetime({c}, '+0 days') = replace(substr({c}, 1, 19), 'T', ' ') AND {c} >= '0001' AND (length({c}) = 19 OR "
    "(substr({c}, 20, 1) = '.' AND length({c}) BETWEEN 21 AND 26 AND substr({c}, 21) NOT GLOB '*[^0-9]*'))"
)
"""Whether a text is a day, or a moment, in SQL."""
BYTES = "bytes"
"""What a column holds that is not read."""


@dataclass(frozen=True)
class SQLiteColumn:
    """A column as it is read: ``declared`` is its type as the table says it, ``kind`` what all its cells are."""

    name: str
    declared: str
    kind: str
    decimals: tuple[int, int] = (0, 0)

    @property
    def arrow(self) -> pa.DataType:
        """The type of its cells in Arrow."""
        import pyarrow as pa

        if self.kind == "decimal":
            return pa.decimal128(*self.decimals)
        return {
            "integer": pa.int64(),
            "float": pa.float64(),
            "boolean": pa.bool_(),
            "date": pa.date32(),
            "timestamp": pa.timestamp("us"),
            "text": pa.string(),
            BYTES: pa.binary(),
        }[self.kind]

    def cells(self, values: Sequence[Any]) -> pa.Array:
        """Cells of the column as Arrow."""
        import pyarrow as pa

        if self.kind in ("date", "timestamp"):
            return pa.array(values, pa.string()).cast(self.arrow)
        if self.kind == "decimal":
            unit = Decimal(1).scaleb(-self.decimals[1])
            return pa.array([None if v is None else Decimal(repr(v)).quantize(unit) for v in values], self.arrow)
        if self.kind == "boolean":
            return pa.array([None if v is None else bool(v) for v in values], self.arrow)
        if self.kind == "text":
            return pa.array([v if v is None or isinstance(v, str) else repr(v) for v in values], self.arrow)
        return pa.array(values, self.arrow)


def type_checks(name: str, declared: str) -> list[str]:
    """What must be known of the cells of a column, in SQL: how many are of each kind, and whether they fit its type."""
    c = quote_name(name)
    counts = [f"sum(typeof({c}) = '{kind}')" for kind in ("blob", "text", "real", "integer")]
    number = DECIMAL.search(declared)
    fits = "NULL"
    if number:
        width, scale = int(number[1]), int(number[2] or 0)
        fits = f"min(round({c}, {scale}) = {c} AND abs({c}) < 1e{max(width - scale, 0)})"
    elif "BOOL" in declared:
        fits = f"min({c} IN (0, 1))"
    elif "DATETIME" in declared or "TIMESTAMP" in declared:
        fits = f"min({MOMENT.format(c=c)})"
    elif declared == "DATE":
        fits = f"min({DAY.format(c=c)})"
    # What is no day at all is neither true nor false.
    full = f"min(({fits[4:-1]}) IS NOT NULL OR {c} IS NULL)" if fits != "NULL" else "NULL"
    return [*counts, fits, full]


def column_of(name: str, declared: str, found: Mapping[str, Any]) -> SQLiteColumn:
    """A column by its declared type and its cells."""
    if found["blob"]:
        return SQLiteColumn(name, declared, BYTES)
    texts, reals, wholes = found["text"], found["real"], found["integer"]
    fits = bool(found["fits"]) and bool(found["full"])
    empty = not (texts or reals or wholes)
    number = DECIMAL.search(declared)
    kind, decimals = "text", (0, 0)
    if number and not texts and (fits or empty) and _exact(number):
        kind, decimals = "decimal", (int(number[1]), int(number[2] or 0))
    elif "BOOL" in declared:
        kind = "boolean" if not (texts or reals) and (fits or empty) else "text"
    elif "DATETIME" in declared or "TIMESTAMP" in declared:
        kind = "timestamp" if not (reals or wholes) and (fits or empty) else "text"
    elif declared == "DATE":
        kind = "date" if not (reals or wholes) and (fits or empty) else "text"
    elif "INT" in declared:
        kind = "text" if texts or reals else "integer"
    elif any(word in declared for word in ("CHAR", "CLOB", "TEXT", "TIME", "UUID", "JSON")):
        kind = "text"
    elif any(word in declared for word in ("REAL", "FLOA", "DOUB")):
        kind = "text" if texts else "float"
    elif not texts and not (empty and not declared):
        # Of any type, or of none: what its cells are.
        kind = "float" if reals else "integer"
    return SQLiteColumn(name, declared, kind, decimals)


def _exact(number: re.Match[str]) -> bool:
    return 0 < int(number[1]) <= MOST_DIGITS and int(number[2] or 0) <= int(number[1])


def declared_as(kind: pa.DataType) -> str:
    """The type of a column of SQLite for values of an Arrow type; texts hold what its numbers would round."""
    import pyarrow as pa

    t = pa.types
    if t.is_boolean(kind):
        return "BOOLEAN"
    if t.is_integer(kind) and not t.is_uint64(kind):
        return "INTEGER"
    if t.is_floating(kind):
        return "REAL"
    if t.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= MOST_DIGITS:
        return f"DECIMAL({kind.precision},{kind.scale})"
    if t.is_date(kind):
        return "DATE"
    return "TIMESTAMP" if t.is_timestamp(kind) and kind.tz is None else "TEXT"


def sqlite_cells(column: pa.Array) -> list[Any]:
    """The cells of a column of Arrow as SQLite keeps them: it makes a missing value of what is not a number."""
    import numpy as np
    import pyarrow as pa

    t, kind = pa.types, column.type
    if t.is_boolean(kind):
        return [None if v is None else int(v) for v in column.to_pylist()]
    if t.is_float32(kind):
        # As it is written, not 0.10000000149.
        return [_number(None if v is None else float(str(np.float32(v)))) for v in column.to_pylist()]
    if t.is_floating(kind):
        return [_number(v) for v in column.to_pylist()]
    if t.is_integer(kind) and not t.is_uint64(kind):
        return list(column.to_pylist())
    texts = column.cast(pa.string()).to_pylist()
    if t.is_timestamp(kind) and kind.tz is None:
        return [v.rstrip("0").rstrip(".") if v is not None and "." in v else v for v in texts]
    return list(texts)


def _number(value: float | None) -> float | str | None:
    return "nan" if value is not None and value != value else value
