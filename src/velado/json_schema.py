"""JSON Schemas (draft 2020-12): the shapes that all of them are made of, and the schema of a Python type.

Parameters, hierarchies, project files and results describe themselves with these. Order of keys is that of the arguments.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import Field, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Shape = dict[str, Any]
NULL: Shape = {"type": "null"}
TEXT: Shape = {"type": "string", "minLength": 1}
VALUE: Shape = {"type": ["string", "number", "boolean"]}


def or_null(kind: str, **more: Any) -> Shape:
    """A value of a plain type, or null."""
    return {"type": [kind, "null"], **more}


def either(*shapes: Shape) -> Shape:
    """Any one of several shapes."""
    return {"anyOf": list(shapes)}


def array(items: Shape, **more: Any) -> Shape:
    """A list of values of one shape."""
    return {"type": "array", "items": items, **more}


def mapping(values: Shape) -> Shape:
    """An object of any keys with values of one shape."""
    return {"type": "object", "additionalProperties": values}


def record(properties: Shape, required: Iterable[str], closed: bool = False) -> Shape:
    """An object with properties; a ``closed`` one has no others.

    >>> record({"k": {"type": "integer"}}, ["k"], closed=True)
    {'type': 'object', 'properties': {'k': {'type': 'integer'}}, 'required': ['k'], 'additionalProperties': False}
    """
    whole = {"type": "object", "properties": properties, "required": list(required)}
    return {**whole, "additionalProperties": False} if closed else whole


def reference(name: str) -> Shape:
    """What is defined under a name."""
    return {"$ref": f"#/$defs/{name}"}


# Types


def describe_type(hint: Any, defined: Shape) -> Shape:
    """The JSON Schema of what `encode` gives for a type; dataclasses go to ``defined``.

    >>> describe_type(dict[int, tuple[float, ...]] | None, {})
    {'anyOf': [{'type': 'object', 'additionalProperties': {'type': 'array', 'items': {'type': 'number'}}}, {'type': 'null'}]}
    """
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *notes = get_args(hint)
        nullable = any(isinstance(n, float) for n in notes)
        return or_null("number") if nullable else describe_type(inner, defined)
    if origin in (Union, types.UnionType):
        return _one_of([describe_type(h, defined) for h in get_args(hint)])
    if origin is Literal:
        return {"enum": list(get_args(hint))}
    if not isinstance(hint, type) and origin is None:
        return {}
    if origin is None and (is_dataclass(hint) or is_named_tuple(hint) or hasattr(hint, "DOCUMENT")):
        return _reference(hint, defined)
    return _describe_many(origin or hint, get_args(hint), defined)


def _describe_many(kind: Any, hints: Sequence[Any], defined: Shape) -> Shape:
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if is_array(kind):
        return {"type": "array"}
    if issubclass(kind, Enum):
        return {"enum": [e.value for e in kind]}
    if issubclass(kind, PurePath):
        return {"type": "string"}
    if issubclass(kind, Mapping):
        return mapping(describe_type(hints[1] if hints else Any, defined))
    if kind is tuple and hints and hints[-1] is not Ellipsis:
        items = [describe_type(h, defined) for h in hints]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if issubclass(kind, (Sequence, Set)):
        return array(describe_type(hints[0] if hints else Any, defined))
    return {}


PLAIN: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string", types.NoneType: "null"}


def _one_of(schemas: list[Shape]) -> Shape:
    if any(not s for s in schemas):
        return {}
    plain = [s["type"] for s in schemas if set(s) == {"type"} and isinstance(s["type"], str)]
    return {"type": list(dict.fromkeys(plain))} if len(plain) == len(schemas) else either(*schemas)


def _reference(kind: type, defined: Shape) -> Shape:
    name = kind.__name__
    if name not in defined:
        defined[name] = {}
        document = getattr(kind, "DOCUMENT", None) or kind
        plain = not is_dataclass(document) and not is_named_tuple(document)
        described = describe_type(document, defined) if plain else describe_fields(document, defined)
        defined[name] |= {"description": first_sentence(kind), **described}
    return reference(name)


def describe_fields(kind: Any, defined: Shape) -> Shape:
    """The JSON Schema of a dataclass or a named tuple, its properties where they are part of the JSON included."""
    hints = hints_of(kind)
    if is_named_tuple(kind):
        properties = {name: describe_type(hints[name], defined) for name in kind._fields}
        return record(properties, properties)
    said = said_fields(kind)
    properties = {f.name: describe_type(hints[f.name], defined) for f in said}
    derived = {name: describe_type(_return_type(getattr(kind, name)), defined) for name in getattr(kind, "ALSO", ())}
    required = [f.name for f in said if not f.metadata.get("if_set")]
    return record(properties | derived, [*required, *derived])


def _return_type(derived: Any) -> Any:
    """The type of a property."""
    function: Callable[..., Any] = getattr(derived, "fget", None) or derived.func
    return get_type_hints(function, include_extras=True)["return"]


def first_sentence(kind: type) -> str:
    """The first sentence of a docstring."""
    text = " ".join((kind.__doc__ or "").strip().split("\n\n")[0].split())
    return text.replace("``", "").replace("`", "")


def said_fields(kind: type) -> list[Field[Any]]:
    """The fields of a dataclass that its JSON holds."""
    return [f for f in fields(kind) if not f.metadata.get("unsaid")]


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """The types of a class's fields."""
    return get_type_hints(kind, include_extras=True)


def is_named_tuple(kind: Any) -> bool:
    """Whether a type is a tuple with named fields."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def is_array(kind: Any) -> bool:
    """Whether a type is NumPy's array; NumPy need not be imported."""
    return getattr(kind, "__module__", "") == "numpy" and getattr(kind, "__name__", "") == "ndarray"
