"""What must not stop half-way: signals wait for its end, and it goes on when the process is killed."""

from __future__ import annotations

import errno
import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
NEITHER = 255
"""Exit code of a child that could neither do its work nor undo it."""


@contextmanager
def defer_signals() -> Iterator[None]:
    """Signals that come meanwhile are delivered at the end. Only the main thread is ever interrupted by one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers: dict[int, Any] = {}
    try:
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if handler not in (signal.SIG_IGN, None):
                handlers[number] = handler
                signal.signal(number, lambda received, frame: came.append(received))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def apart(work: Callable[[], OSError | None]) -> int | None:
    """Do some work of system calls in a child that outlives this process: 0, the number of its error, or `NEITHER`.

    None if there can be no child, or it was killed.
    """
    try:
        child = os.fork()
    except (AttributeError, OSError):
        return None
    if child == 0:
        code = NEITHER
        try:
            # Objects of libraries whose threads are not here must not be cleaned up.
            gc.disable()
            os.setsid()
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN)
            failed = work()
            code = 0 if failed is None else failed.errno or errno.EIO
        finally:
            os._exit(code)
    try:
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:
        return None
    return ended if ended >= 0 else None
