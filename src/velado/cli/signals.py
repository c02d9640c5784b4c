"""Being asked to stop: temporary files are removed on the way out."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any

from velado.engines.leftovers import remove_mine


class Stopped(BaseException):
    """A signal asked the process to end.

    Not a KeyboardInterrupt: libraries turn that into other things.
    """


received: list[int] = []


def _stop(number: int, frame: FrameType | None) -> None:
    if not received:
        received.append(number)
        if _compiling(frame):
            remove_mine()
            os._exit(farewell())
        # Foreign code in which the exception surfaces may print it; only `farewell` speaks from here on.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        raise Stopped


def _compiling(frame: FrameType | None) -> bool:
    """Whether the compiler is at work: an exception in the middle of it can leave broken memory behind."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(("numba.", "llvmlite.")):
            return True
        frame = frame.f_back
    return False


def leave(number: int) -> None:
    """End at once, for a command that has not ended since a signal came, unless something else handles that now."""
    if signal.getsignal(number) is _stop:
        if not received:
            received.append(number)
        remove_mine()
        os._exit(farewell())


def check() -> None:
    """Stop now if a signal came while foreign code was running, which swallows exceptions."""
    if received:
        raise Stopped


def farewell() -> int:
    """Say that nothing was written, show the cursor again, and return the exit code."""
    word = "Interrupted" if received[0] == signal.SIGINT else "Terminated"
    stream = sys.__stderr__
    if stream is not None:
        cursor = "\x1b[?25h" if stream.isatty() else ""
        stream.write(f"{cursor}{word}; nothing was written.\n")
        stream.flush()
    return 128 + received[0]


def install() -> None:
    """Handle interruption, termination and hang-up."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, _stop)
    shown = sys.unraisablehook

    def quiet(problem: Any) -> None:
        if not isinstance(problem.exc_value, Stopped):
            shown(problem)

    sys.unraisablehook = quiet
