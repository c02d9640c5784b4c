"""``velado check``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer
import yaml
from rich.table import Table

from velado import InputError, check
from velado.cli import kernel_warmup
from velado.cli.classes import ALL, CSV, FIRST, TOP, show, write
from velado.cli.table_options import AS_FOUND, TABLE, Reading, reads_tables
from velado.cli.terminal import JSON, PERSON, VARIANTS, figure, files, names, out, percent, print_json, progress, say, translate
from velado.cli.verdicts import show_verdicts
from velado.evaluation import Check
from velado.models import figure_none, figure_title
from velado.sentences import Sentence


@reads_tables
def command(
    table: Annotated[TABLE, typer.Argument(help="The table to check.")],
    qi: Annotated[str, typer.Option(help="Quasi-identifiers, separated by commas.")],
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    l: Annotated[int, typer.Option(help="The ℓ for which the recursive c is given.")] = 2,  # noqa: E741
    tree: Annotated[list[str] | None, typer.Option(help="COLUMN=FILE: hierarchy for the hierarchical distance.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model to judge, as a project file writes it: '{k-anonymity: {k: 5}}'; may be repeated."),
    ] = None,
    person: PERSON = None,
    variants: VARIANTS = "fold",
    classes: Annotated[bool, typer.Option("--classes", help="Show the figures of every class, smallest first.")] = False,
    top: TOP = None,
    all: ALL = False,
    csv: CSV = None,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Say which privacy models a table satisfies as it is, and to which degree."""
    kernel_warmup.begin()
    source = read(table)
    listed = classes or all or top is not None
    with progress() as report:
        result = check(
            source,
            names(qi),
            names(sensitive),
            l=l,
            trees=files(tree, "--tree"),
            models=[_model(m) for m in model or ()],
            person=person,
            variants=variants,
            classes=listed or csv is not None,
            progress=report,
        )
    each = result.class_figures
    if csv is not None and each is not None:
        write(each, csv, source.path)
    if json:
        print_json((result if listed else replace(result, class_figures=None)).as_dict())
        return
    _show(result, source.name, l)
    if listed and each is not None:
        show(each, None if all else top or FIRST)
    if csv is not None and each is not None:
        say()
        say("Wrote {file}: {classes:,} classes", file=csv, classes=len(each))


def _model(text: str) -> Any:
    """A model as a project file writes it."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise InputError(
            "bad-option",
            Sentence("--model takes a model as a project file writes it, got {text!r}", text=text),
            hint="For example '{k-anonymity: {k: 5}}'.",
        ) from None


def _show(result: Check, name: str, l: int) -> None:  # noqa: E741
    size = result.class_size
    say("[bold]{name}[/]: {rows:,} records in {classes:,} classes", name=name, rows=result.rows, classes=result.classes)
    shown = Table(box=None, pad_edge=False, show_header=False)
    shown.add_row(translate("k-anonymity"), translate("k = {k:,}", k=result.k))
    shown.add_row(
        translate("class sizes"),
        translate("{least:,} … {most:,}, mean {mean}", least=size["min"], most=size["max"], mean=figure(size["mean"])),
    )
    shown.add_row(translate("records singled out"), figure(result.risk.singled_out_after))
    shown.add_row(
        translate("risk: highest, average"),
        translate("{highest:.2%}, {average:.2%}", highest=result.risk.highest, average=result.risk.average),
    )
    shown.add_row(translate("records at a risk above 10 %"), percent(result.risk.at_risk))
    out.print(shown)
    for column, measures in result.sensitive.items():
        say()
        say("[bold]{column}[/] (sensitive)", column=column)
        shown = Table(box=None, pad_edge=False, show_header=False)
        for name, value in measures.items():
            text = figure_none(name, l) if value is None else figure(value)
            shown.add_row(translate(figure_title(name, l)), translate(text))
        out.print(shown)
        if column in result.variants:
            folded = result.variants[column]
            say(
                "{spellings:,} spellings of {values:,} value(s) were judged as one value each (--variants distinct tells them apart)",
                spellings=folded["spellings"],
                values=folded["values"],
            )
    if result.models:
        show_verdicts("Models", result.models)
