"""Temporary files and folders carry the number of their process, so that those of dead processes can be removed."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

mine: set[Path] = set()
"""Temporary files and folders of this process that are there now, for an end without cleaning up on the way."""


def owned_name(prefix: str, rest: str) -> str:
    """A name that tells which process made it."""
    return f"{prefix}{os.getpid()}-{rest}"


def sweep(folder: Path, prefix: str, mark: str = "") -> None:
    """Remove what dead processes left in a folder under such names."""
    for leftover in folder.iterdir():
        if not leftover.name.startswith(prefix) or mark not in leftover.name:
            continue
        owner = leftover.name.removeprefix(prefix).split("-")[0]
        if owner.isdigit() and not _alive(int(owner)):
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def remove(folder: Path) -> None:
    """Remove a folder; a thread of the engine that is still ending may put something into it meanwhile."""
    for _ in range(40):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.05)
    mine.discard(folder)


def remove_mine() -> None:
    """Remove everything temporary of this process."""
    for path in list(mine):
        if path.is_dir():
            remove(path)
        else:
            path.unlink(missing_ok=True)
