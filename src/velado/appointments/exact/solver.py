"""The constraint solver (OR-Tools CP-SAT): loaded only when needed, watched while it works.

Needs OR-Tools (``pip install 'velado[appointments]'``).
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWorking
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from velado.errors import missing_package
from velado.progress import Progress

BREATH = 0.2
"""Seconds between two looks at a solver that works."""


def cp_sat() -> ModuleType:
    """The solver's module, or the error that says how to get it."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise missing_package("no-solver", "exact appointments need one more package", "appointments") from None
    return cp_model


@dataclass
class Watch:
    """The time that is left, who works, and somebody who wants to know and may cancel."""

    deadline: float
    workers: int
    progress: Progress
    share: float = 0.0

    @classmethod
    def until(cls, seconds: float, workers: int | None, progress: Progress) -> Watch:
        """A watch that starts now; without a number of workers, as many as the machine has processors."""
        return cls(time.monotonic() + seconds, workers or os.cpu_count() or 1, progress)

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return max(self.deadline - time.monotonic(), 0.0)

    def look(self) -> None:
        """Say how much is done; whoever listens may cancel."""
        self.progress.at(self.share)

    def solve(self, model: Any, seconds: float, workers: int | None = None) -> tuple[int, Any]:
        """Solve a model, for so many seconds at most; the status and the solver that has the values."""
        solver = cp_sat().CpSolver()
        solver.parameters.num_workers = workers or self.workers
        solver.parameters.max_time_in_seconds = max(min(seconds, self.seconds_left), 1e-3)
        solver.parameters.random_seed = 1
        with ThreadPoolExecutor(1) as thread, self.progress.interrupting(solver.stop_search):
            working = thread.submit(solver.solve, model)
            try:
                while True:
                    self.look()
                    try:
                        status = working.result(BREATH)
                    except StillWorking:
                        continue
                    self.progress.check()
                    return status, solver
            except BaseException:
                while not working.done():
                    solver.stop_search()
                    time.sleep(BREATH / 10)
                raise
