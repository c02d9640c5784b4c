"""Files that somebody names: nothing is read that is no file, or larger than what it is for."""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
from pathlib import Path
from typing import Any

from velado.errors import InputError, did_you_mean, reason, short_repr
from velado.progress import Progress
from velado.sentences import Sentence, join_sentences

FILE = Sentence("file")
PIECE = 1 << 24
NEAR, MOST_ENTRIES = 0.75, 10_000
"""How alike names of files are that are suggested, and how many files of a folder are looked at."""
LARGEST_TEXT = 256_000_000
"""Bytes that a file may have which is read as a whole, such as a hierarchy."""


def path_of(text: Any, what: str, folder: Path | None = None) -> Path:
    """The path that a text names, relative to a folder; an error unless a file could have it."""
    if not isinstance(text, (str, Path)) or not str(text).strip() or "\0" in str(text):
        raise InputError("bad-path", Sentence("{what} must be the path of a file, got {given}", what=what, given=short_repr(text)))
    path = (folder or Path()) / text
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass
    except (OSError, ValueError) as error:
        why = reason(error, Sentence("it is no path"))
        raise InputError(
            "bad-path", Sentence("{what} cannot be {given}: {why}", what=what, given=short_repr(str(text)), why=why)
        ) from None
    return path


def not_found(path: Path, what: str = FILE, column: str | None = None, project: Path | None = None, hint: str = "") -> InputError:
    """The error for a file that is not there: where it was looked for, and files there that are called alike.

    ``project``: the folder of the project file that names it.
    """
    folder = Path(os.path.abspath(path)).parent
    if os.path.isdir(folder):
        message = Sentence("{what} not found in {folder}", what=what, folder=str(folder))
        near = _called_alike(path.name, folder)
    else:
        message = Sentence("{what} not found because there is no folder {folder}", what=what, folder=str(folder))
        near = ""
    relative = "" if project is None else Sentence("Paths in a project file are relative to its folder.")
    hints = join_sentences(" ", filter(None, (near, relative, Sentence(hint))))
    return InputError("missing-file", message, file=path, column=column, hint=hints)


def _called_alike(name: str, folder: Path) -> str:
    """A hint with files of a folder whose names are nearly the same, or the same up to the suffix."""
    import difflib

    try:
        with os.scandir(folder) as entries:
            there = [e.name for e in itertools.islice(entries, MOST_ENTRIES) if e.is_file() and e.name[0] != "."]
    except OSError:
        return ""
    stems = [Path(other).stem.casefold() for other in there]
    alike = set(difflib.get_close_matches(Path(name).stem.casefold(), stems, n=3, cutoff=NEAR))
    near = sorted(
        (other for other, stem in zip(there, stems, strict=True) if stem in alike),
        key=lambda other: (-difflib.SequenceMatcher(None, name.casefold(), other.casefold()).ratio(), other),
    )
    return did_you_mean(near[:3]) if near else ""


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


allowed_memory: int | None = None
"""Bytes that this process may use, where somebody ends it if it takes more."""


def free_memory() -> int:
    """Bytes of memory that are free on this machine, or that this process may use."""
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        free = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return free if allowed_memory is None else min(free, allowed_memory)


def contents(path: Path, most: int = LARGEST_TEXT) -> bytes:
    """The bytes of a file of at most so many."""
    check_regular(path)
    with open(path, "rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise InputError("too-large", Sentence("the file is larger than {most:,} bytes", most=most), file=path)
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
