"""What two documents say differently, place by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from velado.studio.words import Words


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
    inside = [side for side in (before, after) if isinstance(side, Mapping) and side]
    if inside and all(side is None or isinstance(side, Mapping) for side in (before, after)):
        for key in dict.fromkeys(key for side in inside for key in side):
            there = f"{place}.{key}" if place else str(key)
            yield from _between(there, *(None if side is None else side.get(key) for side in (before, after)))
    elif before != after:
        yield Difference(place, before, after)


def describe_value(value: Any, words: Words) -> str:
    """What stands in a document, in a few signs.

    >>> describe_value([{"k-anonymity": {"k": 5}}, "flat"], Words("en")), describe_value(0.5, Words("es")), describe_value(None, Words("pt"))
    ('k-anonymity (k 5), flat', '0,5', '–')
    """
    if isinstance(value, Mapping) and value:
        return ", ".join(
            f"{key} ({describe_value(one, words)})" if isinstance(one, Mapping) and one else f"{key} {describe_value(one, words)}"
            for key, one in value.items()
        )
    if isinstance(value, list):
        return ", ".join(describe_value(one, words) for one in value) or "–"
    if isinstance(value, bool) or value == {}:
        return words.say("no" if value is False else "yes")
    return "–" if value is None else value if isinstance(value, str) else words.number(value, 6)
