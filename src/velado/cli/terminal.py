"""What all commands share: progress, JSON and errors."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from velado import InputError, VeladoError
from velado.cli import signals
from velado.cli.language import current, translate_plain
from velado.errors import FULL, Note, disk_full
from velado.progress import Progress, Step
from velado.sentences import Sentence, into, localize_number

if TYPE_CHECKING:
    from velado import Release
    from velado.release import Arrived, LightRelease

VARIANTS = Annotated[
    str, typer.Option(help="fold: spellings of one sensitive value, such as HIV and hiv, count as one; or distinct.")
]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
FORCE = Annotated[bool, typer.Option("--force", help="Replace files in the folder that Velado did not write.")]
PIPE_WIDTH = 200
UNBOUND = 100_000
LONG_WORD = 20
"""Columns of text that a narrow table never breaks."""
PERSON = Annotated[str | None, typer.Option(help="Column whose equal values are one person's rows: k and risk then count people.")]


for _name in ("stdout", "stderr"):
    if getattr(sys, _name) is None:
        # Closed: the first file that is opened would take its place, and get what is printed.
        setattr(sys, _name, open(os.devnull, "w"))  # noqa: SIM115


class Terminal(Console):
    """A console whose reader may go away: what it would show is lost, the work goes on. It cuts no figure of a table."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; a table that is too wide gets narrow gaps and headers of several lines, then lines beyond the edge."""
        unbound = self.options.update(max_width=UNBOUND)
        wide = [x for x in objects if isinstance(x, Table) and Measurement.get(self, unbound, x).maximum > self.width]
        for table in wide:
            table.collapse_padding = True
            for column in table.columns:
                column.overflow = "fold"
                column.min_width = min(LONG_WORD, max(map(self._longest_word, (column.header, *column.cells)), default=0))
        super().print(*objects, **({**options, "crop": False} if wide else options))

    def _longest_word(self, cell: Any) -> int:
        words = self.render_str(cell).plain.split(" ") if isinstance(cell, str) else []
        return max(map(cell_len, words), default=0)

    def on_broken_pipe(self) -> None:
        """Not an exit: the command has its own exit code."""
        self.quiet = True
        silence(self.file)


def silence(stream: IO[str]) -> None:
    """Let a stream lead nowhere, so that what it still holds does not fail at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def unheard(error: BaseException) -> int | None:
    """The exit code if an error is that the result could not be told; None if it is another."""
    if not isinstance(error, OSError):
        return None
    if isinstance(error, BrokenPipeError):
        silence(sys.stdout)
        return 0
    if signals.has_published():
        silence(sys.stdout)
        why = Sentence(str(error.strerror))
        print(translate_plain("Published, but the summary could not be written: {why}", why=why), file=sys.stderr)
        return 0
    if error.errno in FULL:
        silence(sys.stdout)
        return fail(disk_full())
    return None


_bars: list[Any] = []
out = Terminal(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def say(sentence: str = "", /, **places: Any) -> None:
    """Print a line in the user's language; it may be longer than the terminal is wide.

    The sentence may have markup, as in ``say("[bold]{name}[/]: {rows:,} records", name=…, rows=…)``; what fills its places
    has none.
    """
    out.print(translate(sentence, **places), soft_wrap=True)


def translate(sentence: str, /, **places: Any) -> str:
    """A sentence with markup in the user's language; brackets in its places mean brackets."""
    code = current().code
    shown = {name: value if isinstance(value, (int, float)) else plain(into(value, code)) for name, value in places.items()}
    return Sentence(sentence, **shown).into(code)


def plain(text: object) -> str:
    """A text of the user's in which brackets mean brackets."""
    return escape(str(text))


def names(text: str | None) -> list[str]:
    """Names separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


def files(options: list[str] | None, name: str) -> dict[str, dict[str, str]]:
    """Hierarchy files by column, from options COLUMN=FILE."""
    found = {}
    for option in options or []:
        column, sign, path = option.partition("=")
        if not sign or not path:
            raise InputError("bad-option", Sentence("{option} takes COLUMN=FILE, got {got!r}", option=name, got=option))
        found[column] = {"file": path}
    return found


def table(title: str, lines: Iterable[Sequence[Any]], header: Sequence[str] = ()) -> None:
    """Print a small table under a bold title: first column to the left, figures to the right."""
    cells = [[plain(figure(cell)) for cell in line] for line in lines]
    shown = Table(box=None, pad_edge=False, show_header=bool(header))
    for i in range(max((len(line) for line in cells), default=len(header))):
        shown.add_column(translate(header[i]) if i < len(header) else "", justify="left" if i == 0 else "right")
    for line in cells:
        shown.add_row(*line)
    say()
    out.print(f"[bold]{translate(title)}[/]", soft_wrap=True)
    out.print(shown)


def show_notes(notes: Iterable[Note]) -> None:
    """Print what a user should know beside the result."""
    for note in notes:
        say("[bold yellow]Note:[/] {note}", note=note.text(current().code))


def show_files(release: Release | LightRelease | Arrived) -> None:
    """Print where a release is, if it was written."""
    if release.output is not None:
        say()
        say("Release:  {file}", file=release.output)
        say("Manifest: {file}", file=release.manifest_path)
        if release.private_path is not None:
            say("Private:  {file}", file=release.private_path)


def print_json(data: dict[str, Any]) -> None:
    """One object, in full precision."""
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False, default=str)
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)


def fail(error: VeladoError) -> int:
    """Show an error and return its exit code."""
    code = current().code
    if "--json" in sys.argv:
        print_json(error.as_dict(code))
    console = Terminal(stderr=True, highlight=False, soft_wrap=True)
    message, _, hint = error.text(code).partition("\n")
    console.print(translate("[bold red]Error:[/] {message}", message=message))
    if hint:
        console.print(plain(hint), style="dim")
    return error.exit_code


@contextmanager
def progress() -> Iterator[Progress]:
    """The progress of a command; it draws one bar on standard error, in the user's language, and only on a terminal."""
    console = Terminal(stderr=True)
    if not console.is_terminal:
        yield Progress(lambda step: signals.check())
        return
    from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    words = current()
    bar = Bar(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with bar, _show_bar(bar):
        task = bar.add_task(plain(Step("start", 0.0).text(words.code)), total=1.0)

        def draw(step: Step) -> None:
            signals.check()
            counted = "" if step.total is None else f" {words.integer(step.done or 0)} / {words.integer(step.total)}"
            bar.update(task, description=plain(step.text(words.code) + counted), completed=step.share)

        yield Progress(draw)


@contextmanager
def _show_bar(bar: Any) -> Iterator[None]:
    _bars.append(bar)
    try:
        yield
    finally:
        _bars.remove(bar)


@contextmanager
def without_bar() -> Iterator[None]:
    """While somebody types, no progress is drawn."""
    for bar in _bars:
        bar.stop()
    yield
    for bar in _bars:
        bar.start()


def percent(share: float, digits: int = 2) -> str:
    """A share in per cent with so many decimals, in the user's language."""
    return localize_number(f"{share:.{digits}%}", current().code)


def label(group: str, name: str) -> str:
    """A word of project files in the user's language; in English it is that word."""
    words = current()
    return name if words.code == "en" else words.label(group, name)


def verdict(satisfied: bool) -> Sentence:
    """Whether a model holds."""
    return Sentence("holds") if satisfied else Sentence("fails")


def parameters(given: Mapping[str, Any]) -> str:
    """Names and values in one line, such as ``k = 5, column = age``."""
    # What a column is called says its owner.
    shown = {n: Sentence(v) if isinstance(v, str) and n != "column" else v for n, v in given.items()}
    return ", ".join(f"{translate_plain(name)} = {figure(value)}" for name, value in shown.items())


def figure(value: Any) -> str:
    """A number for people, or a text, in the user's language."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    code = current().code
    if isinstance(value, float):
        text = f"{value:,.4f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:,.0f}"
        return localize_number(text, code)
    if isinstance(value, int):
        return localize_number(f"{value:,}", code)
    return into(value, code)
