"""Many small cases in one test: a loop that names every case that fails, not the first one only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def failures(check: Callable[..., None], cases: Iterable[Any]) -> list[str]:
    """The cases whose check fails, each with the reason; the parts of a tuple are the arguments of the check."""
    found = []
    for case in cases:
        parts = case if isinstance(case, tuple) else (case,)
        try:
            check(*parts)
        except (Exception, pytest.fail.Exception) as error:
            found.append(f"{', '.join(map(str, parts))}: {type(error).__name__}: {error}")
    return found
