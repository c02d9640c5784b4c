"""Spark under test: Arrow tables become tables, folders and DataFrames of a session, by Spark alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engines.engine_under_test import EngineUnderTest, file_sink, save
from servers import spark
from velado.tables import Sink, Source
from velado.tables.address import Cluster

NUMBERS = itertools.count(1)
HERE = Cluster.parse("session")


def _known(table: pa.Table) -> pa.Table:
    """A table as Spark can hold it."""
    t = pa.types
    for i, field in enumerate(table.schema):
        kind = field.type
        if t.is_dictionary(kind):
            table = table.set_column(i, field.name, table.column(i).cast(kind.value_type))
        elif t.is_unsigned_integer(kind):
            wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}.get(kind.bit_width, pa.decimal128(20, 0))
            table = table.set_column(i, field.name, table.column(i).cast(wider))
        elif t.is_float16(kind):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float32()))
        elif t.is_timestamp(kind) and kind.unit == "ns":
            pytest.skip("Spark has no nanoseconds")
        elif t.is_timestamp(kind) and kind.unit != "us":
            table = table.set_column(i, field.name, table.column(i).cast(pa.timestamp("us", kind.tz)))
        elif t.is_decimal(kind) and kind.scale < 0:
            pytest.skip("Spark has no hundreds and thousands")
        elif t.is_time(kind):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
    return table


def frame(table: pa.Table) -> Any:
    # One partition: rows stay in their order, as far as Spark has one.
    return spark.session().createDataFrame(_known(table)).coalesce(1)


def put_rows(table: pa.Table, name: str) -> None:
    """Make a table of the rows."""
    frame(table).write.saveAsTable(name)


def _put(table: pa.Table, kind: str, folder: Path) -> Source:
    if kind == "frame":
        return Source(database=HERE, data=frame(table))
    if kind in ("parquet", "csv"):
        spark.session()
        return Source(database=HERE, url=save(_known(table), folder / f"in.{kind}").as_uri())
    name = f"in_{next(NUMBERS)}"
    put_rows(table, name)
    return Source(database=HERE, table=name)


def _sink(kind: str, folder: Path, options: Mapping[str, Any]) -> Sink:
    if kind == "memory":
        return file_sink(kind, folder, options)
    given = dict(options)
    spark.session()
    name = f"{given.pop('name', 'out')}_{next(NUMBERS)}"
    if kind == "table":
        return Sink(database=HERE, table=name, **given)
    return Sink(database=HERE, url=None if kind == "frame" else (folder / f"{name}.{kind}").as_uri(), **given)


def published(name: str) -> pa.Table:
    return spark.session().table(name).toArrow()


def listed() -> set[str]:
    return {table.name for table in spark.session().catalog.listTables() if not table.isTemporary}


def comment(name: str) -> str:
    return str(spark.session().catalog.getTable(name).description)


def change(name: str) -> None:
    """Add rows to the table."""
    session = spark.session()
    session.createDataFrame(session.table(name).limit(2).collect(), session.table(name).schema).write.insertInto(name)


SPARK = EngineUnderTest(
    "spark",
    sources=("table", "parquet", "frame"),
    typed=("table",),
    sinks=("table", "memory"),
    put=_put,
    target=_sink,
    published=published,
    listed=listed,
    comment=comment,
    put_as=put_rows,
    change=change,
)
