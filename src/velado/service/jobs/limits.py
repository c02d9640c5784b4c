"""What a job may use: limits that the process sets for itself, and what its supervisor measures from outside."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GB = 1_000_000_000
SLACK = 4 * GB
"""Address space beyond twice the memory: engines and compilers reserve more than they use."""
PR_SET_PDEATHSIG = 1
NICE = 10
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def restrict(memory: int, file_bytes: int) -> None:
    """Limits of this process and of those that it starts. The supervisor ends what uses too much; these are a backstop.

    Whoever waits for a page goes before work that takes minutes: jobs have a lower priority.
    """
    os.umask(0o077)
    with suppress(OSError):
        os.nice(NICE)
    try:
        import resource
    except ImportError:
        return
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_DATA, 2 * memory + SLACK),
    ):
        _, hard = resource.getrlimit(limit)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (most, most))


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Let the system send this process a signal when the thread that started it is gone, however it ended."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def memory(pid: int) -> int:
    """Bytes of memory in use by a process and those that it started; 0 where the system does not tell."""
    return sum(_resident(one) for one in _tree(pid))


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in os.scandir(f"/proc/{pid}/task"):
            with open(f"{task.path}/children", encoding="ascii") as file:
                for child in file.read().split():
                    yield from _tree(int(child))
    except (OSError, ValueError):
        return


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, ValueError, IndexError):
        return 0


def size(folder: Path) -> int:
    """Bytes of the files in a folder, however deep."""
    total = 0
    try:
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                total += size(Path(entry.path))
            else:
                total += entry.stat(follow_symlinks=False).st_size
    except OSError:
        # Files come and go while a job works.
        return total
    return total
