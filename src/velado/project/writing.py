"""Fail-closed writing: a file appears under its name only when it is complete and verified."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from velado.errors import InputError

MARK = ".velado-tmp"


@contextmanager
def published(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path``; renamed on success, removed on any failure or interruption.

    Leftovers of processes that were killed outright are removed first.
    """
    folder = path.parent
    if not folder.is_dir():
        raise InputError(
            "unwritable-output",
            "the output folder does not exist",
            file=folder,
            hint="Create it, or choose another path.",
        )
    if path.is_dir():
        raise InputError("unwritable-output", "the output path is a directory", file=path)
    if not os.access(folder, os.W_OK):
        raise InputError(
            "unwritable-output", "no permission to write there", file=folder, hint="Choose another output path."
        )
    _sweep(folder, path.name)
    # The suffix tells the engine the format, so it stays at the end.
    temporary = folder / f".{path.stem}.{os.getpid()}-{secrets.token_hex(4)}{MARK}{path.suffix}"
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise write_error(error, path) from None
    finally:
        temporary.unlink(missing_ok=True)


def write_error(error: OSError, path: Path) -> InputError:
    """An operating-system error in our words."""
    if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return InputError(
            "disk-full", "the disk is full; nothing was published", file=path, hint="Free space, or write elsewhere."
        )
    return InputError("unwritable-output", f"cannot write: {error.strerror or error}", file=path)


def _sweep(folder: Path, name: str) -> None:
    stem = Path(name).stem
    for leftover in folder.glob(f".{stem}.*{MARK}*"):
        owner = leftover.name.removeprefix(f".{stem}.").split("-")[0]
        if owner.isdigit() and not _alive(int(owner)):
            leftover.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
