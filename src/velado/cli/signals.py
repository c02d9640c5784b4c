"""Being asked to stop: temporary files are removed on the way out, and the exit code says what is published."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from velado.cli.language import translate_plain
from velado.sentences import Sentence
from velado.tables.publication import publish as writing
from velado.tables.publication.private import remove_mine
from velado.tables.publication.uninterrupted import SIGNALS


class Stopped(BaseException):
    """A signal asked the process to end.

    Not a KeyboardInterrupt: libraries turn that into other things.
    """


received: list[int] = []
_several: list[None] = []
_stopping: list[None] = []


def _stop(number: int, frame: FrameType | None) -> None:
    received.append(number)
    if has_published() and len(received) == 1:
        # All that is left is to say so, which whoever reads the output waits for. The second signal stops that, too.
        return
    if not _stopping:
        _stopping.append(None)
        if _compiling(frame):
            remove_mine()
            os._exit(farewell())
        # Foreign code in which the exception surfaces may print it; only `farewell` speaks from here on.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        raise Stopped


def has_published() -> bool:
    """Whether the command has published what it was to publish."""
    return bool(writing.latest) and not _several


@contextmanager
def several() -> Iterator[None]:
    """For commands that publish one thing after another: until the end, what is published is not all."""
    _several.append(None)
    yield
    _several.clear()


def _compiling(frame: FrameType | None) -> bool:
    """Whether the compiler is at work: an exception in the middle of it can leave broken memory behind."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(("numba.", "llvmlite.")):
            return True
        frame = frame.f_back
    return False


def leave(number: int) -> None:
    """End at once, for a command that has not ended since a signal came, unless something else handles that now."""
    telling = has_published() and not _stopping
    if signal.getsignal(number) is _stop and not telling:
        if not received:
            received.append(number)
        remove_mine()
        os._exit(farewell())


def check() -> None:
    """Stop now if a signal came while foreign code was running, which swallows exceptions."""
    if received:
        raise Stopped


def farewell() -> int:
    """Say what was published, show the cursor again, and return the exit code: 0 if that is everything."""
    word = Sentence("Interrupted") if received[0] == signal.SIGINT else Sentence("Terminated")
    files = ", ".join(str(p) for p in writing.latest)
    told = (
        translate_plain("{word} after publishing {files}.", word=word, files=files)
        if files
        else translate_plain("{word}; nothing was published.", word=word)
    )
    stream = sys.__stderr__
    if stream is not None:
        cursor = "\x1b[?25h" if stream.isatty() else ""
        stream.write(f"{cursor}{told}\n")
        stream.flush()
    return 0 if has_published() else 128 + received[0]


def install() -> None:
    """Handle interruption, termination and hang-up of a command that begins now."""
    for state in (received, _several, _stopping, writing.latest):
        state.clear()
    for number in SIGNALS:
        signal.signal(number, _stop)
    shown = sys.unraisablehook

    def quiet(problem: Any) -> None:
        # A full disk, too, is told once, and not by every object that tries to write again.
        if not isinstance(problem.exc_value, (Stopped, OSError)):
            shown(problem)

    sys.unraisablehook = quiet


def finish() -> None:
    """The command is over: nothing can be stopped any more."""
    for number in SIGNALS:
        signal.signal(number, lambda number, frame: None)
