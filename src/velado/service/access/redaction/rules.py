"""The words of the table: a rule takes a part of a result and what is known around it, and gives what is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
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
Fields = Mapping[str, Rule]


def plain(value: Any, around: Around) -> Any:
    """Names, words, parameters, numbers of levels: no record is in them."""
    return value if value is None or isinstance(value, (str, int, float, bool)) else LEFT_OUT


def any_plain(value: Any, around: Around) -> Any:
    """The same, nested: parts of a project's document, which members may read."""
    if isinstance(value, Mapping):
        return drop_left_out({str(key): any_plain(one, around) for key, one in value.items()})
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


def fields(
    inner: Fields | None = None,
    *,
    words: str = "",
    figures: str = "",
    counts: str = "",
    risks: str = "",
    shares: str = "",
    lists: str = "",
    parts: str = "",
) -> dict[str, Rule]:
    """The fields of an object by their rules: names, separated by blanks, and ``inner`` for those with rules of their own.

    >>> list(fields(words="schema method", counts="rows"))
    ['schema', 'method', 'rows']
    """
    named = ((words, plain), (figures, number), (counts, count), (risks, risk), (shares, share), (lists, each(plain)))
    return {name: rule for names, rule in (*named, (parts, any_plain)) for name in names.split()} | dict(inner or {})


def obj(rules: Fields) -> Rule:
    """An object: only fields that have a rule. Its own ``rows`` are known to the shares in it."""

    def blur(value: Any, around: Around) -> Any:
        if not isinstance(value, Mapping):
            return None if value is None else LEFT_OUT
        rows = value.get("rows", around.rows)
        inside = replace(around, rows=rows) if isinstance(rows, int) else around
        return drop_left_out({key: rules[key](one, inside) for key, one in value.items() if key in rules})

    return blur


def part(inner: Fields | None = None, **names: str) -> Rule:
    """An object by its `fields`."""
    return obj(fields(inner, **names))


def by_name(rule: Rule) -> Rule:
    """An object by names of columns, models, measures or parameters."""

    def blur(value: Any, around: Around) -> Any:
        if not isinstance(value, Mapping):
            return None if value is None else LEFT_OUT
        return drop_left_out({str(key): rule(one, around) for key, one in value.items()})

    return blur


def each(rule: Rule) -> Rule:
    """A list."""

    def blur(value: Any, around: Around) -> Any:
        if not isinstance(value, (list, tuple)):
            return None if value is None else LEFT_OUT
        return [one for one in (rule(one, around) for one in value) if one is not LEFT_OUT]

    return blur


def drop_left_out(found: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is left out."""
    return {key: one for key, one in found.items() if one is not LEFT_OUT}
