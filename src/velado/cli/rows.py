"""Rows of a table on the terminal: what ``run --show`` prints."""

from __future__ import annotations

from rich.table import Table

from velado.cli.terminal import out, plain, say
from velado.project import Project
from velado.questions.rows import FirstRows, rows_after

ORDERS = {
    "shuffle": "Rows of the release are shuffled: they do not correspond to those before.",
    "sorted": "Rows of the release are sorted: they do not correspond to those before.",
    "keep": "Rows of the release are in the order of the table; suppressed ones may be missing.",
}
"""What the order of the release means for who compares rows."""


def show(project: Project, before: FirstRows, count: int, name: str = "") -> None:
    """Print the first rows of a table and of its release."""
    say()
    if name:
        say("[bold]Before: {name}[/], the first {rows:,} rows", name=name, rows=len(before.rows))
    else:
        say("[bold]Before[/], the first {rows:,} rows", rows=len(before.rows))
    _print(before)
    if before.hidden:
        say("Not shown, because they may identify people: {columns}", columns=", ".join(before.hidden))
    after = rows_after(project, count)
    say()
    if name:
        say("[bold]After: {name}[/], the first {rows:,} rows", name=name, rows=len(after.rows))
    else:
        say("[bold]After[/], the first {rows:,} rows", rows=len(after.rows))
    _print(after)
    say(ORDERS[project.output.order])


def _print(shown: FirstRows) -> None:
    drawn = Table(box=None, pad_edge=False)
    for column in shown.columns:
        drawn.add_column(plain(column), overflow="fold")
    for row in shown.rows:
        drawn.add_row(*("" if cell is None else plain(_line(cell)) for cell in row))
    out.print(drawn)


def _line(text: str) -> str:
    """A cell in one line, without characters that steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)
