"""``velado inspect``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from velado import inspect_table
from velado.cli.reading import AS_FOUND, Reading, reads_tables
from velado.cli.terminal import (
    JSON,
    out,
    plain,
    print_json,
    progress,
    say,
    show_notes,
)
from velado.dates import formats_of


@reads_tables
def command(
    table: Annotated[Path, typer.Argument(help="The table to look at.")],
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Show types, missing values, who is singled out, and suggested roles."""
    with progress() as report:
        seen = inspect_table(read(table), report)
    if json:
        print_json(seen.as_dict())
        return
    show_notes(seen.notes)
    d = seen.dialect
    written = f" (delimiter {d['delimiter']!r}, {d['encoding']})" if d else ""
    say(f"[bold]{plain(table)}[/]: {seen.rows:,} records, {len(seen.columns)} columns{written}")
    say()
    shown = Table(box=None, pad_edge=False)
    for name, right in (("column", False), ("type", False), ("values", True), ("missing", True), ("singled out", True)):
        shown.add_column(name, justify="right" if right else "left", overflow="fold")
    shown.add_column("suggested role", no_wrap=True)
    shown.add_column("because", overflow="fold")
    for c in seen.columns:
        kind = " ".join([c.type, *([" or ".join(formats_of(c.format))] if c.format else [])])
        lacking = f"{c.missing:,}" + (f" + {' '.join(c.markers)}" if c.markers else "")
        shown.add_row(
            plain(c.name), kind, f"{c.distinct:,}", lacking, f"{c.singled_out:,}", c.role or "(decide)", c.reason
        )
    out.print(shown)
    if seen.unit:
        kind, column = seen.unit
        say()
        say(f"[bold]Several rows of one {kind}[/], it seems: {plain(f'{kind}: {column}')}")
    generalized = [c for c in seen.columns if c.generalizations]
    if generalized:
        say()
        say("[bold]Sample generalizations[/]")
        for c in generalized:
            say(plain(f"  {c.name}: " + " → ".join(c.generalizations)))
    twins = [c for c in seen.columns if c.twins.groups]
    if twins:
        say()
        say("[bold]Spelling twins[/] (judged as one value in sensitive columns, unless 'twins: distinct')")
        for c in twins:
            shown_groups = "; ".join(
                " = ".join("(missing)" if v is None else repr(v) for v in group) for group in c.twins.examples
            )
            more = "; …" if c.twins.examples and c.twins.groups > len(c.twins.examples) else ""
            found = f"{c.twins.spellings:,} spellings of {c.twins.groups:,} values"
            say(plain(f"  {c.name}: {found}" + (f": {shown_groups}{more}" if shown_groups else "")))
    if seen.combinations:
        say()
        say("[bold]Columns that together single out the most records[/]")
        for columns, count in seen.combinations:
            say(f"  {count:>8,}  ({count / seen.rows:.1%})  {plain(' + '.join(columns))}")
    say()
    say(f"Next: velado init {plain(shlex.quote(str(table)))} {plain(read.arguments)}".rstrip())
