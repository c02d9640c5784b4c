"""Does what its parameters say: sleeps, grows, writes, dies, fails."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from velado.errors import InputError, NoSolution
from velado.service.jobs.task import LASTING, Work


def perform(work: Work) -> dict[str, Any]:
    do = dict(work.task.parameters)
    print("a value of the table")
    os.write(1, b"another value of the table\n")
    sys.stderr.write("and another\n")
    follow = work.progress.through(open=1, search=1)
    if "grow" in do:
        _grow(work, do["grow"])
    if "write" in do:
        _write(work, do["write"])
    if "die" in do and work.task.attempt <= do["die"]:
        os.kill(os.getpid(), signal.SIGKILL)
    follow("open").at(1, 2)
    if work.task.attempt <= do.get("sleepy", work.task.attempt):
        _sleep(work, do.get("sleep", 0.0))
    if do.get("deaf"):
        time.sleep(600)
    if "fail" in do:
        raise {"input": InputError, "none": NoSolution}[do["fail"]](
            "no-solution", "no recoding satisfies the models within the limits", fields={"nearest": {"k": 3}}
        )
    if do.get("fault"):
        raise ValueError("Ana Pérez, 12345678Z")
    follow("search").at(1, 2)
    if "file" in do:
        (work.task.folder / "result.txt").write_text(do["file"])
    work.memory["asked"] = work.memory.get("asked", 0) + 1
    lasting = work.memory.setdefault(LASTING, {"asked": 0})
    lasting["asked"] += 1
    return {
        "pid": os.getpid(),
        "asked": work.memory["asked"],
        "of_table": lasting["asked"],
        "environment": sorted(os.environ),
        "tmp": os.environ["TMPDIR"],
        "nan": float("nan"),
        "umask": os.umask(0o077),
    }


def _sleep(work: Work, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        work.progress.check()
        time.sleep(0.02)


def _grow(work: Work, mb: int) -> None:
    held = []
    for _ in range(mb):
        held.append(bytearray(os.urandom(1)) * 1_000_000)
        work.progress.check()
    _sleep(work, 600)


def _write(work: Work, mb: int) -> None:
    for number in range(mb):
        (work.task.folder / f"piece{number}").write_bytes(b"x" * 1_000_000)
    _sleep(work, 600)
