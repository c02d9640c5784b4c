"""``velado init``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from velado import InputError, Project, Source
from velado.cli import kernel_warmup
from velado.cli.init_questions import ask, somebody_is_there
from velado.cli.language import current
from velado.cli.table_options import AS_FOUND, TABLE, Reading, reads_tables
from velado.cli.terminal import progress, say, show_notes
from velado.project import output_of
from velado.project.template import project_text, release_place
from velado.questions.inspect import inspect_source
from velado.questions.suggest import Wishes, suggest
from velado.tables import Session, check_sinks
from velado.tables.publication.publish import publish_files

NAMES = list[str] | None
"""Names of columns, between commas, in one option or several."""


@reads_tables
def command(
    table: Annotated[TABLE, typer.Argument(help="The table to describe.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Project file to write.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing project file.")] = False,
    k: Annotated[int | None, typer.Option("--k", min=2, help="People in every class at least; 5 if not given.")] = None,
    qi: Annotated[
        NAMES,
        typer.Option(
            "--qi",
            help="Columns that others know: quasi-identifiers. Names and patterns such as 'zip_*', separated by commas; repeat the option for more.",
        ),
    ] = None,
    sensitive: Annotated[NAMES, typer.Option("--sensitive", help="Columns that must not be learnt.")] = None,
    never: Annotated[NAMES, typer.Option("--never", help="Sensitive columns that only the person and you know.")] = None,
    keep: Annotated[NAMES, typer.Option("--keep", help="Columns to be published in whatever form is safe.")] = None,
    drop: Annotated[NAMES, typer.Option("--drop", help="Columns to be left out.")] = None,
    person: Annotated[
        str | None, typer.Option("--person", help="The column that says whose rows these are; rows: every row is a person.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing: take the careful answers.")] = False,
    read: Reading = AS_FOUND,
) -> None:
    """Write a commented project file from what the table looks like."""
    said = {"qi": qi, "sensitive": sensitive, "never": never, "keep": keep, "drop": drop}
    wishes = Wishes.of(k, person, **{key: _names(given) for key, given in said.items()})
    source = read(table)
    target = output or _target(source)
    if target.exists() and not force:
        raise InputError("file-exists", "the project file exists already", file=target, hint="Use --force or --output.")
    kernel_warmup.begin()
    with progress() as report:
        source, seen = inspect_source(source, report)
    wishes.of_columns([c.name for c in seen.columns], source.name)
    if somebody_is_there() and not yes:
        wishes = ask(seen, source, wishes)
    with progress() as report:
        found = suggest(source, report, inspection=seen, **wishes.as_arguments())
    show_notes(seen.notes)
    text = project_text(seen, found, source, target, current().code, _beside(source, target))
    with publish_files([target]) as (place,):
        place.write_text(text, encoding="utf-8")
        # Names of columns may hold what no project file can.
        Project.load(place)
    say("Wrote {file}. Read it, correct the roles, then: velado run {file}", file=target)


def _names(given: list[str] | None) -> list[str]:
    """Names of columns between commas."""
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]


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
