"""Fail-closed writing: files appear under their names only when all of them are complete and verified."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from velado.engines.leftovers import mine, owned_name, sweep
from velado.errors import InputError

MARK = ".velado-tmp"


@contextmanager
def published(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Temporary names beside ``paths``; renamed together on success, removed on any failure or interruption.

    The last path is the release itself and is renamed last. Leftovers of processes that were killed outright are
    removed first.
    """
    temporary = []
    for path in paths:
        _check(path)
        sweep(path.parent, f".{path.stem}.", MARK)
        # The suffix tells the engine the format, so it stays at the end.
        name = owned_name(f".{path.stem}.", secrets.token_hex(4) + MARK)
        temporary.append(path.with_name(name + path.suffix))
    mine.update(temporary)
    renamed: list[Path] = []
    try:
        for part in temporary:
            # Some folders say that they can be written to and cannot: better now than after the search.
            part.touch()
            part.unlink()
        yield temporary
        for part, path in zip(temporary, paths, strict=True):
            os.replace(part, path)
            renamed.append(path)
    except BaseException as error:
        for path in renamed:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise write_error(error, paths[-1]) from None
        if isinstance(error, InputError) and error.code == "disk-full" and error.file is None:
            error.file = str(paths[-1])
        raise
    finally:
        for part in temporary:
            part.unlink(missing_ok=True)
            mine.discard(part)


def _check(path: Path) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise InputError(
            "unwritable-output",
            "the output folder does not exist",
            file=folder,
            hint="Create it, or choose another path.",
        )
    if path.exists() and not path.is_file():
        raise InputError("unwritable-output", "the output path is not a file", file=path)
    if not os.access(folder, os.W_OK):
        raise InputError(
            "unwritable-output", "no permission to write there", file=folder, hint="Choose another output path."
        )


def write_error(error: OSError, path: Path) -> InputError:
    """An operating-system error in our words."""
    if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return InputError(
            "disk-full", "the disk is full; nothing was published", file=path, hint="Free space, or write elsewhere."
        )
    return InputError("unwritable-output", f"cannot write: {error.strerror or error}", file=path)
