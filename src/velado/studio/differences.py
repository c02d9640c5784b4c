"""What two documents say differently, place by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """A place, and what stood and stands there; None: nothing."""

    place: str
    before: Any
    after: Any


def differences(before: Any, after: Any) -> list[Difference]:
    """All places that differ, the way to each separated by dots.

    >>> differences({"k": 2, "rest": "drop"}, {"k": 3, "rest": "drop"})
    [Difference(place='k', before=2, after=3)]
    """
    return list(_between("", before, after))


def _between(place: str, before: Any, after: Any) -> Iterator[Difference]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from _between(f"{place}.{key}" if place else str(key), before.get(key), after.get(key))
    elif before != after:
        yield Difference(place, before, after)
