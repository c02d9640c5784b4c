"""``velado init``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from velado import InputError, Project, Source, inspect_table
from velado.cli import warming
from velado.cli.language import current
from velado.cli.reading import AS_FOUND, TABLE, Reading, reads_tables
from velado.cli.terminal import progress, say, show_notes
from velado.project import output_of
from velado.project.template import project_text, release_place
from velado.questions.suggest import suggest
from velado.tables import Session, check_sinks
from velado.tables.publication.publish import published


@reads_tables
def command(
    table: Annotated[TABLE, typer.Argument(help="The table to describe.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Project file to write.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing project file.")] = False,
    read: Reading = AS_FOUND,
) -> None:
    """Write a commented project file from what the table looks like."""
    source = read(table)
    target = output or _target(source)
    if target.exists() and not force:
        raise InputError("file-exists", "the project file exists already", file=target, hint="Use --force or --output.")
    warming.begin()
    with progress() as report:
        seen = inspect_table(source, report.part(0, 0.3))
        found = suggest(source, report.part(0.3, 1), inspection=seen)
    show_notes(seen.notes)
    text = project_text(seen, found, source, target, current().code, _beside(source, target))
    with published([target]) as (place,):
        place.write_text(text, encoding="utf-8")
        # Names of columns may hold what no project file can.
        Project.load(place)
    say("Wrote {file}. Read it, correct the roles, then: velado run {file}", file=target)


def _beside(source: Source, target: Path) -> bool:
    """Whether the user may write a release beside the table that is read."""
    try:
        check_sinks([output_of(release_place(source, target)).sink()], Session())
    except InputError as error:
        return error.code != "no-right"
    return True


def _target(source: Source) -> Path:
    """The project file: beside the table if that is a file, else here."""
    if source.path is not None and source.table is None:
        return source.path.with_suffix(".yaml")
    return Path((re.sub(r"[^\w.-]+", "_", source.stem).strip(".") or "project") + ".yaml")
