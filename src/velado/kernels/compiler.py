"""Kernels are plain Python functions on arrays; their compiled form is made, or loaded from disk, when it pays.

Compiling takes longer than a small table takes in plain Python. So a kernel that nobody has compiled on this machine
runs as it is written, as long as a call is small and all such calls of the process together stay below `PATIENCE`;
then it is compiled. A second process may compile meanwhile (`warm`): what it has done is taken over at once. Both forms
give the same results, bit by bit. Compiled code runs without the interpreter lock and is cached on disk (see `folder`).
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from velado.kernels.compile_cache import CACHE_FOLDER, compiled_before

PATIENCE = 10.0
"""Seconds that a process spends on plain kernels before it compiles."""
LARGEST = 400_000
"""Rows and entries that a call of a plain kernel goes through, at most."""
LOOK = 0.5
"""Seconds between two looks for what another process has compiled."""

_COMMON: dict[str, Any] = {"nogil": True, "boundscheck": False, "error_model": "numpy", "no_cfunc_wrapper": True}
# Kernels pass each other dozens of arrays. Compiling the count of their references, and the door for Python's objects,
# takes longer than compiling the loops. Always said: what is left open is taken over from whoever calls.
_INSIDE: dict[str, Any] = {"no_cpython_wrapper": True, "_nrt": False}

_making = threading.RLock()
_at_work = threading.local()
_waiting: list[Callable[[], None]] = []
_spent = 0.0
_patience = PATIENCE


def set_patience(seconds: float) -> None:
    """Spend at most so many seconds on plain kernels; with 0 everything is compiled."""
    global _patience
    _patience = seconds


def when_loaded(action: Callable[[], None]) -> None:
    """Call this as soon as numba is loaded: now, or before the first kernel is compiled."""
    with _making:
        if "numba.core.event" in sys.modules:
            action()
        else:
            _waiting.append(action)


def prepare() -> None:
    """Load numba now, if there is compiled code."""
    if compiled_before("judge"):
        _numba()


def _numba() -> Any:
    with _making:
        import numba

        while _waiting:
            _waiting.pop()()
        return numba


class Kernel:
    """A function on arrays in two forms: ``plain`` as it is written, and ``compiled_form``.

    Inside compiled kernels it is the compiled one. Called from Python it is the plain one if ``size`` is None, else
    whichever is there, or pays.
    """

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], stored: bool, size: Callable[..., Any] | None
    ) -> None:
        functools.update_wrapper(self, function)
        self.plain = function
        self._options = options
        self._stored = stored
        self._size = size
        self._compiled: Any = None
        self._looked = -np.inf

    @property
    def compiled_form(self) -> Any:
        """The compiled form; loaded or compiled when it is called."""
        with _making:
            if self._compiled is None:
                self._compiled = self._compile()
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        """As what compiled kernels see it."""
        return self.compiled_form._numba_type_

    def _compile(self) -> Any:
        numba = _numba()
        settings: Any = numba.core.config
        before = settings.CACHE_DIR
        settings.CACHE_DIR = str(CACHE_FOLDER)
        try:
            return numba.njit(cache=self._stored, **_COMMON, **self._options)(self.plain)
        finally:
            settings.CACHE_DIR = before

    def ready(self) -> bool:
        """Whether it has been compiled, by this process or by another one."""
        if self._compiled is None and time.perf_counter() >= self._looked + LOOK:
            self._looked = time.perf_counter()
            if compiled_before(self.plain.__name__):
                return self.compiled_form is not None
        return self._compiled is not None

    def __call__(self, *arguments: Any) -> Any:
        """Run whichever form is there, or pays."""
        if self._size is None or (getattr(_at_work, "plainly", False) and not self.ready()):
            return self.plain(*arguments)
        if self.ready() or _spent >= _patience or self._size(*arguments) > LARGEST:
            return self.compiled_form(*arguments)
        return self._plainly(arguments)

    def _plainly(self, arguments: tuple[Any, ...]) -> Any:
        global _spent
        began = time.perf_counter()
        _at_work.plainly = True
        try:
            # Compiled code says nothing either.
            with np.errstate(all="ignore"):
                return self.plain(*arguments)
        finally:
            _at_work.plainly = False
            _spent += time.perf_counter() - began


def kernel(size: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of what Python calls; ``size`` says from the arguments how many rows or entries a call goes through."""
    return lambda function: Kernel(function, {"_nrt": True}, True, size)


def helper(function: Callable[..., Any]) -> Any:
    """Decorator of what only kernels call. It allocates nothing: whoever calls it brings scratch."""
    return Kernel(function, _INSIDE, False, None)


def shared_helper(function: Callable[..., Any]) -> Any:
    """Decorator of a helper that several kernels contain: the second one finds it compiled."""
    return Kernel(function, _INSIDE, True, None)
