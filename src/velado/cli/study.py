"""``velado study``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from velado.cli import signals
from velado.cli.language import current, translate_plain
from velado.cli.terminal import FORCE, JSON, out, print_json, progress, say, translate
from velado.sentences import Sentence
from velado.studies import STUDIES, data_folder, study
from velado.studies.comparison import Compared

LONG = 60


def command(
    name: Annotated[str, typer.Argument(help=Sentence("One of: {names}", names=", ".join(STUDIES)))],
    data: Annotated[Path | None, typer.Option(help="Folder with the data; default VELADO_DATA or ../shared/data.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder for the results; default results/NAME.")] = None,
    rows: Annotated[
        int | None, typer.Option(min=100, max=5_000_000, help="Records of a synthetic data set (unilab, anonylitics).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of a synthetic data set (unilab, anonylitics, ucm).")] = None,
    force: FORCE = False,
    json: JSON = False,
) -> None:
    """Reproduce a published experiment: published and obtained figures side by side."""
    run = study(name)
    folder = output or Path("results") / name
    given = {k: v for k, v in (("rows", rows), ("seed", seed)) if v is not None}
    with progress() as report, signals.several():
        result = run(data_folder(data), folder, report, force=force, language=current().code, **given)
    if json:
        shown = [
            {
                "configuration": c.configuration,
                "figure": c.figure,
                "published": c.published,
                "obtained": c.obtained,
                "agrees": c.agrees,
                **({"why": c.why} if c.why else {}),
            }
            for c in result.compared
        ]
        print_json(
            {
                "study": name,
                "title": result.title,
                "figures": shown,
                "differing": len(result.differences),
                "notes": list(result.notes),
                "files": [str(f) for f in result.files],
            }
        )
        return
    say("[bold]{title}[/]", title=translate_plain(result.title))
    shown_table = Table(box=None, pad_edge=False)
    for column in (Sentence("configuration"), Sentence("figure")):
        shown_table.add_column(translate(column))
    for column in (Sentence("published"), Sentence("obtained")):
        shown_table.add_column(translate(column), justify="right")
    shown_table.add_column("")
    shown_table.add_column(translate("why"), overflow="fold")
    previous = ""
    for c in shorten_comparison(result.compared):
        mark = "" if c.agrees is None else "[green]=[/]" if c.agrees else "[bold red]≠[/]"
        shown_table.add_row(
            "" if c.configuration == previous else translate_plain(c.configuration),
            translate_plain(c.figure),
            _cell(c.published),
            _cell(c.obtained),
            mark,
            translate_plain(c.why),
        )
        previous = c.configuration
    out.print(shown_table)
    compared = sum(c.agrees is not None for c in result.compared)
    if compared:
        say("{same} of {all} published figures come out.", same=compared - len(result.differences), all=compared)
    for note in result.notes:
        say("- {note}", note=translate_plain(note))
    say("Files: {folder} ({n})", folder=folder, n=len(result.files))


def shorten_comparison(compared: Sequence[Compared]) -> Iterator[Compared]:
    """Of a long configuration only what differs, and how much agrees; the files have all of it."""
    for configuration, group in groupby(compared, key=lambda c: c.configuration):
        figures = list(group)
        if len(figures) <= LONG:
            yield from figures
            continue
        yield from (c for c in figures if c.agrees is False)
        agree = sum(c.agrees is True for c in figures)
        yield Compared(configuration, Sentence("… {n} agree, see comparison.csv", n=agree), None, None, None)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return translate_plain("{x:.12g}", x=value) if isinstance(value, float) else translate_plain(str(value))
