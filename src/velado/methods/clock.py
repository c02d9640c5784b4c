"""How long a search takes, without the compilation of the kernels that it is the first to use."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from velado.kernels import compiler


class Clock:
    """Seconds since it was started, without those in which kernels were compiled or loaded.

    A first run compiles for many seconds, later ones do not: the figure of a search is the same for both.

    >>> Clock().seconds < 1
    True
    """

    def __init__(self) -> None:
        compiler.prepare()
        self._compiling = _listener()
        self._compiled = self._compiling.seconds
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Up to now."""
        passed = time.perf_counter() - self._began
        return max(0.0, passed - (self._compiling.seconds - self._compiled))


class _Compiling:
    """Adds up the time in which some thread compiles or loads a kernel, or waits for one that does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._since = 0.0
        self._total = 0.0

    @property
    def seconds(self) -> float:
        with self._lock:
            return self._total + (time.perf_counter() - self._since if self._depth else 0.0)

    def notify(self, event: Any) -> None:
        """Called by numba when it takes its compiler lock and when it gives that back."""
        with self._lock:
            if event.is_start:
                self._since = self._since if self._depth else time.perf_counter()
                self._depth += 1
            elif self._depth:
                self._depth -= 1
                self._total += 0.0 if self._depth else time.perf_counter() - self._since


_COMPILING = _Compiling()
_begun = threading.Lock()
_listening = False


def _listener() -> _Compiling:
    """The one listener, told by numba; where numba is not loaded, nothing is compiled and it stays at 0."""
    global _listening
    with _begun:
        if not _listening:
            compiler.when_loaded(_listen)
            _listening = True
    return _COMPILING


def _listen() -> None:
    events = sys.modules["numba.core.event"]
    events.Listener.register(_Compiling)
    events.register("numba:compiler_lock", _COMPILING)
