"""``velado init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import InputError, Project, inspect_table
from velado.cli import warming
from velado.cli.language import current
from velado.cli.reading import AS_FOUND, Reading, reads_tables
from velado.cli.terminal import progress, say, show_notes
from velado.project.template import project_text
from velado.questions.suggest import suggest
from velado.tables.publication.publish import published


@reads_tables
def command(
    table: Annotated[Path, typer.Argument(help="The table to describe.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Project file to write.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing project file.")] = False,
    read: Reading = AS_FOUND,
) -> None:
    """Write a commented project file from what the table looks like."""
    target = output or table.with_suffix(".yaml")
    if target.exists() and not force:
        raise InputError("file-exists", "the project file exists already", file=target, hint="Use --force or --output.")
    source = read(table)
    warming.begin()
    with progress() as report:
        seen = inspect_table(source, report.part(0, 0.3))
        found = suggest(source, report.part(0.3, 1), inspection=seen)
    show_notes(seen.notes)
    text = project_text(seen, found, source, target, current().code)
    with published([target]) as (place,):
        place.write_text(text, encoding="utf-8")
        # Names of columns may hold what no project file can.
        Project.load(place)
    say("Wrote {file}. Read it, correct the roles, then: velado run {file}", file=target)
