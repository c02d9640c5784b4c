"""Tables in memory come out in the kind in which they came in: pandas, Polars or Arrow."""

from __future__ import annotations

from typing import Any


def in_kind_of(given: Any, table: Any) -> Any:
    """An Arrow table in the kind of a given one; Arrow where the given one is neither pandas' nor Polars'.

    >>> import pandas as pd, pyarrow as pa
    >>> type(in_kind_of(pd.DataFrame({"a": [1]}), pa.table({"a": [1, None]}))).__name__
    'DataFrame'
    """
    home, _, _ = type(given).__module__.partition(".")
    if table is None or home not in ("pandas", "polars"):
        return table
    if home == "pandas":
        # Whole numbers beside missing values stay whole numbers, which a column of floats would not.
        return table.to_pandas(integer_object_nulls=True)
    import polars as pl

    frame = pl.DataFrame(table)
    return frame.lazy() if hasattr(given, "collect") else frame
