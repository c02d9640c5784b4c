"""What a run gave, whatever it was."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from velado.cli import summary
from velado.cli.terminal import say, show_files, show_notes, table
from velado.release import LightRelease, Releases
from velado.sentences import Sentence, join_sentences

UNCHECKED = Sentence(
    "[bold yellow]No privacy model was checked.[/] People may still be singled out by the columns that are left: "
    "velado check tells."
)


@singledispatch
def show(result: Any) -> None:
    """Print what was done, what holds, and where the files are."""
    summary.show(result)


@show.register
def _light(release: LightRelease) -> None:
    done = len(release.operations)
    say(
        "[bold]{name}[/]: {rows:,} records released, operations on {done} column(s)",
        name=release.project,
        rows=release.rows,
        done=done,
    )
    say(UNCHECKED)
    lines = [(name, *_operation_row(operation)) for name, operation in release.operations.items()]
    table("Verified in what was written", lines, ("column", "operation", ""))
    if release.unchanged:
        say()
        say("Published as they are: {columns}", columns=", ".join(release.unchanged))
    show_notes(release.notes)
    show_files(release)


@show.register
def _several(releases: Releases) -> None:
    for release in releases.tables.values():
        show(release)
        say()
        say()
    if releases.joined:
        lines = [(j.attribute, join_sentences(Sentence(" and "), j.tables), j.matching) for j in releases.joined]
        table("Joinable: values in common, as many as before", lines, ("attribute", "tables", "values"))
        say()
        say("Models hold in each table alone. What can be joined can be told apart by the columns of all tables together.")


def _operation_row(operation: dict[str, Any]) -> tuple[str, str]:
    ((name, parameters),) = operation.items()
    return name, ", ".join(f"{k}: {v}" for k, v in parameters.items())
