"""Which file was read: a source that changes during a run would be described wrongly, or published unjudged."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from velado.errors import InputError
from velado.progress import Progress
from velado.tables.contract import Identity
from velado.tables.files import digest_of

TICK = 0.02
"""Seconds within which a file may change twice without its times telling."""


@dataclass(frozen=True)
class FileIdentity(Identity):
    """A file as it was when it was opened: where it lies on the disk, its size, and when it was last changed.

    The time of change (``ctime``) is set by the system: nobody can turn it back as they can the time of modification.
    """

    path: Path
    state: tuple[int, ...]
    progress: Progress = field(default_factory=Progress, compare=False)

    @classmethod
    def of(cls, path: Path, progress: Progress | None = None) -> FileIdentity:
        """The identity of a file now."""
        found = os.stat(path)
        while 0 <= (age := time.time() - max(found.st_mtime, found.st_ctime)) < TICK:
            # Written this very instant: wait until another change would have another time.
            time.sleep(TICK - age)
            found = os.stat(path)
        return cls(path, _state(found), progress or Progress())

    def check(self) -> None:
        """Raise if the file is not what it was."""
        try:
            same = _state(os.stat(self.path)) == self.state
        except OSError:
            same = False
        if not same:
            raise InputError(
                "source-changed",
                "the file changed while it was read; nothing was published",
                file=self.path,
                hint="Run again when nobody writes to it, or work on a copy.",
            )

    def digest(self) -> str:
        """SHA-256 of what was read: of the file, which is still the same before and afterwards."""
        self.check()
        found = digest_of(self.path, self.progress)
        self.check()
        return found


@dataclass(frozen=True)
class FixedIdentity(Identity):
    """What was copied or locked before it was read, or is a snapshot: whatever happens to the source, it stays what it was.

    ``name``: SHA-256 of the copy, or what the snapshot is called.
    """

    name: str

    def check(self) -> None:
        """It does not change."""

    def digest(self) -> str:
        """What it is called."""
        return self.name


def _state(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
