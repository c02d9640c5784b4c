"""``velado inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from velado import inspect_table
from velado.cli.terminal import DELIMITER, ENCODING, JSON, MISSING, QUOTE, SHEET, out, print_json, source


def command(
    table: Annotated[Path, typer.Argument(help="The table to look at.")],
    delimiter: DELIMITER = None,
    quote: QUOTE = None,
    encoding: ENCODING = None,
    missing: MISSING = None,
    sheet: SHEET = None,
    json: JSON = False,
) -> None:
    """Show types, missing values, who is singled out, and suggested roles."""
    seen = inspect_table(source(table, delimiter, quote, encoding, missing, sheet))
    if json:
        print_json(seen.as_dict())
        return
    d = seen.dialect
    read = f" (delimiter {d['delimiter']!r}, {d['encoding']})" if d else ""
    out.print(f"[bold]{table}[/]: {seen.rows:,} records, {len(seen.columns)} columns{read}")
    out.print()
    shown = Table(box=None, pad_edge=False)
    for name, right in (("column", False), ("type", False), ("values", True), ("missing", True), ("singled out", True)):
        shown.add_column(name, justify="right" if right else "left")
    shown.add_column("suggested role")
    shown.add_column("because")
    for c in seen.columns:
        kind = f"{c.type} {c.format}" if c.format else c.type
        lacking = f"{c.missing:,}" + (f" + {' '.join(c.markers)}" if c.markers else "")
        shown.add_row(c.name, kind, f"{c.distinct:,}", lacking, f"{c.singled_out:,}", c.role, c.reason)
    out.print(shown)
    generalized = [c for c in seen.columns if c.generalizations]
    if generalized:
        out.print()
        out.print("[bold]Sample generalizations[/]")
        for c in generalized:
            out.print(f"  {c.name}: " + " → ".join(c.generalizations).replace("[", "\\["))
    if seen.combinations:
        out.print()
        out.print("[bold]Columns that together single out the most records[/]")
        for columns, count in seen.combinations:
            out.print(f"  {count:>8,}  ({count / seen.rows:.1%})  {' + '.join(columns)}")
    out.print()
    out.print(f"Next: velado init {table}")
