"""How kernels are compiled: cached on disk, without the interpreter lock.

numba stores compiled code next to the source. Where the package directory is read-only (a system
installation, a container) it uses ``NUMBA_CACHE_DIR`` or the user's cache directory.
"""

from __future__ import annotations

import os
from pathlib import Path


def _cache_directory() -> None:
    if os.environ.get("NUMBA_CACHE_DIR") or os.access(Path(__file__).parent, os.W_OK):
        return
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    os.environ["NUMBA_CACHE_DIR"] = str(Path(base) / "velado" / "numba")


_cache_directory()

import numba  # noqa: E402  (the cache directory must be known before numba is imported)

kernel = numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
"""Decorator of every kernel."""

inlined = numba.njit(inline="always", boundscheck=False, error_model="numpy")
"""Decorator of the few helpers whose call would cost more than their body."""
