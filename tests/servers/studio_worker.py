"""A worker whose jobs are copies of itself: each would otherwise import everything anew, which takes longer than most jobs of tests.

``python studio_worker.py``, with the settings in the environment. Jobs are processes of their own as in a real worker, and are
spoken to, limited and killed as those; tests about processes that die use real ones.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

from velado.recognition.contents.people import lexicon
from velado.release.warm import compile_all
from velado.sentences import translations
from velado.service.jobs import child, limits, process, work, worker

LATER = ("pyarrow.csv", "pyarrow.parquet", "scipy.sparse.csgraph")
"""What most jobs import when they need it."""


class Copy:
    """What `subprocess.Popen` would start, as a copy of this process."""

    def __init__(self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str], **usual: object) -> None:
        theirs, mine = os.pipe()
        heard, said = os.pipe()
        self.returncode: int | None = None
        self.pid = os.fork()
        if not self.pid:
            _be(cwd, env, theirs, said)
        # Here and there: whoever comes first, it is a group before it is killed.
        _lead(self.pid)
        os.close(theirs)
        os.close(said)
        self.stdin, self.stdout = os.fdopen(mine, "wb", buffering=0), os.fdopen(heard, "rb", buffering=0)

    def wait(self) -> None:
        """Wait for its end."""
        self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _be(folder: Path, environment: Mapping[str, str], told: int, said: int) -> None:
    """Be the process of a job, to the end."""
    try:
        _lead(0)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(told, 0)
        os.dup2(said, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.closerange(3, 256)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        process.main()
    finally:
        os._exit(1)


def _lead(pid: int) -> None:
    with suppress(OSError):
        os.setpgid(pid, 0)


def main() -> None:
    """Read once what jobs read, then work."""
    for name in (*LATER, *(f"{work.__name__}.{found.name}" for found in pkgutil.iter_modules(work.__path__))):
        importlib.import_module(name)
    for read in (compile_all, translations, lexicon):
        read()
    child.subprocess = SimpleNamespace(Popen=Copy, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)  # type: ignore[assignment]
    # Nobody waits for pages beside these jobs; on a busy machine they would starve.
    limits.NICE = 0
    worker.main()


if __name__ == "__main__":
    main()
