"""``velado check``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from velado import check
from velado.cli import warming
from velado.cli.classes import ALL, CSV, FIRST, TOP, show, write
from velado.cli.reading import AS_FOUND, Reading, reads_tables
from velado.cli.terminal import (
    JSON,
    PERSON,
    TWINS,
    figure,
    files,
    names,
    out,
    percent,
    print_json,
    progress,
    say,
    told,
)
from velado.sentences import Sentence

MEANINGS = {
    "l_distinct": "distinct ℓ-diversity",
    "l_entropy": "entropy ℓ-diversity",
    "c": "recursive (c,ℓ)-diversity: smallest c",
    "t_equal": "t-closeness, equal distance",
    "t_ordered": "t-closeness, ordered distance",
    "t_hierarchical": "t-closeness, hierarchical distance",
    "delta": "δ-disclosure (base 2)",
    "delta_e": "δ-disclosure (base e)",
    "beta": "β-likeness, basic",
    "beta_enhanced": "β-likeness, enhanced",
    "alpha": "(α,k)-anonymity: α",
}


@reads_tables
def command(
    table: Annotated[Path, typer.Argument(help="The table to check.")],
    qi: Annotated[str, typer.Option(help="Quasi-identifiers, separated by commas.")],
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    l: Annotated[int, typer.Option(help="The ℓ for which the recursive c is given.")] = 2,  # noqa: E741
    tree: Annotated[
        list[str] | None, typer.Option(help="COLUMN=FILE: hierarchy for the hierarchical distance.")
    ] = None,
    person: PERSON = None,
    twins: TWINS = "fold",
    classes: Annotated[
        bool, typer.Option("--classes", help="Show the figures of every class, smallest first.")
    ] = False,
    top: TOP = None,
    all: ALL = False,
    csv: CSV = None,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Say which privacy models a table satisfies as it is, and to which degree."""
    warming.begin()
    listed = classes or all or top is not None
    with progress() as report:
        result = check(
            read(table), names(qi), names(sensitive), l=l, trees=files(tree, "--tree"), person=person, twins=twins,
            classes=listed or csv is not None, progress=report,
        )  # fmt: skip
    each = result.class_figures
    if csv is not None and each is not None:
        write(each, csv, table)
    if json:
        print_json((result if listed else replace(result, class_figures=None)).as_dict())
        return
    size = result.class_size
    say(
        "[bold]{name}[/]: {rows:,} records in {classes:,} classes", name=table, rows=result.rows, classes=result.classes
    )
    shown = Table(box=None, pad_edge=False, show_header=False)
    shown.add_row(told("k-anonymity"), told("k = {k:,}", k=result.k))
    shown.add_row(
        told("class sizes"),
        told("{least:,} … {most:,}, mean {mean}", least=size["min"], most=size["max"], mean=figure(size["mean"])),
    )
    shown.add_row(told("records singled out"), figure(result.risk.singled_out_after))
    shown.add_row(
        told("risk: highest, average"),
        told("{highest:.2%}, {average:.2%}", highest=result.risk.highest, average=result.risk.average),
    )
    shown.add_row(told("records at a risk above 10 %"), percent(result.risk.at_risk))
    out.print(shown)
    for column, measures in result.sensitive.items():
        say()
        say("[bold]{column}[/] (sensitive)", column=column)
        shown = Table(box=None, pad_edge=False, show_header=False)
        for name, meaning in MEANINGS.items():
            if name in measures:
                none = {
                    "c": Sentence("none (a class has fewer than {l} values)", l=l),
                    "t_ordered": Sentence("– (the values have no order)"),
                }
                value = measures[name]
                without = none.get(name, Sentence("none is enough"))
                shown.add_row(told(meaning), figure(without if value is None else value))
        out.print(shown)
        if column in result.twins:
            folded = result.twins[column]
            say(
                "{spellings:,} spellings of {values:,} value(s) were judged as one value each "
                "(--twins distinct tells them apart)",
                spellings=folded["spellings"],
                values=folded["values"],
            )
    if listed and each is not None:
        show(each, None if all else top or FIRST)
    if csv is not None and each is not None:
        say()
        say("Wrote {file}: {classes:,} classes", file=csv, classes=len(each))
