"""A command that finds no compiled kernels works without them; a second process compiles them for the next one."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

PATIENCE = 60.0
"""Seconds that plain kernels serve while another process compiles."""
SEARCHES = ("partition", "start_search", "climb_nodes", "sweep_nodes", "evaluate_node", "judge", "survey_nodes")

_helpers: list[subprocess.Popen[bytes]] = []


def begin(method: str = "mondrian") -> None:
    """Let a second processor compile, first what a method needs, if that has not been done on this machine."""
    from velado.kernels import compile_cache, compiler

    if _helpers or compile_cache.compiled_before(*SEARCHES):
        return
    if not compile_cache.being_compiled():
        quiet = subprocess.DEVNULL
        command = [sys.executable, "-m", "velado.release.warm", "--with-parent", method]
        # Nothing is imported from the folder in which a command happens to be given.
        environment = {**os.environ, "PYTHONSAFEPATH": "1"}
        # Where no process may be started, this one compiles when it has to.
        try:
            _helpers.append(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, env=environment, start_new_session=True
                )
            )
        except OSError:
            return
    compiler.set_patience(PATIENCE)


def end(finished: bool) -> None:
    """After a command that came to its end the other process goes on; else it ends, as when this one is killed."""
    while _helpers:
        helper = _helpers.pop()
        assert helper.stdin is not None
        with suppress(OSError):
            if finished:
                helper.stdin.write(b".")
            helper.stdin.close()
        if not finished:
            helper.wait()
