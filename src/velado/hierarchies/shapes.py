"""The descriptions that hierarchy builders understand, short forms included, as JSON Schemas."""

from __future__ import annotations

from typing import Any

from velado.declared import declaration_of
from velado.hierarchies.build import BUILDERS
from velado.hierarchies.calendar import UNITS
from velado.hierarchies.files import from_file
from velado.hierarchies.known import LANGUAGES, LISTS
from velado.parameters import LARGEST
from velado.sentences import Sentence

NUMBER = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
WIDTH = {"type": "number", "exclusiveMinimum": 0, "maximum": LARGEST}
WIDTHS = {"anyOf": [WIDTH, {"type": "array", "items": WIDTH, "minItems": 1}]}
CUTS = {"type": "array", "items": NUMBER, "uniqueItems": True}
WHOLE = {"type": "array", "items": {"type": "integer", "minimum": 1}, "uniqueItems": True}
LENGTHS = {**WHOLE, "minItems": 1}
FILL = {"type": ["integer", "null"], "minimum": 1, "maximum": 100}
NAME = {"type": "string", "minLength": 1}
VALUE = {"type": ["string", "number", "boolean"]}
LEVEL = {"type": "object", "additionalProperties": {"anyOf": [VALUE, {"type": "array", "items": VALUE}]}}
UNIT = {"enum": list(UNITS)}
NODE = "#/$defs/tree"
PATH = {"type": "string", "pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}


def _options(required: str | None = None, **properties: Any) -> dict[str, Any]:
    needed = {"required": [required]} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **needed}


def _either(*shapes: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": list(shapes)}


_SHAPES: dict[str, dict[str, Any]] = {
    "intervals": _either(
        *WIDTHS["anyOf"],
        _options("widths", widths=WIDTHS, origin=NUMBER),
        _options("cuts", cuts=_either({**CUTS, "minItems": 1}, {"type": "array", "items": CUTS, "minItems": 1})),
    ),
    "mask": _either({"enum": ["right", "left"]}, _options(side={"enum": ["right", "left"]}, hide=WHOLE, fill=FILL)),
    "path": _either(NAME, _options(separator=NAME, specific={"enum": ["left", "right"]}, keep=WHOLE)),
    "prefix": _either(LENGTHS, _options("lengths", lengths=LENGTHS, fill=FILL)),
    "dates": _either(UNIT, {"type": "array", "items": UNIT, "minItems": 1}),
    "known": _either(
        {"enum": list(LISTS)},
        _options(
            "list",
            list={"enum": list(LISTS)},
            levels={
                "type": "array",
                "items": {"enum": list(dict.fromkeys(level for known in LISTS.values() for level in known.levels))},
                "minItems": 1,
                "uniqueItems": True,
            },
            language={"enum": list(LANGUAGES)},
            others={**NAME, "type": ["string", "null"]},
        ),
    ),
    "frequency": _either(LENGTHS, _options("least", least=LENGTHS, name=NAME)),
    "tree": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": NODE}},
    "groups": _either(LEVEL, {"type": "array", "items": LEVEL, "minItems": 1}),
    "rows": {"type": "array", "items": {"type": "array", "minItems": 1}},
    "order": {"type": "array", "minItems": 1, "uniqueItems": True},
}
DEFINITIONS: dict[str, Any] = {
    "tree": _either(
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "object", "additionalProperties": {"$ref": NODE}},
        {"type": "array", "items": {"$ref": NODE}},
    )
}
"""What shapes refer to."""
OPTIONS: dict[str, dict[str, Sentence]] = {
    "intervals": {
        "widths": Sentence("width of the intervals at level 1, 2, …, each a multiple of the one before"),
        "origin": Sentence("where an interval begins"),
        "cuts": Sentence("limits of the intervals, a list for each level, each a part of the one before"),
    },
    "mask": {
        "side": Sentence("where characters are hidden"),
        "hide": Sentence("how many characters are hidden at level 1, 2, …; if absent, one more at each level"),
        "fill": Sentence("length of the codes: zeros that a program lost are put before shorter ones"),
    },
    "path": {
        "separator": Sentence("text between the components"),
        "specific": Sentence("the end at which the most specific component stands"),
        "keep": Sentence("how many components are left at level 1, 2, …; if absent, one fewer at each level"),
    },
    "prefix": {
        "lengths": Sentence("how many characters are left at level 1, 2, …"),
        "fill": Sentence("length of the codes: zeros that a program lost are put before shorter ones"),
    },
    "known": {
        "list": Sentence("the list"),
        "levels": Sentence("which of its levels; if absent, all of them"),
        "language": Sentence("language of the labels of countries"),
        "others": Sentence("name of a group for values that the list does not have; if absent, they are an error"),
    },
    "frequency": {
        "least": Sentence("fewest records of a value that stands for itself at level 1, 2, …"),
        "name": Sentence("name of the group of all others"),
    },
}  # fmt: skip
"""What the options of builders mean."""
EXPERT = frozenset({"origin", "fill", "language", "name"})
"""Options that nearly everybody leaves as they are: forms show them on demand."""


def builder_schema(name: str, language: str = "en") -> dict[str, Any]:
    """What may be written for a builder, and what it does, in a language.

    >>> builder_schema("dates")["anyOf"][0]["enum"][:3]
    ['day', 'week', 'month']
    """
    shape = {**_SHAPES[name]}
    if "anyOf" in shape:
        shape["anyOf"] = [_told(name, one, language) for one in shape["anyOf"]]
    return {"description": Sentence(declaration_of(BUILDERS[name]).meaning).into(language), **shape}


def _told(name: str, shape: dict[str, Any], language: str) -> dict[str, Any]:
    """A form of a description, its options with what they mean."""
    if "properties" not in shape:
        return shape
    properties = {
        option: {"description": OPTIONS[name][option].into(language), **kind, **({"x-expert": True} if option in EXPERT else {})}
        for option, kind in shape["properties"].items()
    }  # fmt: skip
    return {**shape, "properties": properties}


def builder_options(name: str, language: str = "en") -> dict[str, dict[str, Any]]:
    """The options of a builder that has any, as JSON Schemas by name: what a form asks for.

    >>> list(builder_options("mask")), list(builder_options("intervals")), builder_options("tree")
    (['side', 'hide', 'fill'], ['widths', 'origin', 'cuts'], {})
    """
    forms = builder_schema(name, language).get("anyOf", ())
    return {option: kind for form in forms for option, kind in form.get("properties", {}).items()}


def hierarchy_schema(language: str = "en") -> dict[str, Any]:
    """What may be written for the hierarchy of a column; `DEFINITIONS` must stand beside it."""
    builders = {name: builder_schema(name, language) for name in BUILDERS}
    top = {"type": "boolean", "default": True, "description": Sentence("end in *: everything alike").into(language)}
    delimiter = {"type": ["string", "null"], "minLength": 1, "maxLength": 1}
    file = {**PATH, "description": Sentence(declaration_of(from_file).meaning).into(language)}
    return {
        "type": ["object", "null"],
        "properties": {
            **builders,
            "file": file,
            "top": top,
            "delimiter": delimiter,
            "encoding": {"type": ["string", "null"]},
        },
        "additionalProperties": False,
        "oneOf": [{"type": "null"}, *({"required": [name]} for name in (*builders, "file"))],
        "dependentRequired": {"delimiter": ["file"], "encoding": ["file"]},
        "dependentSchemas": {"top": {"properties": {"file": False}}},
    }
