"""Where compiled kernels are kept.

A kernel's compiled code contains that of the kernels it calls, but numba only looks at the file of the kernel itself
to see whether the cache is still good. Here the folder of the cache carries a digest of all kernels, so code of
another version is never run, and what is in it need not be compiled again. The folder is in ``NUMBA_CACHE_DIR`` if that is set, else beside the kernels, or, where
that is read-only, in the user's cache directory.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

ABANDONED = 600.0
"""Seconds after which nobody is believed to be compiling any more."""


def _cache_folder() -> Path:
    kernels = Path(__file__).parent
    digest = hashlib.sha256()
    numba = version("numba")
    for source in sorted(kernels.glob("*.py")):
        digest.update(source.read_bytes())
        # numba compiles again for another time of the file, or another version of itself.
        digest.update(f"{source.stat().st_mtime_ns} {numba}".encode())
    if os.environ.get("NUMBA_CACHE_DIR"):
        base = Path(os.environ["NUMBA_CACHE_DIR"]).absolute()
    elif os.access(kernels, os.W_OK):
        base = kernels / "__pycache__"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "velado"
    return base / f"kernels-{digest.hexdigest()[:16]}"


CACHE_FOLDER = _cache_folder()


def compiled_before(*kernels: str) -> bool:
    """Whether these kernels of this version have been compiled on this machine."""
    return all(next(CACHE_FOLDER.rglob(f"*.{name}-*.nbi"), None) for name in kernels)


def being_compiled() -> bool:
    """Whether a process compiles all kernels now."""
    try:
        return time.time() - _sign().stat().st_mtime < ABANDONED
    except OSError:
        return False


def begin_compiling() -> bool:
    """Say that this process does; False if another one does already."""
    if not being_compiled():
        _sign().unlink(missing_ok=True)
    try:
        _sign().touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def end_compiling() -> None:
    """Say that it is done."""
    with suppress(OSError):
        _sign().unlink(missing_ok=True)


def _sign() -> Path:
    return CACHE_FOLDER / "compiling"
