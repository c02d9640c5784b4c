"""Compile the judge in a process of its own: ``python -m velado.kernels.warm``.

The first search after installation compiles for as long as everything else takes together. Here a second processor
compiles the half that is needed last; the search finds it in the cache, or compiles it itself if it comes earlier.
The process ends when it is done, and as soon as the one that started it is gone (its end of standard input closes).
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any


def _leave_with_parent() -> None:
    # Not through Python's buffers, whose lock the end of the process would wait for.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(0)


def nothing() -> tuple[Any, ...]:
    """Arguments of `judge` without rules and classes."""
    import numpy as np

    from velado.kernels.measures import Rules

    whole, real, flag = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.bool_)
    kinds = {"threshold": real, "expected": real, "caps": real, "slack": real, "scale": real, "union_closed": flag}
    rules = Rules(**{name: kinds.get(name, whole) for name in Rules._fields})
    return rules, whole, np.zeros(1, np.int64), np.zeros(0, np.int32), whole


def main() -> None:
    """Judge nothing: that compiles everything that judging needs."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    from velado.kernels.measures import judge

    judge(*nothing())


if __name__ == "__main__":
    main()
