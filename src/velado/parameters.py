"""Parameters declared once: range, meaning, the one message for every violation, and a JSON Schema.

A model, method, operation or planner lists its parameters in ``parameters``; `check` is called from ``__post_init__``.
`schema_of` describes a declared class to forms and other programs. The registry-driven tests break every parameter of
every class, and hold `Parameter.schema` and `Parameter.problem` against each other.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from velado.errors import InputError, Problems, short_repr, suggest
from velado.json_schema import NULL, TEXT, Shape, array, either, mapping, or_null, record
from velado.sentences import Sentence, join_sentences, translate_template

LARGEST = 2**53


@dataclass(frozen=True)
class Parameter(ABC):
    """What may be given for a parameter, and what it means.

    ``refers`` is what outside of the project it names, a ``file`` or a ``key``. ``unit`` is what its numbers count. An ``expert`` parameter has a default that nearly everybody keeps: forms show it
    on demand. Messages do not repeat the value of a ``secret`` one.
    """

    help: str
    unit: str = field(default="", kw_only=True)
    expert: bool = field(default=False, kw_only=True)
    secret: ClassVar[bool] = False
    refers: ClassVar[Literal["", "file", "key"]] = ""

    @abstractmethod
    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""

    @abstractmethod
    def shape(self) -> Shape:
        """The values without a problem, as a JSON Schema."""

    def schema(self, language: str = "en") -> Shape:
        """The parameter as a JSON Schema (draft 2020-12), its meaning in a language.

        >>> Number("smallest class size", low=2, high=9, integer=True, unit="records").schema()
        {'description': 'smallest class size', 'type': 'integer', 'minimum': 2, 'maximum': 9, 'x-unit': 'records'}
        """
        said = {"description": translate_template(self.help, language)} if self.help else {}
        unit = {"x-unit": translate_template(self.unit, language)} if self.unit else {}
        return {**said, **self.shape(), **unit, **({"x-expert": True} if self.expert else {})}


@dataclass(frozen=True)
class Number(Parameter):
    """A number between two bounds, or ``word``."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    integer: bool = False
    optional: bool = False
    word: str | None = None

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        if (value is None and self.optional) or (self.word is not None and value == self.word):
            return None
        good = _is_number(value) and abs(value) <= LARGEST and not (self.integer and value != int(value))
        if good and self.low <= value <= self.high and not (self.low_open and value == self.low):
            return None
        return Sentence("must be {wanted}", wanted=self.describe_range())

    def describe_range(self) -> Sentence:
        """What is allowed, in words."""
        if self.word is None:
            return self._numbers()
        return Sentence("'{word}' or {wanted}", word=self.word, wanted=self._numbers())

    def _numbers(self) -> Sentence:
        range_ = {"low": self.low, "high": self.high}
        if math.isfinite(self.low) and math.isfinite(self.high):
            if self.low_open and self.integer:
                return Sentence("a whole number above {low:,.15g} and up to {high:,.15g}", **range_)
            if self.low_open:
                return Sentence("a number above {low:,.15g} and up to {high:,.15g}", **range_)
            if self.integer:
                return Sentence("a whole number from {low:,.15g} to {high:,.15g}", **range_)
            return Sentence("a number from {low:,.15g} to {high:,.15g}", **range_)
        if math.isfinite(self.low):
            if self.low_open:
                above = {"low": self.low}
                if self.integer:
                    return Sentence("a whole number above {low:,.15g}", **above)
                return Sentence("a number above {low:,.15g}", **above)
            if self.integer:
                return Sentence("a whole number of {low:,.15g} or more", low=self.low)
            return Sentence("a number of {low:,.15g} or more", low=self.low)
        return Sentence("a whole number") if self.integer else Sentence("a number")

    def shape(self) -> Shape:
        """A range of numbers; what is too large to be told apart from its neighbours is none of them."""
        kind = "integer" if self.integer else "number"
        low = max(self.low, -LARGEST)
        numbers = {
            "type": [kind, "null"] if self.optional and self.word is None else kind,
            "exclusiveMinimum" if self.low_open else "minimum": low,
            "maximum": min(self.high, LARGEST),
        }
        if self.word is None:
            return numbers
        return either(numbers, {"const": self.word}, *([NULL] if self.optional else []))


@dataclass(frozen=True)
class Limit(Parameter):
    """A share of the records from 0 to 1, or so many of them: ``3 records``."""

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        if (_is_number(value) and 0 <= value <= 1) or records_of(value) is not None:
            return None
        return Sentence("must be a share from 0 to 1, or a number of records such as '3 records'")

    def shape(self) -> Shape:
        """A share, or a number with its unit."""
        return either({"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "pattern": RECORDS})


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a few words (or truth values, or numbers)."""

    options: tuple[Any, ...]

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        if any(_same(value, option) for option in self.options):
            return None
        return Sentence("must be one of {options}", options=", ".join(map(_word, self.options)))

    def shape(self) -> Shape:
        """The words."""
        return {"type": "boolean"} if self.options == FLAG else {"enum": list(self.options)}


@dataclass(frozen=True)
class ChoiceByColumn(Choice):
    """One of a few words, for all columns or for each of several."""

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        if not isinstance(value, Mapping):
            return super().problem(value)
        wrong = [p for p in map(super().problem, value.values()) if p is not None]
        return Sentence("maps column names to words, which {problem}", problem=wrong[0]) if wrong else None

    def shape(self) -> Shape:
        """The words, or columns with words."""
        word = super().shape()
        return either(word, mapping(word))


@dataclass(frozen=True)
class ColumnName(Parameter):
    """The name of a column of the table."""

    optional: bool = False

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        if (value is None and self.optional) or (isinstance(value, str) and value):
            return None
        return Sentence("must be the name of a column")

    def shape(self) -> Shape:
        """A name; which ones there are, only the table knows."""
        return (or_null("string", minLength=1) if self.optional else TEXT) | {"x-column": True}


@dataclass(frozen=True)
class Levels(Parameter):
    """A level for each of several columns."""

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        good = isinstance(value, Mapping) and all(_is_whole(x) and x >= 0 for x in value.values())
        return None if good else Sentence("must map column names to levels (whole numbers of 0 or more)")

    def shape(self) -> Shape:
        """Columns with whole numbers."""
        return mapping({"type": "integer", "minimum": 0, "maximum": LARGEST})


@dataclass(frozen=True)
class Weights(Parameter):
    """A positive number for each of several columns."""

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        good = isinstance(value, Mapping) and all(_is_number(x) and 0 < x < LARGEST for x in value.values())
        return None if good else Sentence("must map column names to positive numbers")

    def shape(self) -> Shape:
        """Columns with positive numbers."""
        return mapping({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": LARGEST})


@dataclass(frozen=True)
class Lists(Parameter):
    """A list of numbers, or of texts, for each of several columns."""

    numbers: bool = False

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        lists: list[Any] = list(value.values()) if isinstance(value, Mapping) else [None]
        if all(isinstance(x, (list, tuple)) and x and all(map(self._good, x)) for x in lists):
            return None
        if self.numbers:
            return Sentence("must map column names to lists of numbers")
        return Sentence("must map column names to lists of texts")

    def _good(self, value: Any) -> bool:
        # What is no number at all is refused where the numbers are used.
        return _is_number(value) and not abs(value) > LARGEST if self.numbers else isinstance(value, str)

    def shape(self) -> Shape:
        """Columns with lists."""
        item = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST} if self.numbers else {"type": "string"}
        return mapping(array(item, minItems=1))


@dataclass(frozen=True)
class Word(Parameter):
    """A text; ``characters`` says how many it must have."""

    characters: int | None = None
    optional: bool = False

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        if value is None and self.optional:
            return None
        if isinstance(value, str) and value and self.characters in (None, len(value)):
            return None
        if self.characters is None:
            return Sentence("must be a text")
        return Sentence("must be a text of {number} character(s)", number=self.characters)

    def shape(self) -> Shape:
        """A text that is not empty."""
        longest = {} if self.characters is None else {"maxLength": self.characters}
        return {"type": ["string", "null"] if self.optional else "string", "minLength": self.characters or 1, **longest}


@dataclass(frozen=True)
class FileName(Word):
    """The path of a file."""

    refers: ClassVar[Literal["", "file", "key"]] = "file"


@dataclass(frozen=True)
class Span(Parameter):
    """Two whole numbers, the lower one first, not both 0."""

    high: int

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        pair = isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_is_whole, value))
        if pair and -self.high <= value[0] <= value[1] <= self.high and tuple(value) != (0, 0):
            return None
        return Sentence(
            "must be two whole numbers [lowest, highest] from {low:,} to {high:,}, not both 0", low=-self.high, high=self.high
        )

    def shape(self) -> Shape:
        """Two whole numbers; no JSON Schema can say that the first is the lower one."""
        number = {"type": "integer", "minimum": -self.high, "maximum": self.high}
        return array(number, minItems=2, maxItems=2) | {"not": {"const": [0, 0]}}


@dataclass(frozen=True)
class Substitutes(Parameter):
    """A text for each of several texts. Messages do not repeat them: they may be people's names."""

    secret: ClassVar[bool] = True

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        if value is None:
            return None
        good = isinstance(value, Mapping) and all(type(x) in (str, int, float) for y in value.items() for x in y)
        return None if good and value else Sentence("must map values to their substitutes")

    def shape(self) -> Shape:
        """Texts (or numbers) for values."""
        return or_null("object", minProperties=1, additionalProperties={"type": ["string", "number"]})


@dataclass(frozen=True)
class KeyPlace(Parameter):
    """Where a key is. Messages do not repeat it: it may be a key by mistake."""

    secret: ClassVar[bool] = True
    refers: ClassVar[Literal["", "file", "key"]] = "key"
    PLACE: ClassVar[str] = r"^(env|file):[^\u0000]+$"

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        if isinstance(value, str) and re.search(self.PLACE, value):
            return None
        return Sentence("must be env:VARIABLE or file:PATH")

    def shape(self) -> Shape:
        """A variable or a file."""
        return {"type": "string", "pattern": self.PLACE}


@dataclass(frozen=True)
class Size(Parameter):
    """An amount of memory, such as ``1GB`` or ``512MB``."""

    def problem(self, value: Any) -> Sentence | None:
        """What is wrong with a value, or None."""
        if value is None or bytes_of(value):
            return None
        return Sentence("must be an amount of memory such as 512MB or 2GB")

    def shape(self) -> Shape:
        """Bytes, or a number with a unit."""
        return either({"type": "integer", "minimum": 1, "maximum": LARGEST}, {"type": "string", "pattern": AMOUNT}, NULL)


UNITS = {"": 1, "k": 1000, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
AMOUNT = r"^\s*(?=[0-9.]*[1-9])([0-9]{1,15}(\.[0-9]{1,15})?)\s*([kKMGT]?)B?\s*$"


def bytes_of(value: Any) -> int | None:
    """The bytes of an amount of memory; None if it is none.

    >>> bytes_of("1GB"), bytes_of("1.5 MB"), bytes_of("much")
    (1000000000, 1500000, None)
    """
    if _is_whole(value):
        return int(value) if value > 0 else None
    found = re.search(AMOUNT, value) if isinstance(value, str) else None
    return None if found is None else max(1, int(float(found[1]) * UNITS[found[3]]))


RECORDS = r"^(0|[1-9][0-9]{0,14}) records?$"


def records_of(value: Any) -> int | None:
    """How many records a limit names; None if it is a share.

    >>> records_of("3 records"), records_of("1 record"), records_of(0.05)
    (3, 1, None)
    """
    found = re.search(RECORDS, value) if isinstance(value, str) else None
    return None if found is None else int(found[1])


FLAG = (False, True)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and abs(value) <= LARGEST and value == int(value)


def _same(value: Any, option: Any) -> bool:
    """Whether a value is an option: true is not 1, as in JSON, and 2.0 is 2."""
    alike = type(value) is type(option) or (_is_number(value) and _is_number(option))
    return alike and bool(value == option)


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
    problems = Problems()
    for name, parameter in thing.parameters.items():
        with problems.at(name):
            _check_value(thing.name, name, parameter, getattr(thing, name))
    problems.raise_if_any()


def _check_value(thing: str, name: str, parameter: Parameter, value: Any) -> None:
    problem = parameter.problem(value)
    if problem is None:
        return
    near = suggest(value, parameter.options) if isinstance(parameter, Choice) and isinstance(value, str) else ""
    place = {"parameter": name, "thing": thing, "problem": problem}
    if parameter.secret:
        message = Sentence("the '{parameter}' parameter of {thing} {problem}", **place)
    else:
        message = Sentence("the '{parameter}' parameter of {thing} {problem}, got {value}", **place, value=short_repr(value))
    raise InputError("bad-parameter", message, hint=near if near.startswith("Did") else "")


def required_of(kind: type[Parametrized]) -> list[str]:
    """The parameters of a declared class that have no default."""
    return [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]


def schema_of(kind: type[Parametrized], language: str = "en") -> Shape:
    """The parameters of a declared class as the JSON Schema of an object, meanings in a language.

    >>> from velado import KAnonymity
    >>> found = schema_of(KAnonymity, "es")
    >>> found["required"], found["properties"]["k"]["minimum"]
    (['k'], 2)
    """
    return parameters_schema(kind.name, kind.parameters, defaults_of(kind), required_of(kind), language)


def parameters_schema(
    name: str, parameters: Mapping[str, Parameter], defaults: Mapping[str, Any], required: Iterable[str], language: str
) -> Shape:
    """Parameters as the JSON Schema of an object, those that have a default with it."""
    told = {key: {"default": _plain(value)} for key, value in defaults.items()}
    properties = {key: {**parameter.schema(language), **told.get(key, {})} for key, parameter in parameters.items()}
    return {"title": name, **record(properties, required, closed=True)}


def defaults_of(kind: type[Any]) -> dict[str, Any]:
    """What the fields of a dataclass hold if nothing is said."""
    found = {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f in fields(kind)}
    return {name: default for name, default in found.items() if default is not MISSING}


def _plain(value: Any) -> Any:
    """A default as JSON has it."""
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    return list(value) if isinstance(value, (list, tuple)) else value


def build(kind: type[Declared], arguments: Mapping[str, Any] | None, where: str) -> Declared:
    """Make a declared class from a mapping (a project file's), with an error for unknown or missing keys."""
    given = dict(arguments or {})
    known = kind.parameters
    problems = Problems()
    for key in given:
        if key not in known:
            message = Sentence("{where} has no parameter '{parameter}'", where=where, parameter=key)
            problems.add(InputError("unknown-parameter", message, hint=suggest(key, known)), str(key))
    needed = required_of(kind)
    missing = [name for name in needed if name not in given]
    if missing:
        names = join_sentences(", ", [f"'{name}'" for name in missing])
        example = "{" + ", ".join(f"{name}: …" for name in needed) + "}"
        message = Sentence("{where} needs {names}", where=where, names=names)
        problems.add(InputError("missing-parameter", message, hint=Sentence("Write {example}.", example=example)))
    if problems.found:
        # The class itself cannot be asked: what was given is looked at all the same.
        for name, value in given.items():
            if name in known and not known[name].secret:
                with problems.at(name):
                    _check_value(kind.name, name, known[name], value)
    problems.raise_if_any()
    return kind(**given)
