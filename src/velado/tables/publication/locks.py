"""Locks of files and folders. The system frees them when their process dies, in whatever PID namespace it lived."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, wait: bool) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int, wait: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL)
"""What a file system answers that has no locks."""
LOCK = ".velado-lock"


def locked_file(path: Path, create: bool = False) -> int | None:
    """A file, open and locked; None while somebody else has the lock, or has removed the file meanwhile."""
    descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | (os.O_CREAT if create else 0), 0o600)
    try:
        _lock(descriptor, wait=False)
        if _is(descriptor, path):
            return descriptor
    except OSError as error:
        if create and error.errno in NO_LOCKS:
            return descriptor
        if not isinstance(error, (BlockingIOError, PermissionError, FileNotFoundError)):
            os.close(descriptor)
            raise
    os.close(descriptor)
    return None


def _is(descriptor: int, path: Path) -> bool:
    """Whether the open file is still the one of that name."""
    return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))


@contextmanager
def locked_folders(folders: Iterable[Path]) -> Iterator[None]:
    """Nobody else publishes into the folders meanwhile.

    All take their locks in the same order, so that two cannot wait for each other.
    """
    there = {(found.st_dev, found.st_ino): folder for folder in folders for found in [os.stat(folder)]}
    with ExitStack() as stack:
        for _, folder in sorted(there.items()):
            stack.enter_context(_locked_folder(folder))
        yield


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        descriptor = -1
    try:
        if descriptor < 0:
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        _lock(descriptor, wait=True)
    except OSError:
        # Some systems lock files only.
        with _lock_in(folder):
            yield
    else:
        try:
            yield
        finally:
            # Closing is not enough: a process that was forked meanwhile has the file open, too.
            _unlock(descriptor)
    finally:
        if descriptor >= 0:
            os.close(descriptor)


@contextmanager
def _lock_in(folder: Path) -> Iterator[None]:
    """The lock of a file in the folder, which is removed by whoever has the lock."""
    path = folder / LOCK
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor, wait=True)
            if _is(descriptor, path):
                break
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno in NO_LOCKS:
                break
            os.close(descriptor)
            raise
        os.close(descriptor)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        with suppress(OSError):
            _unlock(descriptor)
        os.close(descriptor)
