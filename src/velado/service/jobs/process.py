"""The process of a job: ``python -m velado.service.jobs.process``.

It reads tasks as JSON lines on its standard input, does the work and writes JSON lines: ``{"step": …}`` while it works, then
``{"result": …}`` or ``{"error": …}``. A fresh process is given one task, a warm one further ones. ``{"cancel": true}``
ends the task at hand. At the end of its input, that is when its supervisor is gone, the process ends at once.

Nothing but these lines leaves it: what libraries print goes nowhere, since it may hold values of the data.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from queue import SimpleQueue
from typing import Any, TextIO

from velado.errors import FULL, Cancelled, InternalError, VeladoError, disk_full
from velado.progress import Progress, Step
from velado.service.jobs import failure_messages, limits
from velado.service.jobs.task import LASTING, Task, Work

WORK = "velado.service.jobs.work"
PAUSE = 0.2
"""Seconds between two steps that are told of the same stage."""
ROOM = 50_000_000
"""Bytes that a disk that is full has no more."""

Say = Callable[[Mapping[str, Any]], None]


def main(modules: str = WORK) -> None:
    """Do one task after the other until the input ends; the work is in a package of ``modules``."""
    limits.die_with_parent()
    say = _open_output()
    tasks: SimpleQueue[tuple[Task, Progress]] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, tasks, say), name="listen", daemon=True).start()
    memory: dict[str, Any] = {}
    key: str | None = None
    restricted = False
    while True:
        task, progress = tasks.get()
        if not restricted:
            limits.restrict(task.limits["memory"], task.limits["bytes"])
            restricted = True
        if task.key != key:
            _forget(memory, key, task.key)
            key = task.key
        say(outcome(task, progress, memory, modules))


def _forget(memory: dict[str, Any], before: str | None, now: str | None) -> None:
    """Another subject: all that was known of the one before; another version of a project: all but figures of its tables."""
    same = before is not None and now is not None and before.split(":")[:2] == now.split(":")[:2]
    lasting = memory.get(LASTING) if same else None
    memory.clear()
    if lasting:
        memory[LASTING] = lasting


def outcome(task: Task, progress: Progress, memory: dict[str, Any], modules: str = WORK) -> dict[str, Any]:
    """How a task ended, ready to be said."""
    try:
        return {"result": finite(perform(task, progress, memory, modules))}
    except VeladoError as error:
        return {"error": failure_messages.describe_error(_of_limit(error, task)), "cancelled": isinstance(error, Cancelled)}
    except OSError as error:
        told = disk_full() if error.errno in FULL else InternalError.of(error)
        return {"error": failure_messages.describe_error(_of_limit(told, task)), "cancelled": False}
    except MemoryError:
        memory.clear()
        return {"error": failure_messages.describe_error(failure_messages.too_large(task.limits["memory"])), "cancelled": False}
    except BaseException as error:
        return {"error": failure_messages.describe_error(InternalError.of(error)), "cancelled": False}


def perform(task: Task, progress: Progress, memory: dict[str, Any], modules: str = WORK) -> dict[str, Any]:
    """Do the work of a task; the result is JSON-ready."""
    result: dict[str, Any] = import_module(f"{modules}.{task.work}").perform(Work(task, progress, memory))
    progress.check()
    return result


def finite(value: Any) -> Any:
    """A value as JSON has it: no infinity, no NaN, keys are texts."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return value


def _of_limit(error: VeladoError, task: Task) -> VeladoError:
    """A disk that is said to be full and is not: the job has reached the limit of its files."""
    if error.code == "disk-full" and shutil.disk_usage(task.folder).free > ROOM:
        return failure_messages.too_much_disk(task.limits["bytes"])
    return error


def _open_output() -> Say:
    """What is said goes to the standard output as it was; what anything else writes there goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def say(message: Mapping[str, Any]) -> None:
        with lock:
            try:
                out.write(json.dumps(message, default=str) + "\n")
                out.flush()
            except OSError:
                os._exit(1)

    return say


def _listen(lines: TextIO, tasks: SimpleQueue[tuple[Task, Progress]], say: Say) -> None:
    progress: Progress | None = None
    for line in lines:
        message = json.loads(line)
        if "task" in message:
            progress = Progress(_watch(say))
            tasks.put((Task.from_dict(message["task"]), progress))
        elif message.get("cancel") and progress is not None:
            progress.cancel()
    os._exit(0)


def _watch(say: Say) -> Callable[[Step], None]:
    """Tell steps: each stage when it begins for the first time, and now and then how far the work is."""
    seen: set[str] = set()
    last = 0.0

    def watch(step: Step) -> None:
        nonlocal last
        moment = time.monotonic()
        if step.stage not in seen or moment - last >= PAUSE:
            seen.add(step.stage)
            last = moment
            say({"step": step.as_dict()})

    return watch


if __name__ == "__main__":
    main()
