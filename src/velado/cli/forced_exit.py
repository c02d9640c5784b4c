"""Ends a command that was asked to stop and does not listen, because compiled code keeps it busy.

Python tells a command of a signal only between two of its own instructions. The engine's planning, a long sort or a
library that reads a file may be one instruction that takes minutes.
"""

from __future__ import annotations

import os
import signal
import threading
import time

from velado.cli import signals

GRACE = 0.5
"""Seconds in which a command may end in good order."""

_watching: list[int] = []


def install() -> None:
    """Watch from now on. The operating system's notice of a signal comes through a pipe, also while Python waits."""
    if _watching or threading.current_thread() is not threading.main_thread():
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    _watching.append(told)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=[heard], name="watchman", daemon=True).start()


def _watch(heard: int) -> None:
    while notice := os.read(heard, 1):
        time.sleep(GRACE)
        signals.leave(notice[0])
