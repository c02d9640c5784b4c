"""What a label says by itself: a number, an interval, a masked text, a set of values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from velado.hierarchies.numbers import parse_number
from velado.values import ROOT, Text

NUMBER = r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
DASHED = re.compile(rf"^([\[(]?)\s*({NUMBER})\s*(?:-|–|\.\.|~)\s*({NUMBER})\s*([\])]?)$")
BRACKETED = re.compile(r"^([\[(\]])\s*([^,;\s]+)\s*[,;]\s*([^,;\s]+)\s*([\])\[])$")
ONE_SIDED = re.compile(rf"^(<=|>=|<|>|≤|≥)\s*({NUMBER})$")
AND_MORE = re.compile(rf"^({NUMBER})\s*\+$")
CODE = re.compile(r"^[+-]?0\d")


@dataclass(frozen=True)
class Interval:
    """Limits of a numeric label and whether they belong to it."""

    low: float
    high: float
    low_in: bool = True
    high_in: bool = True

    def holds(self, numbers: np.ndarray) -> np.ndarray:
        """Which numbers lie in it."""
        above = numbers >= self.low if self.low_in else numbers > self.low
        return above & (numbers <= self.high if self.high_in else numbers < self.high)


def number_of(label: Text) -> float | None:
    """The number that a label is; codes with leading zeros are none.

    >>> number_of("34"), number_of("08001"), number_of("20-39")
    (34.0, None, None)
    """
    if label is None or CODE.match(label):
        return None
    try:
        return parse_number(label)
    except ValueError:
        return None


def interval_of(label: Text) -> Interval | None:
    """The interval that a label names, in the notations of the common tools; a number is an interval of one.

    >>> interval_of("20-39"), interval_of("[1.5, 2.0)")
    (Interval(low=20.0, high=39.0, low_in=True, high_in=True), Interval(low=1.5, high=2.0, low_in=True, high_in=False))
    """
    if label is None:
        return None
    label = label.strip()
    number = number_of(label)
    if number is not None:
        return Interval(number, number)
    if found := DASHED.match(label):
        low, high = parse_number(found[2]), parse_number(found[3])
        return Interval(low, high, found[1] != "(", found[4] != ")") if low <= high else None
    if found := BRACKETED.match(label):
        limits = _limit(found[2]), _limit(found[3])
        if limits[0] is None or limits[1] is None or limits[0] > limits[1]:
            return None
        return Interval(limits[0], limits[1], found[1] == "[", found[4] == "]")
    if found := ONE_SIDED.match(label):
        limit = parse_number(found[2])
        if found[1] in ("<", "<=", "≤"):
            return Interval(-np.inf, limit, True, found[1] != "<")
        return Interval(limit, np.inf, found[1] != ">", True)
    if found := AND_MORE.match(label):
        return Interval(parse_number(found[1]), np.inf)
    return None


def _limit(text: str) -> float | None:
    try:
        return float(text) if "inf" in text.lower() else parse_number(text)
    except ValueError:
        return None


def numbers_of(values: Sequence[Text]) -> np.ndarray | None:
    """The values as numbers, missing ones as NaN; None unless all that are present are numbers."""
    numbers = [np.nan if v is None else number_of(v) for v in values]
    if not values or any(x is None for x in numbers) or all(v is None for v in values):
        return None
    return np.array(numbers, dtype=float)


def stands_for(label: str, leaves: Sequence[Text], numbers: np.ndarray | None) -> np.ndarray:
    """The leaves that a label can stand for where no hierarchy says it; empty if it cannot be read.

    An interval of numbers; a masked text (``751**``, ``751*``); a part of the value that begins or ends at a
    separator (``1990-03`` of ``1990-03-14``, ``Fortaleza/CE`` of ``Centro/Fortaleza/CE``); a set ``{a, b}``.
    """
    interval = interval_of(label) if numbers is not None else None
    if interval is not None and numbers is not None:
        return np.flatnonzero(interval.holds(numbers))
    if ROOT in label:
        found = _matching(leaves, lambda x: _same_length(label, x))
        return found if len(found) else _matching(leaves, lambda x: _any_length(label.split(ROOT), x))
    if label.startswith("{") and label.endswith("}"):
        members = {part.strip() for part in label[1:-1].split(",")}
        known = [i for i, leaf in enumerate(leaves) if leaf in members]
        return np.array(known if len(known) == len(members) else [], dtype=np.int64)
    return _matching(leaves, lambda x: _part_of(label, x))


def _matching(leaves: Sequence[Text], fits: Callable[[str], bool]) -> np.ndarray:
    return np.array([i for i, x in enumerate(leaves) if x is not None and fits(x)], dtype=np.int64)


def _same_length(label: str, value: str) -> bool:
    """Whether a value has the characters of a label in which each ``*`` is one character."""
    return len(label) == len(value) and all(a in (ROOT, b) for a, b in zip(label, value, strict=True))


def _any_length(parts: Sequence[str], value: str) -> bool:
    """Whether a value has these parts in this order, with anything between them. Takes linear time, unlike a pattern."""
    first, *middle, last = parts
    at, end = len(first), len(value) - len(last)
    if at > end or not value.startswith(first) or not value.endswith(last):
        return False
    for part in middle:
        at = value.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def _part_of(label: str, value: str) -> bool:
    """Whether a value begins or ends with a label, beside a character that is not of a word."""
    if len(value) <= len(label):
        return False
    beside = ([value[len(label)]] if value.startswith(label) else []) + (
        [value[-len(label) - 1]] if value.endswith(label) else []
    )
    return any(re.match(r"\W", character) for character in beside)
