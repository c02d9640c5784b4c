"""Some rows of a Parquet file that a job of ours wrote; only the groups of rows that hold them are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from velado.errors import suggest
from velado.service.errors import Invalid, NotFound


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


class Below(NamedTuple):
    """Rows that come first: those with a number below ``limit`` in one of the ``columns``, by their places in the header."""

    columns: Callable[[Sequence[str]], list[int]]
    limit: int


def read_sorted(path: Path, offset: int, limit: int, sort: str, descending: bool = False, first: Below | None = None) -> Slice:
    """Rows in the order of a column, equal ones in that of the file; those without a value last."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (OSError, pa.ArrowInvalid):
        raise NotFound() from None
    with file:
        names = list(file.schema_arrow.names)
        if sort not in names:
            raise Invalid("unknown-column", "the table has no such column", hint=suggest(sort, names), fields={"path": "sort"})
        counted = [] if first is None else first.columns(names)
        needed = sorted({names.index(sort), *counted})
        read = file.read(columns=[names[j] for j in needed])
        place = {j: i for i, j in enumerate(needed)}
        keys = pa.table({"key": read.column(place[names.index(sort)])})
        order = [("key", "descending" if descending else "ascending")]
        if first is not None and counted:
            small = [pc.less(read.column(place[j]), first.limit) for j in counted]
            keys = keys.append_column("small", pc.cast(small[0] if len(small) == 1 else pc.or_(*small), pa.int8()))
            order.insert(0, ("small", "descending"))
        keys = keys.append_column("row", pa.array(range(keys.num_rows), pa.int64()))
        chosen = pc.sort_indices(keys, [*order, ("row", "ascending")]).slice(offset, limit)
        found = file.read().take(chosen)
        rows = [list(row) for row in zip(*(column.to_pylist() for column in found.columns), strict=True)]
        return Slice(names, rows, keys.num_rows)
