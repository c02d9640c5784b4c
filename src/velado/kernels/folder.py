"""Where compiled kernels are kept.

A kernel's compiled code contains that of the kernels it calls, but numba only looks at the file of the kernel itself
to see whether the cache is still good. Here the folder of the cache carries a digest of all kernels, so code of
another version is never run. The folder is in ``NUMBA_CACHE_DIR`` if that is set, else beside the kernels, or, where
that is read-only, in the user's cache directory.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def _cache_folder() -> Path:
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
    return base / f"kernels-{digest.hexdigest()[:16]}"


CACHE_FOLDER = _cache_folder()


def compiled_before(*kernels: str) -> bool:
    """Whether one of these kernels of this version has been compiled on this machine."""
    return any(next(CACHE_FOLDER.rglob(f"*.{name}-*.nbi"), None) for name in kernels)
