"""Cases of a test that is in another part, some of which run in `make test`, too."""

from collections.abc import Iterable
from typing import Any

import pytest


def some(names: Iterable[str], *quick: str) -> list[Any]:
    """All cases, those named here marked `quick`."""
    return [pytest.param(name, marks=pytest.mark.quick) if name in quick else name for name in names]
