"""What every result is: an immutable value that can be saved, read back, described and shown without telling a value.

A result is a frozen dataclass. What it says as JSON follows from its fields and their types, and so do the reader and the
JSON Schema: none is written twice. What it shows of itself at a prompt or in a notebook are names, numbers and counts.

JSON has no infinity and no NaN: both become ``null``. A field of the type `OrInfinite` reads ``null`` as infinity, any other
float that may not be None reads it as NaN.
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping, Sequence, Set
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from html import escape
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin

from velado.errors import InputError, redact
from velado.json_schema import DIALECT, describe_fields, first_sentence, hints_of, is_array, is_named_tuple, said_fields
from velado.sentences import Sentence

OrInfinite = Annotated[float, math.inf]
"""A number that may be infinite: ``null`` in JSON."""
OrUnknown = Annotated[float, math.nan]
"""A number that may be NaN: ``null`` in JSON."""
UNSAID: Mapping[str, bool] = {"unsaid": True}
"""Metadata of a field that is no part of the JSON; it needs a default."""
IF_SET: Mapping[str, bool] = {"if_set": True}
"""Metadata of a field whose key is left out where it has its default."""
MOST_REPR = 290
MOST_NAME = 40
"""Characters of a name that are shown."""


# What is shown


class Discreet:
    """A dataclass (with ``repr=False``) that shows numbers and counts, and no value of the data.

    ``NAMES`` are the fields whose texts are names (of a column, a method, a model) and may be shown, too.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class Found(Discreet):
    ...     NAMES = ("column",)
    ...     column: str
    ...     labels: tuple[str, ...]
    ...     loss: float
    >>> Found("city", ("Lima", "Quito"), 0.25)
    <Found column: city, labels: 2, loss: 0.25>
    """

    NAMES: ClassVar[tuple[str, ...]] = ()

    def summary(self) -> Mapping[str, Any]:
        """The main names, numbers and counts, by what they are."""
        return figures_of(self, self.NAMES)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}: {_short(value)}" for name, value in self.summary().items())
        text = f"<{type(self).__name__} {shown}" if shown else f"<{type(self).__name__}"
        return (text if len(text) < MOST_REPR else text[: MOST_REPR - 1] + "…") + ">"


def figures_of(value: Any, names: Sequence[str] = ()) -> dict[str, Any]:
    """Numbers, sizes of what has many parts, and the fields that are names; nothing of any other text or object."""
    found = {}
    for f in fields(value):
        inner = getattr(value, f.name)
        number = isinstance(inner, (bool, int, float)) and not isinstance(inner, Enum)
        if number or (f.name in names and inner is not None):
            found[f.name] = inner
        elif hasattr(inner, "shape"):
            found[f.name] = "×".join(map(str, inner.shape))
        elif isinstance(inner, (Mapping, Set, Sequence)) and not isinstance(inner, (str, bytes)):
            found[f.name] = len(inner)
    return found


def _short(value: Any) -> str:
    """A figure in a few signs."""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e6 else f"{value:.6g}"
    if isinstance(value, PurePath):
        value = redact(value.name)
    if isinstance(value, Mapping):
        return " ".join(f"{_short(k)}={_short(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return " ".join(map(_short, value)) or "none"
    text = " ".join(str(value).split())
    return text if len(text) <= MOST_NAME else text[: MOST_NAME - 1] + "…"


def _long(value: Any) -> str:
    """A figure as a table shows it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{_long(k)} {_long(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_long, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else _short(value)


# What is said


class Result(Discreet):
    """A result that can be saved and read back. ``SCHEMA`` is the name and version of its JSON, such as ``velado-check-1``.

    Where the JSON is not that of the fields, ``DOCUMENT`` is the dataclass (or the type) that it is of; `document` makes
    one and `from_document` a result of it. ``ALSO`` are properties that the JSON holds beside the fields. What is only a
    part of other results needs no ``SCHEMA``.

    A key that is added is no new version, and readers pass over keys that they do not know. A key that goes, or that
    means something else, is a new version.
    """

    SCHEMA: ClassVar[str]
    DOCUMENT: ClassVar[Any] = None
    ALSO: ClassVar[tuple[str, ...]] = ()

    def document(self) -> Any:
        """What the JSON is of."""
        return self

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """A result of what its JSON held."""
        return typing.cast(Self, document)

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON has it."""
        return {"schema": self.SCHEMA, **encode(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_dict` gave."""
        if not isinstance(data, Mapping):
            raise unreadable(cls)
        said = data.get("schema", cls.SCHEMA)
        if said != cls.SCHEMA:
            raise InputError(
                "other-schema",
                Sentence("this is not the JSON of {schema}", schema=cls.SCHEMA),
                values=[said],
                hint="Read it with the version of Velado that wrote it, or write it anew.",
            )
        return typing.cast(Self, decode(cls, data))

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON Schema of `as_dict`."""
        defined: dict[str, Any] = {}
        whole = describe_fields(cls.DOCUMENT or cls, defined)
        return {
            "$schema": DIALECT,
            "title": cls.SCHEMA,
            "description": first_sentence(cls),
            **whole,
            "properties": {"schema": {"const": cls.SCHEMA}, **whole["properties"]},
            "required": ["schema", *whole["required"]],
            **({"$defs": defined} if defined else {}),
        }

    def _repr_html_(self) -> str:
        lines = "".join(
            f'<tr><td style="text-align:left;opacity:.7;padding:.15em .8em">{escape(name)}</td>'
            f'<td style="text-align:right;font-variant-numeric:tabular-nums;padding:.15em .8em">{escape(_long(value))}</td></tr>'
            for name, value in self.summary().items()
        )
        return (
            '<table style="border-collapse:collapse;border:1px solid rgba(128,128,128,.4)">'
            f'<caption style="text-align:left;font-weight:600;padding:.25em .8em">{type(self).__name__}</caption>'
            f"<tbody>{lines}</tbody></table>"
        )


def parts(value: Any, kind: type | None = None) -> dict[str, Any]:
    """The fields of a dataclass, or those that another one has, too, as they are; to make one of the other."""
    return {f.name: getattr(value, f.name) for f in fields(kind or type(value))}


# Writing


def encode(value: Any) -> Any:
    """A value as JSON has it: dataclasses and named tuples by their fields, arrays as lists, keys as texts, numbers that JSON does not have as None.

    >>> encode({3: (1.5, math.inf), "path": PurePath("a.csv")})
    {'3': [1.5, None], 'path': 'a.csv'}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, Result) and value.DOCUMENT is not None:
        return encode(value.document())
    if is_dataclass(value) and not isinstance(value, type):
        return _encode_fields(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(encode(k)): encode(v) for k, v in value.items()}
    if is_named_tuple(type(value)):
        return {name: encode(v) for name, v in value._asdict().items()}
    if isinstance(value, Set):
        return sorted(map(encode, value))
    if isinstance(value, Sequence):
        return [encode(v) for v in value]
    if hasattr(value, "tolist"):
        return encode(value.tolist())
    return str(value)


def _encode_fields(value: Any) -> dict[str, Any]:
    told = {
        f.name: encode(inner)
        for f in said_fields(type(value))
        for inner in [getattr(value, f.name)]
        if not (f.metadata.get("if_set") and _is_default(f, inner))
    }
    return told | {name: encode(getattr(value, name)) for name in getattr(type(value), "ALSO", ())}


def _is_default(f: Field[Any], value: Any) -> bool:
    if f.default is not MISSING:
        return value is f.default or bool(type(value) is type(f.default) and value == f.default)
    return f.default_factory is not MISSING and bool(value == f.default_factory())


# Reading


def decode(hint: Any, data: Any) -> Any:
    """A value of a type from what `encode` gave."""
    try:
        return _read(hint, data, "")
    except _Misfit as misfit:
        raise unreadable(hint, misfit.path, misfit.wanted) from None


class _Misfit(Exception):
    """The data are not of the type: where, and what was expected; None: anything at all."""

    def __init__(self, path: str, wanted: Sentence | None) -> None:
        super().__init__(path)
        self.path, self.wanted = path, wanted


def unreadable(kind: Any, path: str = "", wanted: Sentence | None = None) -> InputError:
    """The error of JSON that is not of this kind: what stands at a path should be something else, or is not there."""
    name = getattr(kind, "SCHEMA", getattr(kind, "__name__", "result"))
    if not path:
        message = Sentence("this is not the JSON of {schema}", schema=name)
    elif wanted is None:
        message = Sentence("this is not the JSON of {schema}: it lacks {path}", schema=name, path=path)
    else:
        message = Sentence("this is not the JSON of {schema}: {path} should be {wanted}", schema=name, path=path, wanted=wanted)
    return InputError("not-a-result", message, hint="The JSON is that of as_dict() or of a command with --json.")


def _read(hint: Any, data: Any, path: str) -> Any:
    origin = get_origin(hint)
    if hint is Any or hint is object:
        return data
    if origin is Annotated:
        inner, *notes = get_args(hint)
        null = next((n for n in notes if isinstance(n, float)), None)
        return null if data is None and null is not None else _read(inner, data, path)
    if origin in (Union, types.UnionType):
        return _read_one_of(get_args(hint), data, path)
    if origin is Literal:
        return data if data in get_args(hint) else _refuse(path, Sentence("one of {words}", words=get_args(hint)))
    if origin is not None:
        return _read_many(origin, get_args(hint), data, path)
    if isinstance(hint, type):
        return _read_plain(hint, data, path)
    return data


def _refuse(path: str, wanted: Sentence | None) -> Any:
    raise _Misfit(path, wanted)


def _read_one_of(hints: Sequence[Any], data: Any, path: str) -> Any:
    if data is None and types.NoneType in hints:
        return None
    found: list[_Misfit] = []
    for hint in hints:
        if hint is not types.NoneType:
            try:
                return _read(hint, data, path)
            except _Misfit as misfit:
                found.append(misfit)
    # The alternative that was read furthest tells best what is wrong.
    raise max(found, key=lambda m: len(m.path))


def _read_many(origin: Any, hints: Sequence[Any], data: Any, path: str) -> Any:
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(data, Mapping):
            _refuse(path, Sentence("an object"))
        key, inner = hints or (str, Any)
        return {_key(key, k, path): _read(inner, v, f"{path}.{k}" if path else str(k)) for k, v in data.items()}
    if is_array(origin):
        return _array(data, path)
    if not isinstance(data, (list, tuple)):
        _refuse(path, Sentence("a list"))
    if origin is tuple and hints and hints[-1] is not Ellipsis:
        if len(hints) != len(data):
            _refuse(path, Sentence("a list of {count}", count=len(hints)))
        return tuple(_read(h, v, f"{path}[{i}]") for i, (h, v) in enumerate(zip(hints, data, strict=True)))
    inner = hints[0] if hints else Any
    read = [_read(inner, v, f"{path}[{i}]") for i, v in enumerate(data)]
    if origin is list:
        return read
    return origin(read) if origin in (set, frozenset) else tuple(read)


def _key(hint: Any, key: str, path: str) -> Any:
    if hint in (int, float):
        try:
            return hint(key)
        except ValueError:
            _refuse(path, Sentence("an object whose keys are numbers"))
    return key


def _read_plain(hint: type, data: Any, path: str) -> Any:
    document = getattr(hint, "DOCUMENT", None)
    if document is not None:
        return hint.from_document(_read(document, data, path))  # type: ignore[attr-defined]
    if is_dataclass(hint):
        return _read_fields(hint, data, path)
    if is_named_tuple(hint):
        return _read_named(hint, data, path)
    if is_array(hint):
        return _array(data, path)
    if issubclass(hint, Enum):
        return next((e for e in hint if e.value == data), None) or _refuse(path, Sentence("a known word"))
    if issubclass(hint, PurePath):
        # Addresses are texts: as a path they would lose a slash.
        plain = isinstance(data, str) and "://" not in data
        return hint(data) if plain else _refuse(path, Sentence("a path"))
    if hint is float and data is None:
        return math.nan
    if hint in WANTED:
        kinds, wanted = WANTED[hint]
        fits = isinstance(data, kinds) and (hint is bool or not isinstance(data, bool))
        return data if fits else _refuse(path, wanted)
    if hint in (list, tuple, dict, set, frozenset) or hint in (Mapping, Sequence):
        return _read_many(hint, (), data, path)
    return data


WANTED: dict[type, tuple[Any, Sentence]] = {
    bool: (bool, Sentence("true or false")),
    int: (int, Sentence("a whole number")),
    float: ((int, float), Sentence("a number")),
    str: (str, Sentence("a text")),
    types.NoneType: (types.NoneType, Sentence("null")),
}
"""What a field of a plain type may hold, and its name for people."""


def _read_fields(kind: type, data: Any, path: str) -> Any:
    if not isinstance(data, Mapping):
        _refuse(path, Sentence("an object"))
    hints = hints_of(kind)
    read = {}
    for f in said_fields(kind):
        place = f"{path}.{f.name}" if path else f.name
        if f.name in data:
            read[f.name] = _read(hints[f.name], data[f.name], place)
        elif f.default is MISSING and f.default_factory is MISSING:
            _refuse(place, None)
    return kind(**read)


def _read_named(kind: Any, data: Any, path: str) -> Any:
    if not isinstance(data, Mapping) or not set(kind._fields) <= set(data):
        _refuse(path, Sentence("an object with {keys}", keys=kind._fields))
    hints = hints_of(kind)
    return kind(**{name: _read(hints[name], data[name], f"{path}.{name}") for name in kind._fields})


def _array(data: Any, path: str) -> Any:
    import numpy as np

    try:
        return np.array(data) if isinstance(data, list) else _refuse(path, Sentence("a list"))
    except ValueError:  # lists and numbers, mixed
        return _refuse(path, Sentence("a list"))
