"""Private folders: everything temporary is in them, and nobody but the user may read it.

A run locks its private folders as long as it lives. Whoever makes one beside them removes those without a living owner:
the system frees the locks of dead processes, also of those in another container, and nobody has to compare numbers.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from velado.errors import InputError, unwritable
from velado.sentences import Sentence
from velado.tables.publication.journal import Journal, recover
from velado.tables.publication.locks import locked_file

NAME = re.compile(r"\.velado-[0-9a-f]{16}")
LOCK = "lock"
MOST_TRIES = 100

mine: dict[Path, PrivateFolder] = {}
"""The private folders of this process, for an end without cleaning up on the way."""


class PrivateFolder:
    """A new folder in another one, with a lock; it is removed at the end."""

    path: Path
    _lock: int | None = None

    def __init__(self, parent: Path) -> None:
        for folder in {parent, temporary_folder()}:
            sweep(folder)
        for _ in range(MOST_TRIES):
            # The name is known before the folder is there: an interruption cannot leave it behind.
            self.path = parent.resolve() / f".velado-{secrets.token_hex(8)}"
            mine[self.path] = self
            try:
                os.mkdir(self.path, 0o700)
                self._lock = locked_file(self.path / LOCK, create=True)
            except FileNotFoundError:
                # Somebody took the empty folder for a dead one; but the folder around it may be gone, too.
                if not parent.is_dir():
                    mine.pop(self.path, None)
                    raise
            except BaseException:
                self.remove()
                raise
            if self._lock is not None:
                return
            mine.pop(self.path, None)
        raise OSError(Sentence("no private folder in {folder}", folder=str(parent)))

    @classmethod
    def beside(cls, folder: Path | None = None) -> PrivateFolder:
        """In the given folder if that can be written to, else where the system keeps temporary files."""
        full: OSError | None = None
        for parent in (folder, temporary_folder()):
            if parent is None or not os.access(parent, os.W_OK):
                continue
            try:
                return cls(parent)
            except OSError as error:
                full = error
        if full is not None:
            raise unwritable(full, folder or temporary_folder())
        raise InputError(
            "unwritable-output",
            "there is no folder for temporary files",
            file=temporary_folder(),
            hint="Set the environment variable TMPDIR to a folder that can be written to.",
        )

    def folder(self, name: str) -> Path:
        """A folder in it."""
        made = self.path / name
        made.mkdir(mode=0o700, exist_ok=True)
        return made

    def remove(self) -> None:
        """Remove it. What is needed to finish a publication stays, for whoever comes next."""
        if Journal.of(self.path) is None:
            # A thread of the engine that is still ending may put something into it meanwhile.
            for _ in range(40):
                _remove(self.path)
                if not self.path.exists():
                    break
                time.sleep(0.05)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        mine.pop(self.path, None)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def temporary_folder() -> Path:
    """Where the system keeps temporary files."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        # None could be written to; what is wrong with the usual one is said by whoever writes there.
        return Path(os.environ.get("TMPDIR") or "/tmp")


def private_folders(folder: Path) -> Iterator[Path]:
    """The private folders of this user in a folder, of living runs and dead ones."""
    user = os.geteuid() if hasattr(os, "geteuid") else None
    with suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if not NAME.fullmatch(entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            # A folder of somebody else could say anything about what is to be renamed.
            if user is None or entry.stat(follow_symlinks=False).st_uid == user:
                yield Path(folder).resolve() / entry.name


def sweep(folder: Path) -> None:
    """Finish, or undo, what dead runs were publishing in a folder, and remove what they left there."""
    for private in list(private_folders(folder)):
        if private in mine:
            continue
        try:
            lock = locked_file(private / LOCK)
        except FileNotFoundError:
            # Its run is, or died, between making it and locking it, or between unlocking it and removing it.
            _remove_unlocked(private)
            continue
        except OSError:
            continue
        if lock is None:
            continue
        with suppress(OSError):
            recover(private)
            _remove(private)
        os.close(lock)


def _remove_unlocked(private: Path) -> None:
    with suppress(OSError):
        try:
            private.rmdir()
        except OSError:
            # Not empty: it gets a lock, which the next one who sweeps can take.
            (private / LOCK).touch(mode=0o600)


def remove_mine() -> None:
    """Remove everything temporary of this process."""
    for private in list(mine.values()):
        private.remove()


def public_mode(private: Path) -> int:
    """The mode that a new file of this user gets; asking the system for its mask would change it for all threads."""
    probe = private / "mode"
    descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        return stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
        probe.unlink()


def _remove(private: Path) -> None:
    """Remove a private folder whose lock one has, the lock last."""
    with suppress(OSError):
        for entry in list(os.scandir(private)):
            if entry.name == LOCK:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)
        if os.listdir(private) in ([], [LOCK]):
            (private / LOCK).unlink(missing_ok=True)
            private.rmdir()
