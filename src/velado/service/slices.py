"""Some rows of a Parquet file that a job of ours wrote; only the groups of rows that hold them are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from velado.service.errors import NotFound


class Slice(NamedTuple):
    """Rows of a table, and how many there are in all."""

    columns: list[str]
    rows: list[list[Any]]
    total: int


def read_slice(path: Path, offset: int, limit: int) -> Slice:
    """At most ``limit`` rows from ``offset`` on."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (OSError, pa.ArrowInvalid):
        raise NotFound() from None
    with file:
        rows: list[list[Any]] = []
        first = 0
        for number in range(file.num_row_groups):
            count = file.metadata.row_group(number).num_rows
            start, end = max(offset - first, 0), min(offset + limit - first, count)
            if start < end:
                part = file.read_row_group(number).slice(start, end - start)
                rows += [list(row) for row in zip(*(column.to_pylist() for column in part.columns), strict=True)]
            first += count
        return Slice(file.schema_arrow.names, rows, first)
