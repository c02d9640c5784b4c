"""Parameters declared once: range, meaning, and the one message for every violation.

A model, method or hierarchy builder lists its parameters in ``parameters``; `check` is called
from ``__post_init__``. The registry-driven tests break every parameter of every class.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, ClassVar, Protocol, TypeVar

from velado.errors import InputError, shown, suggest

LARGEST = 2**53


@dataclass(frozen=True)
class Number:
    """A number between two bounds, or ``word``."""

    help: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    integer: bool = False
    optional: bool = False
    word: str | None = None

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        if (value is None and self.optional) or (self.word is not None and value == self.word):
            return None
        wanted = ("" if self.word is None else f"'{self.word}' or ") + (
            "a whole number" if self.integer else "a number"
        )
        bad_type = isinstance(value, bool) or not isinstance(value, (int, float))
        if bad_type or not abs(value) <= LARGEST or (self.integer and value != int(value)):
            return f"must be {wanted}{self.interval()}"
        if not self.low <= value <= self.high or (self.low_open and value == self.low):
            return f"must be {wanted}{self.interval()}"
        return None

    def interval(self) -> str:
        """The allowed range in words."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f" {'above' if self.low_open else 'from'} {self.low:g} {'and up ' if self.low_open else ''}to {self.high:g}"
        if math.isfinite(self.low):
            return f" above {self.low:g}" if self.low_open else f" of {self.low:g} or more"
        return ""


@dataclass(frozen=True)
class Choice:
    """One of a few words (or truth values)."""

    help: str
    options: tuple[Any, ...]

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        if any(value is o or (type(value) is type(o) and value == o) for o in self.options):
            return None
        return "must be one of " + ", ".join(_word(o) for o in self.options)


@dataclass(frozen=True)
class ChoiceByColumn(Choice):
    """One of a few words, for all columns or for each of several."""

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        if not isinstance(value, Mapping):
            return super().problem(value)
        wrong = [p for p in map(super().problem, value.values()) if p is not None]
        return f"maps column names to words, which {wrong[0]}" if wrong else None


@dataclass(frozen=True)
class ColumnName:
    """The name of a column of the table."""

    help: str
    optional: bool = False

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        if value is None and self.optional:
            return None
        return None if isinstance(value, str) and value else "must be the name of a column"


@dataclass(frozen=True)
class Levels:
    """A level for each of several columns."""

    help: str

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        good = isinstance(value, Mapping) and all(type(x) is int and x >= 0 for x in value.values())
        return None if good else "must map column names to levels (whole numbers of 0 or more)"


@dataclass(frozen=True)
class Weights:
    """A positive number for each of several columns."""

    help: str

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        numbers = list(value.values()) if isinstance(value, Mapping) else [0]
        good = all(type(x) in (int, float) and 0 < x < LARGEST for x in numbers)
        return None if good else "must map column names to positive numbers"


@dataclass(frozen=True)
class Lists:
    """A list of numbers, or of texts, for each of several columns."""

    help: str
    numbers: bool = False

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        kinds, words = ((int, float), "numbers") if self.numbers else ((str,), "texts")
        lists: list[Any] = list(value.values()) if isinstance(value, Mapping) else [None]
        good = all(isinstance(x, (list, tuple)) and x and all(type(y) in kinds for y in x) for x in lists)
        if good and self.numbers:
            # What is no number at all is refused where the numbers are used.
            good = not any(abs(y) > LARGEST for x in lists for y in x)
        return None if good else f"must map column names to lists of {words}"


@dataclass(frozen=True)
class Word:
    """A text; ``characters`` says how many it must have."""

    help: str
    characters: int | None = None
    optional: bool = False

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        if value is None and self.optional:
            return None
        if isinstance(value, str) and value and self.characters in (None, len(value)):
            return None
        return "must be a text" if self.characters is None else f"must be a text of {self.characters} character(s)"


@dataclass(frozen=True)
class Span:
    """Two whole numbers, the lower one first, not both 0."""

    help: str
    high: int

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        pair = isinstance(value, (list, tuple)) and len(value) == 2 and all(type(x) is int for x in value)
        if pair and -self.high <= value[0] <= value[1] <= self.high and tuple(value) != (0, 0):
            return None
        return f"must be two whole numbers [lowest, highest] from {-self.high} to {self.high}, not both 0"


@dataclass(frozen=True)
class Substitutes:
    """A text for each of several texts. Messages do not repeat them: they may be people's names."""

    help: str
    secret: ClassVar[bool] = True

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        if value is None:
            return None
        good = isinstance(value, Mapping) and all(type(x) in (str, int, float) for y in value.items() for x in y)
        return None if good and value else "must map values to their substitutes"


@dataclass(frozen=True)
class KeyPlace:
    """Where a key is. Messages do not repeat it: it may be a key by mistake."""

    help: str
    secret: ClassVar[bool] = True

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        scheme, _, place = value.partition(":") if isinstance(value, str) else ("", "", "")
        return (
            None if scheme in ("env", "file") and place and "\0" not in place else "must be env:VARIABLE or file:PATH"
        )


@dataclass(frozen=True)
class Size:
    """An amount of memory, such as ``1GB`` or ``512MB``."""

    help: str

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, or None."""
        return None if value is None or bytes_of(value) else "must be an amount of memory such as 512MB or 2GB"


UNITS = {"": 1, "k": 1000, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}


def bytes_of(value: Any) -> int | None:
    """The bytes of an amount of memory; None if it is none.

    >>> bytes_of("1GB"), bytes_of("1.5 MB"), bytes_of("much")
    (1000000000, 1500000, None)
    """
    if type(value) not in (str, int):
        return None
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)\s*([kKMGT]?)B?", str(value).strip())
    return None if found is None else int(float(found[1]) * UNITS[found[2]]) or None


FLAG = (False, True)
Parameter = Number | Choice | ColumnName | Levels | Weights | Lists | Word | Span | Substitutes | KeyPlace | Size


def _word(option: Any) -> str:
    return str(option).lower() if isinstance(option, bool) else str(option)


class Parametrized(Protocol):
    """A dataclass that declares a name and its parameters."""

    name: ClassVar[str]
    parameters: ClassVar[Mapping[str, Parameter]]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init__(self, **arguments: Any) -> None: ...


Declared = TypeVar("Declared", bound=Parametrized)


def check(thing: Parametrized) -> None:
    """Check all declared parameters of a model or method.

    >>> from velado import KAnonymity
    >>> KAnonymity(k=-1)
    Traceback (most recent call last):
    ...
    velado.errors.InputError: the 'k' parameter of k-anonymity must be a whole number of 2 or more, got -1
    """
    for name, parameter in thing.parameters.items():
        value = getattr(thing, name)
        problem = parameter.problem(value)
        if problem:
            near = suggest(value, parameter.options) if isinstance(parameter, Choice) and isinstance(value, str) else ""
            got = "" if getattr(parameter, "secret", False) else f", got {shown(value)}"
            message = f"the '{name}' parameter of {thing.name} {problem}{got}"
            raise InputError("bad-parameter", message, hint=near if near.startswith("Did") else "")


def build(kind: type[Declared], arguments: Mapping[str, Any] | None, where: str) -> Declared:
    """Make a declared class from a mapping (a project file's), with an error for unknown or missing keys."""
    given = dict(arguments or {})
    known = kind.parameters
    for key in given:
        if key not in known:
            raise InputError("unknown-parameter", f"{where} has no parameter '{key}'", hint=suggest(key, known))
    needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    missing = [name for name in needed if name not in given]
    if missing:
        example = ", ".join(f"{name}: …" for name in needed)
        raise InputError(
            "missing-parameter", f"{where} needs {', '.join(repr(m) for m in missing)}", hint=f"Write {{{example}}}."
        )
    return kind(**given)
