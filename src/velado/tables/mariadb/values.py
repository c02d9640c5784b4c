"""Values between Arrow and SQL, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

STATEMENT = 4_000_000
"""Bytes of a statement: servers take 16 million."""
DAYS = "%Y-%m-%d %H:%M:%S"


def columns_of(rows: Sequence[Sequence[Any]], types: Sequence[Any]) -> list[Any]:
    """Rows of texts as arrays of the types."""
    columns = zip(*rows, strict=True) if rows else [()] * len(types)
    return [_parse_cells(column, kind) for column, kind in zip(columns, types, strict=True)]


def _parse_cells(cells: Sequence[Any], kind: Any) -> Any:
    if pa.types.is_string(kind):
        return pa.array(
            [c.decode("utf-8", "replace") if isinstance(c, bytes) else c for c in cells]
            if any(isinstance(c, bytes) for c in cells)
            else cells,
            pa.string(),
        )
    return pa.array(cells, pa.string()).cast(kind)


def widths(table: Any) -> dict[str, int]:
    """The most characters of each column of texts."""
    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_string(column.type):
            found[name] = int(pc.max(pc.utf8_length(column)).as_py() or 0)
    return found


def inserts(batch: Any) -> Iterator[str]:
    """The rows as what stands behind VALUES, in pieces that a statement may hold."""
    if not batch.num_rows:
        return
    cells: list[Any] = []
    for column in batch.columns:
        cells += [",", _sql_literals(column)]
    rows = pc.binary_join_element_wise("(", *cells[1:], "),", "").cast(pa.large_string())
    ends = np.cumsum(np.from_dlpack(pc.binary_length(rows)))
    first = 0
    while first < len(rows):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + STATEMENT)))
        piece = rows.slice(first, last - first)
        yield "".join(piece.to_pylist())[:-1]
        first = last


def _sql_literals(column: Any) -> Any:
    """Each value in SQL."""
    kind, t = column.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        column, kind = column.storage, column.storage.type
    if t.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if t.is_boolean(kind):
        said = pc.if_else(column, "1", "0")
    elif t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind):
        said = column.cast(pa.string())
    else:
        texts = column.cast(pa.string())
        said = pc.binary_join_element_wise("'", pc.replace_substring(texts, "'", "''"), "'", "")
    return pc.fill_null(said, "NULL")
