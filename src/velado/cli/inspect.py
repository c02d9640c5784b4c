"""``velado inspect``."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer
from rich.table import Table

from velado.cli.language import translate_plain
from velado.cli.table_options import AS_FOUND, TABLE, Reading, reads_tables
from velado.cli.terminal import JSON, figure, label, out, plain, print_json, progress, say, show_notes, translate
from velado.dates import formats_of
from velado.questions.inspect import inspect_source
from velado.sentences import Sentence


@reads_tables
def command(
    table: Annotated[TABLE, typer.Argument(help="The table to look at.")], read: Reading = AS_FOUND, json: JSON = False
) -> None:
    """Show types, missing values, who is singled out, and suggested roles."""
    source = read(table)
    with progress() as report:
        _, seen = inspect_source(source, report)
    if json:
        print_json(seen.as_dict())
        return
    show_notes(seen.notes)
    d = seen.dialect
    written = Sentence(" (delimiter {delimiter!r}, {encoding})", delimiter=d["delimiter"], encoding=d["encoding"]) if d else ""
    say(
        "[bold]{name}[/]: {rows:,} records, {columns} columns{written}",
        name=source.name,
        rows=seen.rows,
        columns=len(seen.columns),
        written=written,
    )
    say()
    shown = Table(box=None, pad_edge=False)
    for name in (Sentence("column"), Sentence("type")):
        shown.add_column(translate(name), overflow="fold")
    for name in (Sentence("values"), Sentence("missing"), Sentence("singled out")):
        shown.add_column(translate(name), justify="right", overflow="fold")
    shown.add_column(translate("suggested role"), no_wrap=True)
    shown.add_column(translate("because"), overflow="fold")
    for c in seen.columns:
        kind = " ".join([translate_plain(c.type), *([translate_plain(" or ").join(formats_of(c.format))] if c.format else [])])
        lacking = figure(c.missing) + (f" + {' '.join(c.markers)}" if c.markers else "")
        role = label("role", c.role) if c.role else translate("(decide)")
        shown.add_row(
            plain(c.name), kind, figure(c.distinct), lacking, figure(c.singled_out), role, plain(translate_plain(c.reason))
        )
    out.print(shown)
    if seen.unit:
        kind, column = seen.unit
        say()
        say("[bold]Several rows of one {what}[/], it seems: {kind}: {column}", what=Sentence(kind), kind=kind, column=column)
    generalized = [c for c in seen.columns if c.generalizations and c.role == "quasi-identifier"]
    if generalized:
        say()
        say("[bold]Sample generalizations[/]")
        for c in generalized:
            say("  {column}: {examples}", column=c.name, examples=" → ".join(c.generalizations))
    variants = [c for c in seen.columns if c.variants.groups]
    if variants:
        say()
        say("[bold]Spelling variants[/] (judged as one value in sensitive columns, unless 'variants: distinct')")
        for c in variants:
            shown_groups = "; ".join(
                " = ".join(translate_plain("(missing)") if v is None else repr(v) for v in group) for group in c.variants.examples
            )
            more = "; …" if c.variants.examples and c.variants.groups > len(c.variants.examples) else ""
            say(
                "  {column}: {spellings:,} spellings of {values:,} values{examples}",
                column=c.name,
                spellings=c.variants.spellings,
                values=c.variants.groups,
                examples=f": {shown_groups}{more}" if shown_groups else "",
            )
    if seen.combinations:
        say()
        say("[bold]Columns that together single out the most records[/]")
        for columns, count in seen.combinations:
            say("  {n:>8,}  ({share:.1%})  {columns}", n=count, share=count / seen.rows, columns=" + ".join(columns))
    say()
    again = f"{shlex.quote(table)} {read.arguments}".rstrip()
    say("Next: velado init {arguments}", arguments=again)
