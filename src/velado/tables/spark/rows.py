"""Arrow rows as Spark takes them, and functions of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def storable(table: Any) -> Any:
    """Types that Spark does not have as the nearest that it has: no value changes."""
    import pyarrow as pa

    return table.cast(pa.schema([(f.name, _storage_type(f.type)) for f in table.schema]))


def _storage_type(kind: Any) -> Any:
    import pyarrow as pa

    t = pa.types
    if t.is_dictionary(kind):
        return _storage_type(kind.value_type)
    if t.is_unsigned_integer(kind):
        return {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}.get(kind.bit_width, pa.decimal128(20, 0))
    if t.is_float16(kind):
        return pa.float32()
    if t.is_date(kind):
        return pa.date32()
    if t.is_timestamp(kind) and kind.unit != "ns":
        return pa.timestamp("us", kind.tz)
    plain = t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind) or t.is_decimal(kind)
    return kind if plain else pa.string()


def arrow_function(function: Callable[..., Any], returns: str) -> Any:
    """A function of whole Arrow columns, for statements; ``returns`` is the type that Spark gives its result."""
    import pyarrow as pa
    from pyspark.sql.pandas import functions

    # Spark reads the types of Arrow from the annotations, and no texts of them.
    function.__annotations__ = dict.fromkeys((*inspect.signature(function).parameters, "return"), pa.Array)
    # Its own types know only some of the ways to call it.
    wrap: Any = functions.arrow_udf
    return wrap(function, returnType=returns)
