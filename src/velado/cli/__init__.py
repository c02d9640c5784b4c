"""The command line: one file per command; commands call only the public API."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import typer

from velado.cli import check, demo, hierarchy, init, inspect, run, study
from velado.cli.terminal import fail
from velado.errors import VeladoError

app = typer.Typer(
    help="Anonymize tables about people, prove it, and show what it cost.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run.command)
app.command("check")(check.command)
app.command("inspect")(inspect.command)
app.command("init")(init.command)
app.command("hierarchy")(hierarchy.command)
app.command("demo")(demo.command)
app.command("study")(study.command)


class Terminated(KeyboardInterrupt):
    """The process was asked to end; temporary files are removed on the way out."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def main() -> None:
    """Entry point: exit codes 0 done, 1 no solution, 2 bad input, 130/143 interrupted."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app(standalone_mode=False)
    except VeladoError as error:
        sys.exit(fail(error))
    except Terminated:
        print("Terminated; nothing was written.", file=sys.stderr)
        sys.exit(143)
    except (KeyboardInterrupt, typer.Abort):
        print("Interrupted; nothing was written.", file=sys.stderr)
        sys.exit(130)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except Exception as error:
        # Usage errors of the argument parser know how to show themselves.
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        sys.exit(2)
