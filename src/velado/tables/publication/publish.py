"""Fail-closed writing: files appear under their names only when all of them are complete and verified."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from velado.errors import InputError, unwritable
from velado.tables.publication.journal import NEW, OLD, Entry, Journal, identity, to_disk
from velado.tables.publication.locks import locked_folders
from velado.tables.publication.private import PrivateFolder, private_folders, public_mode, sweep
from velado.tables.publication.uninterrupted import NEITHER, apart, defer_signals

PRIVATE = 0o600
PATIENCE = 10.0
"""Seconds to wait for somebody who finishes the publication of a dead run."""

latest: list[Path | str] = []
"""What this process published last."""


class Publication:
    """Private places for files, which get their names together."""

    def __init__(self, paths: Sequence[Path], private: Collection[Path], stack: ExitStack) -> None:
        self._paths, self._private = paths, private
        self._folders: dict[Path, PrivateFolder] = {}
        self.places: list[Path] = []
        for path in paths:
            parent = path.parent.resolve()
            if parent not in self._folders:
                self._folders[parent] = PrivateFolder(parent)
                stack.callback(self._folders[parent].remove)
            # The suffix tells the engine the format, so the name stays as it is.
            self.places.append(self._folders[parent].folder(NEW) / path.name)
            self.places[-1].touch(mode=PRIVATE)

    def publish(self) -> None:
        """All files get their names, or none does."""
        modes = [PRIVATE if path in self._private else _mode(path, self._folders[path.parent.resolve()]) for path in self._paths]
        _publish(self.places, modes, self._paths)


@contextmanager
def publication(paths: Sequence[Path], private: Collection[Path] = ()) -> Iterator[Publication]:
    """Private places for files, until they are published; else they are removed.

    Whatever happens, also to the process or the machine, the old files are all there or the new ones are: at once, or
    as soon as somebody publishes into one of their folders again. Of the paths those in ``private`` are for the user
    only; the others keep the mode of the file that they replace.
    """
    for path in paths:
        _check(path)
    try:
        with ExitStack() as stack:
            yield Publication(paths, private, stack)
    except OSError as error:
        raise unwritable(error, paths[-1]) from None
    except InputError as error:
        if error.code == "disk-full" and error.file is None:
            error.file = str(paths[-1])
        raise


@contextmanager
def publish_files(paths: Sequence[Path], private: Collection[Path] = ()) -> Iterator[list[Path]]:
    """Private places for files, which get their names together at the end, or none of them does."""
    with publication(paths, private) as files:
        yield files.places
        files.publish()


def _check(path: Path) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise InputError(
            "unwritable-output", "the output folder does not exist", file=path, hint="Create it, or choose another path."
        )
    if path.exists() and not path.is_file():
        raise InputError("unwritable-output", "the output path is not a file", file=path)
    if not os.access(folder, os.W_OK):
        raise InputError("unwritable-output", "no permission to write there", file=folder, hint="Choose another output path.")


def _mode(path: Path, folder: PrivateFolder) -> int:
    """That of the file which is there, else that of any new file."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode) & 0o777
    except FileNotFoundError:
        return public_mode(folder.path)


def _publish(staged: Sequence[Path], modes: Sequence[int], paths: Sequence[Path]) -> None:
    for place, mode in zip(staged, modes, strict=True):
        os.chmod(place, mode)
        to_disk(place)
    privates = list(dict.fromkeys(place.parents[1] for place in staged))
    for private in privates:
        to_disk(private / NEW)
    with _alone([private.parent for private in privates]), defer_signals():
        entries = [_entry(place) for place in staged]
        for private in privates:
            if (private / OLD).exists():
                to_disk(private / OLD)
        journal = Journal.write(entries)
        _carry_out(journal)
        latest[:] = paths
        # If it stays, whoever finds it sees that everything is done.
        with suppress(OSError):
            journal.close()


@contextmanager
def _alone(folders: Sequence[Path]) -> Iterator[None]:
    """Nobody else publishes into the folders, and nothing that a dead run began there is unfinished."""
    until = time.monotonic() + PATIENCE
    while True:
        with locked_folders(folders):
            if not any(Journal.of(private) for folder in folders for private in private_folders(folder)):
                yield
                return
        if time.monotonic() > until:
            raise OSError(errno.EBUSY, "an interrupted publication in this folder can neither be finished nor undone")
        # It may concern more folders, whose locks have their order: not while we have ours.
        for folder in folders:
            sweep(folder)
        time.sleep(0.02)


def _entry(staged: Path) -> Entry:
    """A staged file that is to be renamed; the file that it replaces is kept until all are."""
    private, new = staged.parents[1], identity(staged)
    if new is None:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    entry = Entry(private, staged.name, new, identity(private.parent / staged.name))
    if entry.old is not None:
        entry.old_path.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            os.link(entry.target, entry.old_path, follow_symlinks=False)
        except (OSError, NotImplementedError):
            # No links on this file system, or not to a file of somebody else.
            shutil.copy2(entry.target, entry.old_path, follow_symlinks=False)
            if not entry.old_path.is_symlink():
                to_disk(entry.old_path)
    return entry


def _carry_out(journal: Journal) -> None:
    """Rename all files, or none and raise.

    A child does it, which nobody kills together with this process: no release is left half published.
    """
    ended = apart(journal.carry_out)
    if ended is None:
        failed = journal.carry_out()
    elif ended == NEITHER:
        raise OSError(errno.EIO, "the files could neither all be renamed nor put back; the next run tries again")
    else:
        failed = None if ended == 0 else OSError(ended, os.strerror(ended))
    if failed is not None:
        journal.close()
        raise failed
