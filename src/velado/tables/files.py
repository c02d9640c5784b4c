"""Files that somebody names: nothing is read that is no file, or larger than what it is for."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

from velado.errors import InputError, shown
from velado.progress import Progress

PIECE = 1 << 24
LARGEST_TEXT = 256_000_000
"""Bytes that a file may have which is read as a whole, such as a hierarchy."""


def path_of(text: Any, what: str, folder: Path | None = None) -> Path:
    """The path that a text names, relative to a folder; an error unless a file could have it."""
    if not isinstance(text, (str, Path)) or not str(text).strip() or "\0" in str(text):
        raise InputError("bad-path", f"{what} must be the path of a file, got {shown(text)}")
    path = (folder or Path()) / text
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no path"
        raise InputError("bad-path", f"{what} cannot be {shown(str(text))}: {reason}") from None
    return path


def check_regular(path: Path) -> None:
    """Refuse folders and what has no end, such as devices and pipes; a path without a file passes."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if stat.S_ISDIR(mode):
        raise InputError("not-a-file", "this is a directory, not a file", file=path)
    if not stat.S_ISREG(mode):
        raise InputError("not-a-file", "this is a device or a pipe, not a file", file=path)


def free_memory() -> int:
    """Bytes of memory that are free on this machine."""
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def contents(path: Path, most: int = LARGEST_TEXT) -> bytes:
    """The bytes of a file of at most so many."""
    check_regular(path)
    with open(path, "rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise InputError("too-large", f"the file is larger than {most:,} bytes", file=path)
    return data


def digest_of(path: Path, progress: Progress | None = None) -> str:
    """SHA-256 of a file."""
    found = hashlib.sha256()
    with open(path, "rb") as stream:
        while data := stream.read(PIECE):
            if progress is not None:
                progress.check()
            found.update(data)
    return found.hexdigest()
