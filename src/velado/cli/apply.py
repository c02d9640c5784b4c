"""``velado apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import apply
from velado.cli import kernel_warmup
from velado.cli.table_options import AS_FOUND, REPLACE, TABLE, Reading, output_at, reads_tables
from velado.cli.terminal import JSON, figure, out, plain, print_json, progress, say, show_files, show_notes, translate
from velado.cli.verdicts import show_verdicts
from velado.methods.suppression import Suppression
from velado.release import Arrived


@reads_tables
def command(
    recoding: Annotated[Path, typer.Argument(help="The recoding that 'output: {recoding: FILE}' saved.")],
    table: Annotated[TABLE, typer.Argument(help="The new rows.")],
    output: Annotated[TABLE, typer.Option("--output", "-o", help="File to write, or table of a database.")],
    release: Annotated[
        list[str] | None, typer.Option(help="What was published before; the project's output if not given; may be repeated.")
    ] = None,
    project: Annotated[
        Path | None, typer.Option(help="Project file of the release, in the place of the one in the recoding.")
    ] = None,
    suppression: Annotated[
        str | None,
        typer.Option(
            help="How many new rows may be suppressed: a share, or a number such as '3 records'; else as the project says."
        ),
    ] = None,
    unseen: Annotated[
        str,
        typer.Option(
            help="New rows with values that the recoding does not know: refuse, suppress, or place them by the hierarchies."
        ),
    ] = "refuse",
    alone: Annotated[bool, typer.Option("--alone", help="The new rows by themselves must satisfy the models, too.")] = False,
    replace: REPLACE = False,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Recode new rows as an earlier release was, and check the models on old and new rows together."""
    kernel_warmup.begin("lattice")
    with progress() as report:
        found = apply(
            recoding,
            read(table, *(release or ())),
            # Releases are as Velado wrote them, however the new rows are written.
            release=[AS_FOUND.release(one) for one in release] if release else None,
            project=project,
            output=output_at(output, replace),
            suppression=_limit(suppression),
            unseen=unseen,
            alone=alone,
            progress=report,
        )
    if json:
        print_json(found.as_dict())
    else:
        _show(found)


def _limit(text: str | None) -> Suppression | None:
    """A share, or a number with its unit."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _show(found: Arrived) -> None:
    say(
        "[bold]{name}[/]: {released:,} of {rows:,} new rows released, {suppressed:,} suppressed",
        name=found.project,
        released=found.released,
        rows=found.rows,
        suppressed=found.suppressed,
    )
    if found.unplaced:
        say("{rows:,} of them have values that the recoding does not know", rows=found.unplaced)
        for column, values in found.unseen.items():
            out.print(f"  {plain(column)}: {plain(', '.join(map(value_text, values)))}", soft_wrap=True)
    say(
        "together with {earlier:,} records that were released before: {classes:,} classes of {least:,} to {most:,} records",
        earlier=found.earlier,
        classes=found.classes,
        least=int(found.class_size["min"]),
        most=int(found.class_size["max"]),
    )
    say("smallest class among the new rows alone: {size}", size=figure(found.smallest_new))
    show_verdicts("Verified in old and new rows together", found.models)
    show_notes(found.notes)
    show_files(found)


def value_text(value: str) -> str:
    """A value as it is, or the words for a missing one."""
    return translate(value) if value == "(missing)" else value
