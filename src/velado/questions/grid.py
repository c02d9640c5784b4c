"""Which parameters a comparison tries with which values, as people write them: ``2..25``, ``2,5,10``, ``0.1..0.5:0.1``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from velado.errors import InputError
from velado.sentences import Sentence

MOST_VALUES = 10_000


def grid_of(texts: Mapping[str, str], option: str = "") -> dict[str, list[Any]]:
    """The grid that texts describe, by parameter; ``option`` is what stands before a name where it was written.

    >>> grid_of({"k": "2..4", "method": "lattice, datafly"})
    {'k': [2, 3, 4], 'method': ['lattice', 'datafly']}
    """
    return {name: _read(name, text, option + name) for name, text in texts.items()}


def _read(name: str, text: str, called: str) -> list[Any]:
    if name == "method":
        return _words(text)
    return limits(text, called) if name == "suppression" else values(called, text)


def limits(text: str, called: str = "suppression") -> list[Any]:
    """Suppression limits: shares, or numbers of records, each a value or a range.

    >>> limits("0,0.05,1..2 records")
    [0, 0.05, '1 record', '2 records']
    """
    found: list[Any] = []
    for part in _words(text):
        numbers = re.sub(r"\s+records?$", "", part)
        counted = values(called, numbers)
        found += counted if numbers == part else [f"{n} record{'s' * (n != 1)}" for n in counted]
    if not found:
        raise _bad(called, text)
    return found


def values(name: str, text: str) -> list[float]:
    """Numbers from a list of values and ranges ``low..high`` or ``low..high:step``.

    >>> values("k", "2..4,10"), values("t", "0.1..0.3:0.1")
    ([2, 3, 4, 10], [0.1, 0.2, 0.3])
    """
    found: list[float] = []
    for part in _words(text):
        low, dots, rest = part.partition("..")
        high, colon, step = rest.partition(":")
        numbers = [_number(name, text, x) for x in (low, *([high] if dots else []), *([step] if colon else []))]
        if not dots:
            found += numbers
            continue
        by = numbers[2] if colon else 1
        if by <= 0 or numbers[1] < numbers[0] or (numbers[1] - numbers[0]) / by > MOST_VALUES:
            raise _bad(name, text)
        count = math.floor((numbers[1] - numbers[0]) / by + 1e-9)
        found += [_tidy(numbers[0] + i * by) for i in range(count + 1)]
    if not found:
        raise _bad(name, text)
    return list(dict.fromkeys(found))


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(name: str, text: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise _bad(name, text) from None
    if not math.isfinite(value):
        raise _bad(name, text)
    return _tidy(value)


def _tidy(value: float) -> float:
    rounded = round(value, 10)
    return int(rounded) if rounded == int(rounded) else rounded


def _bad(name: str, text: str) -> InputError:
    return InputError(
        "bad-option",
        Sentence("{option} takes values and ascending ranges, got {got!r}", option=name, got=text),
        hint="For example 2..25, 2,5,10 or 0.1..0.5:0.1.",
    )
