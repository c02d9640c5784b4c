"""Runs one velado command after another in this process, which has a limit of memory; whoever started it watches the time.

Reads one JSON object per line (``argv``, ``cwd``) and answers one: ``code``, ``out``, ``err``. If the process dies, the
case that it was given last is the reason.
"""

import json
import os
import resource
import sys
import tempfile
import traceback
from typing import Any

MOST_SHOWN = 20_000


def serve(memory: int) -> None:
    """Answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line))) + "\n")
        answers.flush()


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Run a command; what it prints, also from compiled code, goes into files."""
    from velado import cli

    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        os.chdir(case["cwd"])
        sys.argv = ["velado", *case["argv"]]
        try:
            cli.main()
            code: Any = "no exit"
        except SystemExit as stop:
            code = stop.code
        except BaseException:
            traceback.print_exc()
            code = "exception"
        sys.stdout.flush()
        sys.stderr.flush()
        for number, old in enumerate(kept, start=1):
            os.dup2(old, number)
            os.close(old)
        shown = []
        for stream in (out, err):
            stream.seek(0)
            shown.append(stream.read(MOST_SHOWN).decode(errors="replace"))
    return {"code": code, "out": shown[0], "err": shown[1]}


if __name__ == "__main__":
    serve(int(sys.argv[1]))
