"""What is being published just now, on disk: whoever comes after a run that died can finish it or undo it.

A journal lists files that wait in private folders (`NEW`) for their names, and where the files are kept that they
replace (`OLD`). It is there while names are being changed and never else. It is one file, so that publishing into
several folders ends at one moment; the other private folders say where it is.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.tables.publication.locks import locked_folders
from velado.tables.publication.uninterrupted import defer_signals

JOURNAL = "journal"
ELSEWHERE = "journal-elsewhere"
NEW = "new"
OLD = "old"
NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF, errno.ENOSYS)
"""What a file system answers that cannot be told to write something to disk."""

Identity = tuple[int, int]


def identity(path: Path) -> Identity | None:
    """Size and time of a file, which tell it from others that had the same name; None if it is not there."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns


def to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, would outlive a power failure."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        if os.name == "nt" and path.is_dir():
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NOT_SYNCED:
            raise
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class Entry:
    """A file that waits for its name, in a private folder beside it."""

    private: Path
    name: str
    new: Identity
    old: Identity | None

    @property
    def target(self) -> Path:
        """Where it shall be."""
        return self.private.parent / self.name

    @property
    def new_path(self) -> Path:
        """Where it waits."""
        return self.private / NEW / self.name

    @property
    def old_path(self) -> Path:
        """Where the file that it replaces is kept."""
        return self.private / OLD / self.name

    def rename(self) -> None:
        """Give it its name, if it does not have it yet."""
        if os.path.lexists(self.new_path):
            os.replace(self.new_path, self.target)
        elif identity(self.target) != self.new:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    def undo(self) -> None:
        """Put the old file back; or the new one where there was none, so that this can be told from renaming."""
        if not os.path.lexists(self.new_path) and identity(self.target) == self.new:
            if self.old is None:
                os.replace(self.target, self.new_path)
            else:
                os.replace(self.old_path, self.target)


@dataclass(frozen=True)
class Journal:
    """All files of a run that get their names together."""

    path: Path
    entries: tuple[Entry, ...]

    @property
    def folders(self) -> list[Path]:
        """Where the files shall be."""
        return list(dict.fromkeys(e.private.parent for e in self.entries))

    @classmethod
    def write(cls, entries: Sequence[Entry]) -> Journal:
        """Write it; from the moment it is there, whoever finds it goes on with it."""
        privates = list(dict.fromkeys(e.private for e in entries))
        first, *others = privates
        for private in others:
            _write(private / ELSEWHERE, os.path.relpath(first, private))
        listed = [[os.path.relpath(e.private, first), e.name, e.new, e.old] for e in entries]
        for private in privates:
            to_disk(private.parent)
        _write(first / JOURNAL, listed)
        return cls(first / JOURNAL, tuple(entries))

    @classmethod
    def of(cls, private: Path) -> Journal | None:
        """The journal that a private folder has a part in; None if it is not publishing."""
        first = private
        with suppress(OSError, ValueError):
            first = Path(os.path.normpath(private / json.loads((private / ELSEWHERE).read_bytes())))
        try:
            listed = json.loads((first / JOURNAL).read_bytes())
        except (OSError, ValueError):
            return None
        return cls(
            first / JOURNAL,
            tuple(
                Entry(Path(os.path.normpath(first / private)), name, tuple(new), old and tuple(old))
                for private, name, new, old in listed
            ),
        )

    def carry_out(self) -> OSError | None:
        """Give all files their names; if that fails, put everything back and say why.

        An OSError is raised where not even that is possible.
        """
        try:
            for entry in self.entries:
                entry.rename()
            for folder in self.folders:
                to_disk(folder)
        except OSError as error:
            for entry in reversed(self.entries):
                entry.undo()
            for folder in self.folders:
                with suppress(OSError):
                    to_disk(folder)
            return error
        return None

    def settle(self) -> None:
        """After its run died: nothing if no name was changed yet, or somebody else has written there since."""
        now = [identity(e.target) for e in self.entries]
        begun = [found == e.new and not os.path.lexists(e.new_path) for e, found in zip(self.entries, now, strict=True)]
        ours = all(b or found == e.old for e, b, found in zip(self.entries, begun, now, strict=True))
        if ours and any(begun):
            self.carry_out()

    def close(self) -> None:
        """It is done, one way or the other."""
        self.path.unlink(missing_ok=True)


def recover(private: Path) -> None:
    """Finish, or undo, what the dead run of a private folder was publishing; an OSError if neither can be done."""
    journal = Journal.of(private)
    if journal is None:
        return
    with locked_folders(f for f in journal.folders if f.is_dir()), defer_signals():
        journal = Journal.of(private)  # somebody else may have done it meanwhile
        if journal is not None:
            journal.settle()
            journal.close()


def _write(path: Path, data: Any) -> None:
    """Write a small file that is there only when it is complete."""
    draft = path.with_name(path.name + ".draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:
        json.dump(data, stream)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(draft, path)
    to_disk(path.parent)
