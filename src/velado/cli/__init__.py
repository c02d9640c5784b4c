"""The command line: one file per command; commands call only the public API."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from velado import __version__
from velado.cli import forced_exit, kernel_warmup, passwords, signals, usage
from velado.cli.commands import LANGUAGE, Commands
from velado.cli.help import App
from velado.cli.language import choose, translate_plain
from velado.cli.terminal import fail, print_json, silence, unheard
from velado.errors import InputError, InternalError, VeladoError
from velado.tables.publication.private import remove_mine

app = App(
    cls=Commands,
    help="Anonymize tables about people, prove it, and show what it cost.",
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False, language: LANGUAGE = None
) -> None:
    if version:
        print(__version__)
        raise typer.Exit


def main() -> None:
    """Entry point: exit codes 0 done, 1 no solution, 2 bad input, 70 internal error, 128 + signal when interrupted."""
    try:
        signals.install()
        forced_exit.install()
        code = _run()
        code = _flush(code)
        signals.finish()
    except SystemExit:
        raise
    except BaseException as error:
        # Also the panics of compiled libraries, which are no Exceptions.
        code = 0 if signals.received else fail(InternalError.of(error))
    finally:
        kernel_warmup.end(finished=not signals.received)
    if signals.received:
        code = signals.farewell()
        remove_mine()
    sys.exit(code)


def _flush(code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError as error:
        return unheard(error) or code
    return code


def _run() -> int:
    try:
        choose()
        passwords.install()
        result = app(prog_name="velado", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except VeladoError as error:
        # Foreign code can turn being asked to stop into an error of its own.
        signals.check()
        return fail(error)
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        print(translate_plain("Aborted; nothing was published."), file=sys.stderr)
        return 130
    except SystemExit:
        # That is how the argument parser and its help say that nobody reads them.
        silence(sys.stdout)
        return 0
    except MemoryError:
        return fail(InputError("out-of-memory", "the memory of this machine is not enough", hint="Take a smaller table."))
    except Exception as error:
        code = unheard(error)
        if code is not None:
            return code
        # Usage errors of the argument parser know how to put themselves.
        if not hasattr(error, "format_message"):
            raise
        if "--json" in sys.argv:
            print_json({"error": {"code": "usage", "message": usage.translate_error(error)}})
        try:
            usage.show(error)
        except BrokenPipeError:
            silence(sys.stderr)
        return 2
