"""MariaDB under test: tables of a private server."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engines.engines import EngineUnderTest
from servers.mariadb import server
from velado.tables import ColumnType, Field, Sink, Source
from velado.tables.address import Address
from velado.tables.mariadb.types import stored_as
from velado.tables.mariadb.values import inserts, widths

_numbers = itertools.count(1)


def put(table: pa.Table, kind: str, folder: Path) -> Source:
    """A new table with the types of the columns; who wrote them knows which numbers are truth values."""
    name = f"t{next(_numbers)}"
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(field.type.value_type))
        elif pa.types.is_decimal(field.type) and field.type.scale < 0:
            table = table.set_column(i, field.name, table.column(i).cast(pa.decimal128(38, 0)))
        elif pa.types.is_floating(field.type) and not all(
            c is None or abs(c) < float("inf") for c in table.column(i).to_pylist()
        ):
            pytest.skip("MariaDB has no nan and no infinity")
    found = widths(table)
    listed = ", ".join(f'"{f.name}" {stored_as(f.type, found.get(f.name))}' for f in table.schema)
    with server().connect() as connection, connection.cursor() as cursor:
        cursor.execute(f'CREATE TABLE clinic."{name}" ({listed}) CHARACTER SET utf8mb4')
        for batch in table.to_batches():
            for values in inserts(batch):
                cursor.execute(f'INSERT INTO clinic."{name}" VALUES {values}')
    truths = tuple(Field(f.name, ColumnType.BOOLEAN) for f in table.schema if pa.types.is_boolean(f.type))
    return Source(database=Address.parse(server().address()), table=name, fields=truths)


def target(kind: str, folder: Path, options: Mapping[str, Any]) -> Sink:
    """A new table."""
    chosen = {k: v for k, v in options.items() if k != "name"}
    name = options.get("name") or f"out{next(_numbers)}"
    return Sink(database=Address.parse(server().address()), table=name, **chosen)


MARIADB = EngineUnderTest(
    "mariadb", sources=("memory",), typed=("memory",), sinks=("memory",), put=put, target=target
)  # fmt: skip
