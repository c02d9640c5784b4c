"""How kernels are compiled: without the interpreter lock, and cached on disk (see `folder`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import config

from velado.kernels.folder import CACHE_FOLDER

_settings: Any = config
_njit: Any = numba.njit


def _stored(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    def decorate(function: Callable[..., Any]) -> Any:
        before = _settings.CACHE_DIR
        _settings.CACHE_DIR = str(CACHE_FOLDER)
        try:
            return _njit(cache=True, **_COMMON, **options)(function)
        finally:
            _settings.CACHE_DIR = before

    return decorate


_COMMON: dict[str, Any] = {"nogil": True, "boundscheck": False, "error_model": "numpy", "no_cfunc_wrapper": True}
# Kernels pass each other dozens of arrays. Compiling the count of their references, and the door for Python's objects,
# takes longer than compiling the loops. Always said: what is left open is taken over from whoever calls.
_INSIDE: dict[str, Any] = {"no_cpython_wrapper": True, "_nrt": False}

kernel = _stored(_nrt=True)
"""Decorator of what Python calls."""

helper = _njit(**_COMMON, **_INSIDE)
"""Decorator of what only kernels call. It allocates nothing: whoever calls it brings scratch."""

allocating_helper = _njit(no_cpython_wrapper=True, _nrt=True, **_COMMON)
"""Decorator of a helper that makes arrays of its own."""

shared_helper = _stored(**_INSIDE)
"""Decorator of a helper that several kernels contain: the second one finds it compiled."""
