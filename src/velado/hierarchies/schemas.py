"""The descriptions that hierarchy builders understand, short forms included, as JSON Schemas."""

from __future__ import annotations

from typing import Any

from velado.declarations import declaration_of
from velado.hierarchies.build import BUILDERS
from velado.hierarchies.calendar import UNITS
from velado.hierarchies.files import from_file
from velado.hierarchies.known_lists import LANGUAGES, LISTS
from velado.json_schema import NULL, TEXT, VALUE, Shape, array, either, mapping, or_null, reference
from velado.parameters import LARGEST
from velado.sentences import Sentence

NUMBER = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
WIDTH = {"type": "number", "exclusiveMinimum": 0, "maximum": LARGEST}
WIDTHS = either(WIDTH, array(WIDTH, minItems=1))
CUTS = array(NUMBER, uniqueItems=True)
WHOLE = array({"type": "integer", "minimum": 1}, uniqueItems=True)
LENGTHS = {**WHOLE, "minItems": 1}
FILL = or_null("integer", minimum=1, maximum=100)
LEVEL = mapping(either(VALUE, array(VALUE)))
UNIT = {"enum": list(UNITS)}
NODE = reference("tree")
PATH = {"type": "string", "pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}


def _options(required: str | None = None, **properties: Any) -> Shape:
    needed = {"required": [required]} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **needed}


_SHAPES: dict[str, Shape] = {
    "intervals": either(
        *WIDTHS["anyOf"],
        _options("widths", widths=WIDTHS, origin=NUMBER),
        _options("cuts", cuts=either({**CUTS, "minItems": 1}, array(CUTS, minItems=1))),
    ),
    "mask": either({"enum": ["right", "left"]}, _options(side={"enum": ["right", "left"]}, hide=WHOLE, fill=FILL)),
    "path": either(TEXT, _options(separator=TEXT, specific={"enum": ["left", "right"]}, keep=WHOLE)),
    "prefix": either(LENGTHS, _options("lengths", lengths=LENGTHS, fill=FILL)),
    "dates": either(UNIT, array(UNIT, minItems=1)),
    "known": either(
        {"enum": list(LISTS)},
        _options(
            "list",
            list={"enum": list(LISTS)},
            levels=array(
                {"enum": list(dict.fromkeys(level for known in LISTS.values() for level in known.levels))},
                minItems=1,
                uniqueItems=True,
            ),
            language={"enum": list(LANGUAGES)},
            others={**TEXT, "type": ["string", "null"]},
        ),
    ),
    "frequency": either(LENGTHS, _options("least", least=LENGTHS, name=TEXT)),
    "tree": {"type": "object", "minProperties": 1, "additionalProperties": NODE},
    "groups": either(LEVEL, array(LEVEL, minItems=1)),
    "rows": array({"type": "array", "minItems": 1}),
    "order": {"type": "array", "minItems": 1, "uniqueItems": True},
}
DEFINITIONS: dict[str, Any] = {"tree": either({"type": ["string", "number", "boolean", "null"]}, mapping(NODE), array(NODE))}
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
}
"""What the options of builders mean."""
EXPERT = frozenset({"origin", "fill", "language", "name"})
"""Options that nearly everybody leaves as they are: forms show them on demand."""


def builder_schema(name: str, language: str = "en") -> Shape:
    """What may be written for a builder, and what it does, in a language.

    >>> builder_schema("dates")["anyOf"][0]["enum"][:3]
    ['day', 'week', 'month']
    """
    shape = {**_SHAPES[name]}
    if "anyOf" in shape:
        shape["anyOf"] = [_describe_options(name, one, language) for one in shape["anyOf"]]
    return {"description": Sentence(declaration_of(BUILDERS[name]).meaning).into(language), **shape}


def _describe_options(name: str, shape: dict[str, Any], language: str) -> Shape:
    """A form of a description, its options with what they mean."""
    if "properties" not in shape:
        return shape
    properties = {
        option: {"description": OPTIONS[name][option].into(language), **kind, **({"x-expert": True} if option in EXPERT else {})}
        for option, kind in shape["properties"].items()
    }
    return {**shape, "properties": properties}


def builder_options(name: str, language: str = "en") -> dict[str, dict[str, Any]]:
    """The options of a builder that has any, as JSON Schemas by name: what a form asks for.

    >>> list(builder_options("mask")), list(builder_options("intervals")), builder_options("tree")
    (['side', 'hide', 'fill'], ['widths', 'origin', 'cuts'], {})
    """
    forms = builder_schema(name, language).get("anyOf", ())
    return {option: kind for form in forms for option, kind in form.get("properties", {}).items()}


def hierarchy_schema(language: str = "en") -> Shape:
    """What may be written for the hierarchy of a column; `DEFINITIONS` must stand beside it."""
    builders = {name: builder_schema(name, language) for name in BUILDERS}
    top = {"type": "boolean", "default": True, "description": Sentence("end in *: everything alike").into(language)}
    delimiter = or_null("string", minLength=1, maxLength=1)
    file = {**PATH, "description": Sentence(declaration_of(from_file).meaning).into(language)}
    return {
        "type": ["object", "null"],
        "properties": {**builders, "file": file, "top": top, "delimiter": delimiter, "encoding": or_null("string")},
        "additionalProperties": False,
        "oneOf": [NULL, *({"required": [name]} for name in (*builders, "file"))],
        "dependentRequired": {"delimiter": ["file"], "encoding": ["file"]},
        "dependentSchemas": {"top": {"properties": {"file": False}}},
    }
