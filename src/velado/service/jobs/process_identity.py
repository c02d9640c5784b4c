"""Which process this is, so that others on the same machine see when it is gone, and need not wait for its leases."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def describe_process() -> dict[str, Any]:
    """This process, for others: its number, when it began, and where numbers of processes mean the same."""
    return {"pid": os.getpid(), "begun": _start_time(os.getpid()), "place": _place()}


def has_ended(process: Mapping[str, Any]) -> bool:
    """Whether a process has certainly ended: it was here, and is no more. Of other machines nothing is known."""
    place, pid = process.get("place"), process.get("pid")
    if not place or place != _place() or not isinstance(pid, int):
        return False
    return _start_time(pid) != process.get("begun")


@cache
def _place() -> str | None:
    """The start of the machine, the numbering of its processes (containers have their own), and who may see them."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}:{os.getuid()}"
    except OSError:
        return None


def _start_time(pid: int) -> str | None:
    """When a process began, in ticks since the machine did; None: there is none, or it only waits to be forgotten."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]
