"""PostgreSQL under test: Arrow tables become tables of a real server, by the driver alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from psycopg import sql

from engines.engine_under_test import EngineUnderTest, file_sink
from servers import postgresql
from velado.tables import Address, Sink, Source

NUMBERS = itertools.count(1)


def kind_of(kind: pa.DataType) -> str:
    t = pa.types
    if t.is_dictionary(kind):
        return kind_of(kind.value_type)
    if t.is_integer(kind):
        signed = {8: "smallint", 16: "smallint", 32: "integer", 64: "bigint"}
        return signed[kind.bit_width] if t.is_signed_integer(kind) else "numeric(20, 0)"
    if t.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    return {
        pa.float16(): "real",
        pa.float32(): "real",
        pa.float64(): "double precision",
        pa.bool_(): "boolean",
        pa.date32(): "date",
        pa.timestamp("us"): "timestamp",
        pa.timestamp("s"): "timestamp",
        pa.timestamp("us", "UTC"): "timestamptz",
        pa.time64("us"): "time",
    }.get(kind, "text")


def put_rows(table: pa.Table, name: str) -> None:
    """Make a table of the rows."""
    columns = sql.SQL(", ").join(sql.SQL("{} {}").format(sql.Identifier(f.name), sql.SQL(kind_of(f.type))) for f in table.schema)
    with postgresql.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), columns))
        with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))) as copy:
            for row in zip(*table.to_pydict().values(), strict=True):
                copy.write_row(row)


def _put(table: pa.Table, kind: str, folder: Path) -> Source:
    name = f"in_{next(NUMBERS)}"
    put_rows(table, name)
    return Source(database=Address.parse(postgresql.address()), table=name)


def _sink(kind: str, folder: Path, options: Mapping[str, Any]) -> Sink:
    if kind != "table":
        return file_sink(kind, folder, options)
    given = dict(options)
    name = f"{given.pop('name', 'out')}_{next(NUMBERS)}"
    return Sink(database=Address.parse(postgresql.address()), table=name, **given)


def published(name: str) -> pa.Table:
    """A table as the driver reads it, in its physical order."""
    with postgresql.connect() as connection:
        cursor = connection.execute(sql.SQL("SELECT * FROM {} ORDER BY ctid").format(sql.Identifier(*name.split("."))))
        columns = [c.name for c in cursor.description or ()]
        rows = cursor.fetchall()
    return pa.table({name: pa.array([row[i] for row in rows]) for i, name in enumerate(columns)})


def comment(name: str) -> str:
    with postgresql.connect() as connection:
        (found,) = connection.execute("SELECT obj_description(%s::regclass)", [name]).fetchone() or ("",)
        return str(found)


def change(name: str) -> None:
    """Add a row, remove one, change one: all columns are texts."""
    with postgresql.connect() as connection:
        table = sql.Identifier(name)
        connection.execute(sql.SQL("INSERT INTO {0} SELECT * FROM {0} LIMIT 1").format(table))
        connection.execute(sql.SQL("DELETE FROM {0} WHERE ctid = (SELECT min(ctid) FROM {0})").format(table))
        connection.execute(sql.SQL("UPDATE {0} SET sex = 'new' WHERE ctid = (SELECT min(ctid) FROM {0})").format(table))


POSTGRESQL = EngineUnderTest(
    "postgresql",
    sources=("table",),
    typed=("table",),
    sinks=("table", "memory"),
    put=_put,
    target=_sink,
    published=published,
    listed=postgresql.tables,
    comment=comment,
    put_as=put_rows,
    change=change,
)
