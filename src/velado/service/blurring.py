"""How parts of a result are told to who may not read records: kept, blurred, or left out.

A rule takes a part and what is known around it, and gives what is told of it. Objects tell only the keys that have a rule: what
nobody has thought about is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

FEWER = "fewer than 3"
SMALL = 3
"""Counts of people below it are not told; 0 tells of nobody."""
LEFT_OUT: Any = object()


@dataclass(frozen=True)
class Around:
    """What is known around a part: the records of the table, its columns that may be shown, whether a class is small."""

    rows: int | None = None
    shown: frozenset[str] = field(default_factory=frozenset)
    small: bool = False


Rule = Callable[[Any, Around], Any]


def plain(value: Any, around: Around) -> Any:
    """Names, words, parameters, numbers of levels: no record is in them."""
    return value if value is None or isinstance(value, (str, int, float, bool)) else LEFT_OUT


def any_plain(value: Any, around: Around) -> Any:
    """The same, nested: parts of a project's document, which members may read."""
    if isinstance(value, Mapping):
        return kept({str(key): any_plain(one, around) for key, one in value.items()})
    if isinstance(value, list):
        return [one for one in (any_plain(one, around) for one in value) if one is not LEFT_OUT]
    return plain(value, around)


def number(value: Any, around: Around) -> Any:
    """A figure that counts no people: losses, distances, numbers of values and of classes."""
    return value if value is None or isinstance(value, (int, float, bool)) else LEFT_OUT


def count(value: Any, around: Around) -> Any:
    """How many people or records."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None if value is None else LEFT_OUT
    return FEWER if 0 < value < SMALL else value


def risk(value: Any, around: Around) -> Any:
    """One by the size of a class: as telling as the size."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None if value is None else LEFT_OUT
    return FEWER if value > 1 / SMALL else value


def share(value: Any, around: Around) -> Any:
    """A share of the records: as telling as their number, which must be known to judge it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None if value is None else LEFT_OUT
    if around.rows is None:
        return LEFT_OUT if value else value
    return FEWER if 0 < value * around.rows < SMALL - 0.5 else value


def few_suppressed(value: Any) -> bool:
    """Whether one or two records are suppressed, as is said, or as follows from those that are released."""
    if not isinstance(value, Mapping):
        return False
    rows, released = value.get("rows"), value.get("released")
    gone = rows - released if isinstance(rows, int) and isinstance(released, int) else 0
    said = value.get("suppressed")
    return 0 < gone < SMALL or (isinstance(said, (int, float)) and 0 < said < SMALL)


def obj(**rules: Rule) -> Rule:
    """An object: only keys that have a rule. Its own ``rows`` are known to the shares in it."""

    def told(value: Any, around: Around) -> Any:
        if not isinstance(value, Mapping):
            return None if value is None else LEFT_OUT
        rows = value.get("rows", around.rows)
        inside = Around(rows if isinstance(rows, int) else around.rows, around.shown, around.small)
        return kept({key: rules[key](one, inside) for key, one in value.items() if key in rules})

    return told


def by_name(rule: Rule) -> Rule:
    """An object by names of columns, models, measures or parameters."""

    def told(value: Any, around: Around) -> Any:
        if not isinstance(value, Mapping):
            return None if value is None else LEFT_OUT
        return kept({str(key): rule(one, around) for key, one in value.items()})

    return told


def each(rule: Rule) -> Rule:
    """A list."""

    def told(value: Any, around: Around) -> Any:
        if not isinstance(value, (list, tuple)):
            return None if value is None else LEFT_OUT
        return [one for one in (rule(one, around) for one in value) if one is not LEFT_OUT]

    return told


def kept(found: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is left out."""
    return {key: one for key, one in found.items() if one is not LEFT_OUT}
