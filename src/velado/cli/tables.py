"""``velado tables``."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer
from rich.table import Table

from velado.cli.table_options import TABLE
from velado.cli.terminal import JSON, figure, out, plain, print_json, progress, say, translate
from velado.questions import list_tables
from velado.sentences import Sentence

MANY = 12
"""Columns of a table that are listed in one line."""
KINDS = {"table": Sentence("table"), "view": Sentence("view")}
UNITS = ("B", "kB", "MB", "GB", "TB")


def command(
    database: Annotated[TABLE, typer.Argument(help="Address of a database, or file of SQLite or DuckDB.")],
    columns: Annotated[bool, typer.Option("--columns", help="List all columns with their types.")] = False,
    json: JSON = False,
) -> None:
    """List the tables and views of a database: columns, types, about how many rows."""
    with progress() as report:
        found = list_tables(database, report)
    if json:
        print_json(found.as_dict())
        return
    say("[bold]{name}[/]: {tables:,} tables and views", name=found.database, tables=len(found.tables))
    if not found.tables:
        return
    say()
    shown = Table(box=None, pad_edge=False)
    shown.add_column(translate("table"), overflow="fold")
    shown.add_column("")
    for name in (Sentence("rows, about"), Sentence("size")):
        shown.add_column(translate(name), justify="right")
    shown.add_column(translate("columns"), overflow="fold")
    for t in found.tables:
        named = [f"{c.name} ({c.type})" for c in t.columns]
        more = [] if columns or len(named) <= MANY else ["…"]
        listed = ", ".join(named if not more else named[:MANY] + more)
        shown.add_row(plain(t.full_name), translate(KINDS.get(t.kind, t.kind)), figure(t.rows), size(t.bytes), plain(listed))
    out.print(shown)
    say()
    address = database.partition("#")[0]
    say("Next: velado inspect {address}", address=shlex.quote(f"{address}#{found.tables[0].full_name}"))


def size(size: int | None) -> str:
    """Bytes for people."""
    if size is None:
        return figure(None)
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{figure(round(amount, 1) if amount < 10 and unit else round(amount))} {UNITS[unit]}"
