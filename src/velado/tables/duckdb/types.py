"""Kinds of columns: which ones a table may have, and how each is read so that equal values are equal texts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.sentences import Sentence
from velado.tables.sql.dialect import SqlDialect

NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "BOOLEAN",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_S",
    "TIMESTAMP_MS",
    "TIMESTAMP_NS",
)
"""Types that stay what they are: every value is written in one way."""
BROKEN = Sentence("a number does not fit its column")
FLOATS = ("FLOAT", "DOUBLE")
TEXTS = (
    "VARCHAR",
    "JSON",
    "UUID",
    "INTERVAL",
    "TIME",
    "TIME_NS",
    "TIME WITH TIME ZONE",
    "TIMESTAMP WITH TIME ZONE",
    '"NULL"',
    "NULL",
)
"""Types that are read as text: an interval of 24 hours and one of a day are equal and written differently."""


def read_as(kind: str) -> str | None:
    """The type as which a column of an engine's type is read; None if a cell holds more than one value."""
    if kind in NUMBERS or kind in FLOATS or (kind.startswith("DECIMAL(") and kind.endswith(")")):
        return kind
    if kind in TEXTS or (kind.startswith("ENUM(") and kind.endswith(")")):
        return "VARCHAR"
    return None


def cell(sql: SqlDialect, column: str, kind: str, now: str, markers: Sequence[str]) -> str:
    """A column in SQL as it is read: markers are missing values, −0.0 is 0.0, there is one NaN.

    A damaged file may hold numbers of more digits than its type has, which the engine passes on.
    """
    if now == "VARCHAR":
        text = sql.missing_as(column if kind == "VARCHAR" else sql.text(column), markers)
        return text if text == column else f"{text} AS {column}"
    if now in FLOATS:
        return f"CASE WHEN {column} = 0 THEN 0 WHEN isnan({column}) THEN 'nan' ELSE {column} END AS {column}"
    if now.startswith("DECIMAL("):
        width, scale = map(int, now[8:-1].split(","))
        most = f"{'9' * (width - scale)}.{'9' * scale}"
        broken = f"abs({column}) > CAST('{most}' AS {now})"
        return f"CASE WHEN {broken} THEN error('{BROKEN}') ELSE {column} END AS {column}"
    return column


def readable(table: Any, file: Path | str) -> tuple[Any, dict[int, str]]:
    """An Arrow table whose columns the engine can read; of those that it cannot, their types, and nothing else."""
    import pyarrow as pa

    others = {}
    for i, field in enumerate(table.schema):
        kind = _storage_type(field.type)
        if pa.types.is_float16(kind):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float32()))
        elif pa.types.is_decimal128(kind):
            # The engine makes any number of one that has too many digits.
            try:
                table.column(i).validate(full=True)
            except pa.ArrowInvalid:
                raise InputError("unreadable-file", BROKEN, file=file, column=field.name) from None
            if kind.scale < 0:
                # Hundreds or thousands: the engine knows decimals behind the point only.
                table = table.set_column(i, field.name, table.column(i).cast(pa.decimal128(38, 0)))
        elif pa.types.is_timestamp(kind) and kind.tz is not None and kind.unit == "ns":
            table = table.set_column(i, field.name, _moments(table.column(i)))
        elif pa.types.is_decimal256(kind):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
        elif not _single(kind):
            others[i] = str(field.type)
            table = table.set_column(i, field.name, pa.nulls(len(table)))
    return table, others


def _moments(column: Any) -> Any:
    """Moments in nanoseconds, which the engine does not read: in microseconds, or as texts in UTC where that would round."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with suppress(pa.ArrowInvalid):
        return column.cast(pa.timestamp("us", column.type.tz))
    texts = column.cast(pa.timestamp("ns", "UTC")).cast(pa.timestamp("ns")).cast(pa.string())
    return pc.binary_join_element_wise(pc.replace_substring_regex(texts, r"\.?0+$", ""), "+00", "")


def _storage_type(kind: Any) -> Any:
    """The type of the values themselves."""
    import pyarrow as pa

    while True:
        if isinstance(kind, pa.BaseExtensionType):
            # UUIDs are stored as bytes, and the engine knows them.
            if kind.extension_name == "arrow.uuid":
                return pa.string()
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return kind


def _single(kind: Any) -> bool:
    import pyarrow as pa

    t = pa.types
    texts = t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind)
    plain = t.is_null(kind) or t.is_boolean(kind) or t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind)
    return bool(texts or plain or t.is_temporal(kind) or t.is_interval(kind))
