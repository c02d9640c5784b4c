"""What a label says by itself: a number, an interval, a masked text, a set of values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from velado import numbers as texts
from velado.numbers import CODE, COMMA, POINT, Notation, notation_of
from velado.results import Discreet
from velado.values import ROOT, Text

NUMBER = rf"(?:{POINT.pattern}|{COMMA.pattern})"
DASHED = re.compile(rf"^([\[(]?)\s*({NUMBER})\s*(?:-|–|\.\.|~)\s*({NUMBER})\s*([\])]?)$")
BRACKETED = re.compile(r"^([\[(\]])\s*([^;\s]+)\s*;\s*([^;\s]+)\s*([\])\[])$")
WITH_COMMA = re.compile(r"^([\[(\]])\s*([^,\s]+)\s*,\s*([^,\s]+)\s*([\])\[])$")
ONE_SIDED = re.compile(rf"^(<=|>=|<|>|≤|≥)\s*({NUMBER})$")
AND_MORE = re.compile(rf"^({NUMBER})\s*\+$")
WHOLE = re.compile("(0|[1-9][0-9]{0,14})-(0|[1-9][0-9]{0,14})")
"""Whole numbers without signs and thousands, which every notation reads alike."""
INFINITE = re.compile(r"^([+-]?)(?:inf|infinity|∞)$", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class Interval(Discreet):
    """Limits of a numeric label and whether they belong to it."""

    low: float
    high: float
    low_in: bool = True
    high_in: bool = True

    def summary(self) -> dict[str, bool]:
        """The limits are those of a label."""
        return {"low_in": self.low_in, "high_in": self.high_in}

    def holds(self, numbers: np.ndarray) -> np.ndarray:
        """Which numbers lie in it."""
        above = numbers >= self.low if self.low_in else numbers > self.low
        return above & (numbers <= self.high if self.high_in else numbers < self.high)


@dataclass(frozen=True, repr=False)
class _Written(Discreet):
    """An interval as its label writes it; an end without a limit has an empty text."""

    low: str
    high: str
    low_in: bool = True
    high_in: bool = True

    def limits(self) -> list[str]:
        return [x for x in (self.low, self.high) if x and not INFINITE.match(x)]

    def read(self, notation: Notation) -> Interval | None:
        low, high = _limit(self.low or "-inf", notation), _limit(self.high or "inf", notation)
        return None if low is None or high is None or low > high else Interval(low, high, self.low_in, self.high_in)


@dataclass(frozen=True, repr=False)
class _Whole(Discreet):
    """An interval of whole numbers. A release may have hundreds of thousands of them."""

    low: str
    high: str

    def limits(self) -> list[str]:
        return []

    def read(self, notation: Notation) -> Interval | None:
        low, high = float(self.low), float(self.high)
        return Interval(low, high) if low <= high else None


def _limit(text: str, notation: Notation) -> float | None:
    if found := INFINITE.match(text):
        return -np.inf if found[1] == "-" else np.inf
    return notation.number(text)


def _parse_limits(label: Text, notation: Notation | None = None) -> _Written | _Whole | None:
    """The limits of a label in the notations of the common tools; codes with leading zeros are no numbers."""
    if label is None:
        return None
    label = label.strip()
    if found := WHOLE.fullmatch(label):
        return _Whole(found[1], found[2])
    if any(n.plain(label) is not None for n in (POINT, COMMA, notation) if n is not None):
        return None if CODE.match(label) else _Written(label, label)
    if found := DASHED.match(label):
        return _Written(found[2], found[3], found[1] != "(", found[4] != ")")
    if found := BRACKETED.match(label) or WITH_COMMA.match(label):
        return _Written(found[2], found[3], found[1] == "[", found[4] == "]")
    if found := ONE_SIDED.match(label):
        if found[1] in ("<", "<=", "≤"):
            return _Written("", found[2], True, found[1] != "<")
        return _Written(found[2], "", found[1] != ">", True)
    if found := AND_MORE.match(label):
        return _Written(found[1], "")
    return None


def intervals_of(labels: Sequence[Text], notation: Notation | None = None) -> list[Interval | None]:
    """The intervals that the labels of a column name, None where one is no interval; a number is an interval of one.

    All are read in one notation: that of the column (``notation``) where all fit it, else the one that they share.

    >>> intervals_of(["20-39", "[1.5, 2.0)"])[0] == Interval(20.0, 39.0)
    True
    >>> intervals_of(["1,000-1,999"]), intervals_of(["1,000-1,999"], POINT)[0].low
    ([None], 1000.0)
    """
    written = [_parse_limits(label, notation) for label in labels]
    limits = [x for w in written if w is not None for x in w.limits()]
    if notation is None or any(notation.number(x) is None for x in limits):
        notation = notation_of(limits) if limits else POINT
    return [None if w is None or notation is None else w.read(notation) for w in written]


def interval_of(label: Text) -> Interval | None:
    """The interval that a label names by itself."""
    return intervals_of([label])[0]


def numbers_of(values: Sequence[Text]) -> np.ndarray | None:
    """The values as numbers, missing ones as NaN; None unless all that are present are numbers and none is a code."""
    found = texts.numbers_of(values)
    return None if found is None else np.array([np.nan if x is None else x for x in found], dtype=float)


def leaf_notation(leaves: Sequence[Text]) -> Notation | None:
    """How the values of a column write their numbers, if they are numbers."""
    return notation_of([v for v in leaves if v is not None])


def stands_for(label: str, leaves: Sequence[Text], numbers: np.ndarray | None, interval: Interval | None) -> np.ndarray:
    """The leaves that a label can stand for where no hierarchy says it; empty if it cannot be read.

    The ``interval`` that it names, of ``numbers``; a masked text (``751**``, ``751*``); a part of the value that begins or ends at a
    separator (``1990-03`` of ``1990-03-14``, ``Fortaleza/CE`` of ``Centro/Fortaleza/CE``); a set ``{a, b}``.
    """
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
    beside = ([value[len(label)]] if value.startswith(label) else []) + ([value[-len(label) - 1]] if value.endswith(label) else [])
    return any(re.match(r"\W", character) for character in beside)
