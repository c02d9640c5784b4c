"""Many small cases in one test: a loop that names every case that fails, not the first one only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def failures(check: Callable[..., None], cases: Iterable[tuple[Any, ...]]) -> list[str]:
    """The cases whose check fails, each with the reason; a check gets a case's parts as its arguments."""
    found = []
    for case in cases:
        try:
            check(*case)
        except (Exception, pytest.fail.Exception) as error:
            found.append(f"{', '.join(map(str, case))}: {type(error).__name__}: {error}")
    return found
