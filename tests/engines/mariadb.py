"""MariaDB under test: Arrow tables become tables of a real server, by the driver alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engines.engine_under_test import EngineUnderTest, file_sink
from servers.mariadb import server
from velado.tables import Address, ColumnType, Field, Sink, Source
from velado.tables.mariadb.types import stored_as
from velado.tables.mariadb.values import inserts, widths

NUMBERS = itertools.count(1)


def put_rows(table: pa.Table, name: str) -> None:
    """Make a table of the rows; there are neither nan nor infinity, and no decimals before the point."""
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(field.type.value_type))
        elif pa.types.is_decimal(field.type) and field.type.scale < 0:
            table = table.set_column(i, field.name, table.column(i).cast(pa.decimal128(38, 0)))
        elif pa.types.is_floating(field.type) and not all(c is None or abs(c) < float("inf") for c in table.column(i).to_pylist()):
            pytest.skip("MariaDB has no nan and no infinity")
    found = widths(table)
    listed = ", ".join(f'"{f.name}" {stored_as(f.type, max(found[f.name], 16) if f.name in found else None)}' for f in table.schema)
    with server().connect() as connection, connection.cursor() as cursor:
        cursor.execute(f'CREATE TABLE clinic."{name}" ({listed}) CHARACTER SET utf8mb4')
        for batch in table.to_batches():
            for values in inserts(batch):
                cursor.execute(f'INSERT INTO clinic."{name}" VALUES {values}')


def put(table: pa.Table, kind: str, folder: Path) -> Source:
    """A new table; who wrote it knows which numbers are truth values."""
    name = f"in_{next(NUMBERS)}"
    put_rows(table, name)
    truths = tuple(Field(f.name, ColumnType.BOOLEAN) for f in table.schema if pa.types.is_boolean(f.type))
    return Source(database=Address.parse(server().address()), table=name, fields=truths)


def target(kind: str, folder: Path, options: Mapping[str, Any]) -> Sink:
    """A new table, or a file."""
    if kind != "table":
        return file_sink(kind, folder, options)
    given = dict(options)
    name = f"{given.pop('name', 'out')}_{next(NUMBERS)}"
    return Sink(database=Address.parse(server().address()), table=name, **given)


def published(name: str) -> pa.Table:
    """A table as the driver reads it, in its physical order."""
    quoted = ".".join(f'"{part}"' for part in (["clinic"] if "." not in name else []) + name.split("."))
    with server().connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {quoted}")
        columns = [c[0] for c in cursor.description]
        rows = cursor.fetchall()
    return pa.table({name: pa.array([row[i] for row in rows]) for i, name in enumerate(columns)})


def comment(name: str) -> str:
    found = server().ask(f"SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_NAME = '{name}'")
    return str(found[0][0])


def change(name: str) -> None:
    """Add a row, remove one, change one: all columns are texts."""
    server().ask(f'INSERT INTO clinic."{name}" SELECT * FROM clinic."{name}" LIMIT 1')
    server().ask(f'DELETE FROM clinic."{name}" LIMIT 1')
    server().ask(f"UPDATE clinic.\"{name}\" SET sex = 'new' LIMIT 1")


MARIADB = EngineUnderTest(
    "mariadb",
    sources=("table",),
    typed=("table",),
    sinks=("table", "memory"),
    put=put,
    target=target,
    published=published,
    listed=lambda: server().tables(),
    comment=comment,
    put_as=put_rows,
    change=change,
)
