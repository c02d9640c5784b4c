"""Run velado commands, each in a fork of a process that has loaded everything, with limits of time and memory.

Reads one JSON object per line (``argv``, ``cwd``, ``seconds``, ``memory``) and answers one: ``code`` (negative for a
signal, None when the time was up), ``out`` and ``err``.
"""

import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
from typing import Any

MOST_SHOWN = 20_000


def serve() -> None:
    """Answer until the input ends."""
    import fastexcel  # noqa: F401
    import pandas  # noqa: F401
    import xlsxwriter  # noqa: F401
    from rich.console import Console

    _warm()
    Console(stderr=True).print("", end="")
    gc.freeze()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        answers.write(json.dumps(_run(json.loads(line))) + "\n")
        answers.flush()


def _warm() -> None:
    """Load the kernels and the engine; every thread has ended before the first fork."""
    import pyarrow as pa

    from velado import Column, DistinctDiversity, KAnonymity, Mondrian, anonymize

    people = pa.table({"age": ["1", "2", "3", "4"], "ill": ["a", "b", "a", "b"]})
    columns = [Column("age", "quasi-identifier", hierarchy={"intervals": [2]}), Column("ill", "sensitive")]
    for models in ([KAnonymity(2)], [DistinctDiversity(2, "ill")]):
        for method in (None, Mondrian()):
            anonymize(people, columns, models, method)


def _run(case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            _be(case, out.fileno(), err.fileno())
        code = _wait(child, case["seconds"])
        shown = []
        for stream in (out, err):
            stream.seek(0)
            shown.append(stream.read(MOST_SHOWN).decode(errors="replace"))
        return {"code": code, "out": shown[0], "err": shown[1]}


def _be(case: dict[str, Any], out: int, err: int) -> None:
    """Become the command; never return."""
    code = 99
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (case["memory"], case["memory"]))
        os.chdir(case["cwd"])
        sys.argv = ["velado", *case["argv"]]
        from velado import cli

        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 98
        sys.stdout.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    pause = 0.001
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    serve()
