"""Equivalence classes with their figures: what ``check --classes`` prints and writes."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from velado.cli.language import current
from velado.cli.terminal import figure, out, plain, say, translate
from velado.errors import InputError, unwritable
from velado.evaluation import ClassFigures
from velado.tables.formats.formulas import guard_formulas
from velado.tables.publication.publish import publish_files

FIRST = 20
TOP = Annotated[int | None, typer.Option(help="How many classes are printed, smallest first; 20 if not given.", min=1)]
ALL = Annotated[bool, typer.Option("--all", help="Print all classes.")]
CSV = Annotated[Path | None, typer.Option("--csv", help="File for all classes with their figures.")]


def show(classes: ClassFigures, most: int | None = FIRST) -> None:
    """Print the first classes with their figures, one table for each sensitive column; all of them if ``most`` is None."""
    left = show_first(classes, most)
    if left:
        say("Not shown: {left:,} of {all:,} classes (--all shows all, --csv FILE writes all)", left=left, all=len(classes))


def show_first(classes: ClassFigures, most: int | None) -> int:
    """Print the tables of the first classes; how many classes are left."""
    shown = classes.take(slice(0, most))
    for column in classes.sensitive or (None,):
        say()
        say("[bold]Classes[/]" if column is None else "[bold]Classes[/]: {column} (sensitive)", column=column)
        out.print(_table(shown, column))
    return len(classes) - len(shown)


def _table(shown: ClassFigures, column: str | None) -> Table:
    words = current()
    figures = {} if column is None else shown.sensitive[column]
    drawn = Table(box=None, pad_edge=False)
    for name in shown.columns:
        drawn.add_column(plain(name))
    people = [] if shown.people is None else [(words.say("people"), shown.people.tolist())]
    counted = [(words.say("records"), shown.sizes.tolist()), *people]
    cells = [[plain(figure(label)) for label in shown.labels(j)] for j in range(len(shown.columns))]
    for header, numbers in counted:
        drawn.add_column(header, justify="right")
        cells.append([figure(n) for n in numbers])
    drawn.add_column(words.say("risk"), justify="right")
    cells.append([translate("{risk:.2%}", risk=r) for r in shown.risk.tolist()])
    for name, array in figures.items():
        drawn.add_column(words.label("class", name, l=shown.l), justify="right")
        cells.append([figure(x) for x in array.tolist()])
    for row in zip(*cells, strict=True):
        drawn.add_row(*row)
    return drawn


def write(classes: ClassFigures, path: Path, source: Path | None) -> None:
    """Write all classes as CSV; labels that a spreadsheet would take for formulas are guarded."""
    if source is not None and path.resolve() == source.resolve():
        raise InputError("output-is-input", "the list of classes would replace the table", file=path, hint="Choose another path.")
    safe = replace(classes, texts=tuple(tuple(guard_formulas(texts)) for texts in classes.texts))
    try:
        with publish_files([path]) as (place,), open(place, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([guard_formulas(safe.header()), *safe.lines()])
    except OSError as error:
        raise unwritable(error, path) from None
