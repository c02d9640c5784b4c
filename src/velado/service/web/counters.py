"""Requests and their time, by route, counted in this process."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class Route(NamedTuple):
    """What is counted apart. ``path`` is the pattern of a route: nothing that a caller wrote."""

    method: str
    path: str
    status: int


_lock = threading.Lock()
_requests: Counter[Route] = Counter()
_seconds: dict[Route, float] = {}


def count(scope: Mapping[str, Any], status: int, seconds: float) -> None:
    """One request more."""
    method = scope["method"] if scope["method"] in METHODS else "other"
    route = Route(method, getattr(scope.get("route"), "path", "other"), status)
    with _lock:
        _requests[route] += 1
        _seconds[route] = _seconds.get(route, 0.0) + seconds


def route_counts() -> list[tuple[Route, int, float]]:
    """All routes that were asked for, how often, and the seconds that it took."""
    with _lock:
        return sorted((route, number, _seconds[route]) for route, number in _requests.items())
