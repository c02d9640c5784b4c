"""A file that arrives in pieces, written straight to the disk by one writer at a time.

The size of the file is how far it got: nothing else has to survive when a process is killed. The file is locked while a
piece is written, by the kernel, for all processes of the service.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from velado.service.errors import Conflict

BLOCK = 4 << 20
REMEMBERED = 256
"""Uploads whose digest this process goes on with when their next piece comes."""
_digests: OrderedDict[Path, tuple[int, Any]] = OrderedDict()
_lock = threading.Lock()


class Receiver:
    """The writer of an upload, from ``offset`` on. Raises if somebody else writes, or if the file has another size."""

    def __init__(self, path: Path, offset: int) -> None:
        self._path = path
        self._busy = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            _lock_file(self._file)
            self.offset = os.fstat(self._file).st_size
            if self.offset != offset:
                raise wrong_offset(self.offset)
            os.lseek(self._file, offset, os.SEEK_SET)
        except BaseException:
            self.close()
            raise
        self._digest = _digest_at(path, offset)

    def write(self, pieces: Sequence[bytes]) -> None:
        """Add what arrived."""
        with self._busy:
            for piece in pieces:
                left = memoryview(piece)
                while left:
                    written = os.write(self._file, left)
                    if self._digest is not None:
                        self._digest.update(left[:written])
                    self.offset += written
                    left = left[written:]

    def digest(self) -> str:
        """The SHA-256 of all that is there, after it has reached the disk."""
        with self._busy:
            os.fsync(self._file)
            if self._digest is None:
                self._digest = hashlib.sha256()
                for place in range(0, self.offset, BLOCK):
                    self._digest.update(os.pread(self._file, BLOCK, place))
            return str(self._digest.hexdigest())

    def empty(self) -> None:
        """Throw away what arrived: it is not what was announced."""
        with self._busy:
            os.ftruncate(self._file, 0)
            self.offset, self._digest = 0, None

    def close(self) -> None:
        """Let the next writer in. A piece that a thread still writes is waited for."""
        with self._busy:
            if self._file < 0:
                return
            if getattr(self, "_digest", None) is not None:
                _remember(self._path, self.offset, self._digest)
            os.close(self._file)
            self._file = -1


@contextmanager
def lock_upload(path: Path) -> Iterator[None]:
    """Keep writers of an upload out. Raises if there is one."""
    try:
        file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    try:
        _lock_file(file)
        yield
    finally:
        os.close(file)


def wrong_offset(offset: int) -> Conflict:
    """The error for a piece that does not begin where the last one ended."""
    error = Conflict(
        "wrong-offset",
        "the piece does not begin where the last one ended",
        hint="Send from 'offset' on.",
        fields={"offset": offset},
    )
    error.headers = {"Upload-Offset": str(offset)}
    return error


def forget(path: Path) -> None:
    """Forget a file that is deleted."""
    with _lock:
        _digests.pop(path, None)


def _lock_file(file: int) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Conflict("upload-busy", "another request writes this upload", hint="Wait for it, then ask for the offset.") from None


def _digest_at(path: Path, offset: int) -> Any:
    """The digest of what is there, if this process knows it; None: it is computed at the end."""
    if offset == 0:
        return hashlib.sha256()
    with _lock:
        known = _digests.pop(path, None)
    return known[1] if known is not None and known[0] == offset else None


def _remember(path: Path, offset: int, digest: Any) -> None:
    with _lock:
        _digests[path] = (offset, digest)
        _digests.move_to_end(path)
        while len(_digests) > REMEMBERED:
            _digests.popitem(last=False)
