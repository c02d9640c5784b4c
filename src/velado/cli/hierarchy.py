"""``velado hierarchy``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from velado import InputError, project_hierarchy
from velado.cli.terminal import progress, say
from velado.sentences import Sentence
from velado.tables.publication.publish import published


def command(
    project: Annotated[Path, typer.Argument(help="Project file.")],
    column: Annotated[str, typer.Argument(help="Column whose hierarchy is wanted.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; standard output if not given.")
    ] = None,
    delimiter: Annotated[str, typer.Option(help="Delimiter of the hierarchy file.")] = ";",
) -> None:
    """Export the hierarchy of a column as a file: leaf;level 1;…;*."""
    if len(delimiter) != 1:
        raise InputError("bad-delimiter", Sentence("the delimiter must be one character, got {got!r}", got=delimiter))
    with progress() as report:
        hierarchy = project_hierarchy(project, column, report)
    if output is None:
        hierarchy.write(sys.stdout, delimiter)
    else:
        with published([output]) as (place,):
            hierarchy.save(place, delimiter)
        say(
            "Wrote {file}: {values:,} values, {levels} levels",
            file=output,
            values=len(hierarchy.leaves),
            levels=hierarchy.levels,
        )
