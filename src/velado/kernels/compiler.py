"""How kernels are compiled: without the interpreter lock, and cached on disk.

A kernel's compiled code contains that of the kernels it calls, but numba only looks at the file of the kernel itself
to see whether the cache is still good. Here the folder of the cache carries a digest of all kernels, so code of
another version is never run. The cache lies beside the kernels, or, where that folder is read-only, in the user's
cache directory; ``NUMBA_CACHE_DIR`` overrides both.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config

_settings: Any = config


def _cache_folder() -> str:
    kernels = Path(__file__).parent
    digest = hashlib.sha256()
    for source in sorted(kernels.glob("*.py")):
        digest.update(source.read_bytes())
    if os.environ.get("NUMBA_CACHE_DIR"):
        base = Path(os.environ["NUMBA_CACHE_DIR"])
    elif os.access(kernels, os.W_OK):
        base = kernels / "__pycache__"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "velado"
    return str(base / f"kernels-{digest.hexdigest()[:16]}")


CACHE_FOLDER = _cache_folder()


def compiled_before() -> bool:
    """Whether this version's kernels have been compiled on this machine."""
    return any(Path(CACHE_FOLDER).rglob("*.nbc"))


def kernel(function: Callable[..., Any]) -> Any:
    """Decorator of every kernel."""
    before = _settings.CACHE_DIR
    _settings.CACHE_DIR = CACHE_FOLDER
    try:
        return numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", no_cfunc_wrapper=True)(function)
    finally:
        _settings.CACHE_DIR = before


helper = numba.njit(
    nogil=True, boundscheck=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False
)
"""Decorator of what only kernels call."""

inlined = numba.njit(inline="always", boundscheck=False, error_model="numpy")
"""Decorator of the few helpers whose call would cost more than their body."""
