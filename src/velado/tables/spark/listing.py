"""Which tables the catalog of a session holds."""

from __future__ import annotations

from contextlib import suppress

from velado.tables.address import TableName
from velado.tables.listing import Listed
from velado.tables.spark.connection import SparkConnection
from velado.tables.sql.stage import OLD, SIDE


def tables_of(connection: SparkConnection) -> list[Listed]:
    """Tables and views of every schema of the catalog that is in use; how many rows they have, nobody knows beforehand."""
    found = []
    with connection.watch():
        catalog = connection.spark.catalog
        for schema in catalog.listDatabases():
            for table in catalog.listTables(schema.name):
                if table.isTemporary or table.name.startswith((SIDE, OLD)):
                    continue
                name = TableName(table.name, schema.name)
                kind = "view" if str(table.tableType).upper() == "VIEW" else "table"
                columns: tuple[tuple[str, str], ...] = ()
                with suppress(*connection.errors):
                    described = connection.spark.table(connection.quote_table(name)).schema.fields
                    columns = tuple((f.name, f.dataType.simpleString()) for f in described)
                found.append(Listed(schema.name, table.name, kind, None, columns))
    return found
