"""The project file as a JSON Schema, built from what is declared: for editors, forms and other programs.

The schema knows the shape of a project file: keys, short forms, names of models, their parameters and ranges. What
parts of a file say about each other, and about the table, `Project.check` tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from velado.errors import InputError, suggest
from velado.hierarchies.schemas import DEFINITIONS, PATH, hierarchy_schema
from velado.json_schema import DIALECT, NULL, TEXT, VALUE, Shape, array, either, or_null, record, reference
from velado.methods import METHODS
from velado.models import MODELS
from velado.operations import OPERATIONS
from velado.parameters import Parametrized, required_of, schema_of
from velado.project.document import (
    ATTRIBUTE_KEYS,
    COLUMN_KEYS,
    KEYS,
    PROTECTIONS,
    SHARED_KEYS,
    TABLE_KEYS,
    TABLES_KEYS,
    UNITS,
    VERSION,
)
from velado.project.output import CLUSTER_KEYS, OUTPUT_KEYS, SUPPRESSED
from velado.project.people import ROWS
from velado.schema.columns import EXPOSURE, KNOWN, MISSING_RULES, REST, ROLES, TYPES
from velado.sentences import Sentence
from velado.spelling_variants import VARIANTS
from velado.tables import IF_EXISTS, ORDERS
from velado.tables.address import FILES, SERVERS
from velado.tables.formats.names import NAMES
from velado.tables.source import CLUSTERED, FORMATS, OPTIONS

ID = f"velado-project-{VERSION}"

OPTIONAL_TEXT = or_null("string")
CHARACTER = or_null("string", minLength=1, maxLength=1)
OPTIONAL_PATH: Shape = {**PATH, "type": ["string", "null"]}
DATABASE: Shape = {"type": "string", "pattern": "^(" + "|".join([*SERVERS, *FILES]) + ")://"}
SUFFIXED = "^[^\\u0000]+\\.(" + "|".join("".join(f"[{c}{c.upper()}]" for c in suffix[1:]) for suffix in FORMATS) + ")$"


def project_schema(language: str = "en", part: str = "") -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a project file, descriptions in a language.

    ``part``: only that of a source, columns, hierarchies, operations, models, methods or output; ``models.k-anonymity``
    is that of the parameters of one model.

    >>> project_schema()["$id"], project_schema("es", "models.k-anonymity")["required"]
    ('velado-project-1', ['k'])
    """
    parts = _Parts(language).definitions()
    if not part:
        return {**_head(language), **_project(language), "$defs": parts}
    name, _, single = part.partition(".")
    if name not in PARTS:
        raise InputError("unknown-part", Sentence("a project has no part '{part}'", part=name), hint=suggest(name, PARTS))
    if single:
        kinds = PARTS[name][1]
        if single not in kinds:
            raise InputError(
                "unknown-part", Sentence("{part} has no '{name}'", part=name, name=single), hint=suggest(single, kinds)
            )
        return {"$schema": DIALECT, "$id": f"{ID}-{part}", **schema_of(kinds[single], language)}
    return {"$schema": DIALECT, "$id": f"{ID}-{name}", "$ref": f"#/$defs/{PARTS[name][0]}", "$defs": parts}


PARTS: dict[str, tuple[str, Mapping[str, type[Parametrized]]]] = {
    "source": ("source", {}),
    "columns": ("column", {}),
    "hierarchies": ("hierarchy", {}),
    "operations": ("operation", OPERATIONS),
    "models": ("model", MODELS),
    "methods": ("method", METHODS),
    "output": ("output", {}),
}
"""Parts of a project that have a schema of their own: its name among the definitions, and the kinds that there are."""


def _head(language: str) -> Shape:
    return {
        "$schema": DIALECT,
        "$id": ID,
        "title": Sentence("Velado project").into(language),
        "description": Sentence("A release described once: source, columns, models, method, output.").into(language),
        "x-version": VERSION,
    }


class _Parts:
    """The definitions that a project is made of, in a language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def definitions(self) -> Shape:
        """All of them by name."""
        said = {key: self._with_description(shape, meaning) for key, (shape, meaning) in COLUMN.items()}
        said["hierarchy"] = self._with_description(reference("hierarchy"), HIERARCHY)
        said["operation"] = self._with_description(either(NULL, reference("operation")), OPERATION)
        return {
            "source": either(PATH, self._source()),
            "column": _column({key: said[key] for key in COLUMN_KEYS}),
            "attribute": _column({key: said[key] for key in ATTRIBUTE_KEYS}),
            "hierarchy": hierarchy_schema(self.language),
            **self._kinds("operation", OPERATIONS),
            **self._kinds("model", MODELS),
            **self._kinds("method", METHODS),
            "output": either(OUTPUT["path"][0], *self._outputs()),
            **DEFINITIONS,
        }

    def _with_description(self, shape: Shape, meaning: Sentence) -> Shape:
        return {"description": meaning.into(self.language), **shape}

    def _options(self, keys: Sequence[str], known: Mapping[str, tuple[Shape, Sentence]], required: list[str]) -> Shape:
        properties = {key: self._with_description(*known[key]) for key in keys}
        return record(properties, required, closed=True)

    def _source(self) -> Shape:
        """A file, or a table or a query of a database."""
        found = self._options(OPTIONS, SOURCE, [])
        return {
            **found,
            "oneOf": [
                {"required": ["path"], "properties": {"spark": False}},
                {"required": ["database"]},
                {"required": ["spark"], "properties": {"database": False}},
            ],
            "not": {"required": ["table", "query"]},
        }

    def _outputs(self) -> list[Shape]:
        """A file or a table of a database; or what Spark writes."""
        usual = [key for key in OUTPUT_KEYS if key not in CLUSTER_KEYS]
        clustered = [key for key in OUTPUT_KEYS if key != "database"]
        folder = {**OUTPUT, "path": (OPTIONAL_PATH, OUTPUT["path"][1])}
        return [self._options(usual, OUTPUT, []), self._options(clustered, folder, ["spark"])]

    def _kinds(self, what: str, kinds: Mapping[str, type[Parametrized]]) -> Shape:
        """Every declared class, and one of them: its name alone, or its name with its parameters."""
        each = {f"{what}.{name}": self._with_short_form(kind) for name, kind in kinds.items()}
        alone = [name for name, kind in kinds.items() if not required_of(kind)]
        one = {**_mapping_shape(what, kinds), "minProperties": 1, "maxProperties": 1}
        return {**each, what: either({"enum": alone}, one) if alone else one}

    def _with_short_form(self, kind: type[Parametrized]) -> Shape:
        found = schema_of(kind, self.language)
        main = getattr(kind, "main", None)
        short = [found["properties"][main]] if main else []
        nothing = [] if found["required"] else [NULL]
        return either(found, *short, *nothing) if short or nothing else found


def _mapping_shape(what: str, kinds: Mapping[str, type[Parametrized]]) -> Shape:
    """A mapping from names of declared classes to their parameters."""
    properties = {name: reference(f"{what}.{name}") for name in kinds}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _column(properties: Shape) -> Shape:
    return {"anyOf": [{"enum": list(ROLES)}, or_null("object", properties=properties, additionalProperties=False)]}


def _project(language: str) -> Shape:
    """The top of a file: one table, or several."""
    said = {key: {"description": meaning.into(language), **shape} for key, (shape, meaning) in TOP.items()}
    table = {
        "type": "object",
        "properties": {key: said[key] for key in TABLE_KEYS},
        "additionalProperties": False,
        "required": ["source", "columns"],
        **UNIT_RULES,
    }
    several = {
        "tables": {**said["tables"], "additionalProperties": table},
        "attributes": said["attributes"],
        "joinable": said["joinable"],
    }
    properties = {key: several.get(key, said[key]) for key in KEYS}
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **UNIT_RULES,
        "if": {"required": ["tables"]},
        "then": {
            "properties": {key: False for key in TABLE_KEYS if key not in SHARED_KEYS},
            "if": {"not": {"anyOf": [{"required": ["models"]}, LIGHT]}},
            "then": {"properties": {"tables": {"additionalProperties": {"anyOf": [{"required": ["models"]}, LIGHT]}}}},
        },
        "else": {
            "required": ["source", "columns"],
            "properties": dict.fromkeys(TABLES_KEYS, False),
            "if": LIGHT,
            "then": {"properties": {"models": False, "method": False, "columns": {"additionalProperties": HAS_ROLE_OR_OPERATION}}},
            "else": {"required": ["models"], "properties": {"columns": {"additionalProperties": HAS_ROLE}}},
        },
    }


LIGHT: Shape = {"required": ["protection"], "properties": {"protection": {"const": "operations"}}}
HAS_ROLE: Shape = {"type": ["string", "object"], "required": ["role"]}
HAS_ROLE_OR_OPERATION: Shape = {
    "type": ["string", "object"],
    "anyOf": [{"type": "string"}, {"required": ["role"]}, {"required": ["operation"]}],
}
UNIT_RULES: Shape = {"dependentSchemas": {UNITS[0]: {"properties": {UNITS[1]: NULL}}}}
"""People or households are counted, not both."""

SOURCE: dict[str, tuple[Shape, Sentence]] = {
    "path": (PATH, Sentence("the file, or its address")),
    "database": (DATABASE, Sentence("address of the database; the password as ${VARIABLE}")),
    "spark": (TEXT, Sentence("the Spark cluster: spark://host:7077, connect://host:15002, local[*], yarn, k8s://…, session")),
    "table": (TEXT, Sentence("the table: people, or schema.people")),
    "query": (TEXT, Sentence("a query in the place of a table")),
    "format": (
        {"enum": [*dict.fromkeys([*FORMATS.values(), *CLUSTERED]), None]},
        Sentence("format of the file; from its suffix if absent"),
    ),
    "delimiter": (CHARACTER, Sentence("the character between two values; found out if absent")),
    "quote": (CHARACTER, Sentence("the quote character; found out if absent")),
    "encoding": (OPTIONAL_TEXT, Sentence("encoding of the text; found out if absent")),
    "sheet": (OPTIONAL_TEXT, Sentence("sheet of a workbook; the first if absent")),
    "missing": (either(VALUE, array(VALUE), NULL), Sentence("texts that stand for a missing value")),
    "header": (or_null("boolean", default=True), Sentence("whether the first line holds the names of the columns")),
    "skip": (or_null("integer", minimum=0, default=0), Sentence("how many lines at the top are not read")),
    "names": ({"enum": [*NAMES, None], "default": NAMES[0]}, Sentence("what becomes of columns that have the same name, or none")),
}
HIERARCHY = Sentence("how the values of the column are generalized")
OPERATION = Sentence("what is done to the column")
COLUMN: dict[str, tuple[Shape, Sentence]] = {
    "role": (
        {"enum": list(ROLES)},
        Sentence("identifier: never leaves; quasi-identifier: recoded; sensitive: protected; insensitive: passes through"),
    ),
    "type": ({"enum": list(TYPES), "default": TYPES[0]}, Sentence("how the values are understood")),
    "format": (
        either(TEXT, array(TEXT, minItems=1, uniqueItems=True), NULL),
        Sentence("format of dates, such as %d/%m/%Y, or a list of formats"),
    ),
    "missing": (
        {"enum": list(MISSING_RULES), "default": MISSING_RULES[0]},
        Sentence("what missing values are: a category of their own, or a reason to refuse the table"),
    ),
    "attribute": ({"type": "string"}, Sentence("what the column is about, if that is not its name")),
    "variants": (
        {"enum": list(VARIANTS), "default": VARIANTS[0]},
        Sentence("whether spellings of one sensitive value are judged as one"),
    ),
    "exposure": ({"enum": list(EXPOSURE)}, Sentence("accepted: publish the column although it singles people out")),
    "known": (
        {"enum": list(KNOWN)},
        Sentence("whether others may know what the column holds: possibly, or never (only the person and the keeper)"),
    ),
}
OUTPUT: dict[str, tuple[Shape, Sentence]] = {
    "path": (or_null("string", pattern=SUFFIXED), Sentence("the file of the release; its suffix decides the format")),
    "database": (DATABASE, Sentence("address of the database; the password as ${VARIABLE}")),
    "spark": (TEXT, Sentence("the Spark cluster: spark://host:7077, connect://host:15002, local[*], yarn, k8s://…, session")),
    "table": (TEXT, Sentence("the table: people, or schema.people")),
    "format": ({"enum": [*CLUSTERED, None]}, Sentence("format of what Spark writes; from the suffix if absent")),
    "partition": ({"type": ["string", "array"], "items": TEXT}, Sentence("columns by whose values Spark keeps files apart")),
    "if_exists": (
        {"enum": list(IF_EXISTS), "default": IF_EXISTS[0]},
        Sentence("a table that is there already: stop, or replace it"),
    ),
    "delimiter": ({**CHARACTER, "pattern": '^[^"\\r\\n]$'}, Sentence("the character between two values")),
    "order": ({"enum": list(ORDERS), "default": ORDERS[0]}, Sentence("order of the released records")),
    "suppressed": ({"enum": list(SUPPRESSED), "default": SUPPRESSED[0]}, Sentence("suppressed records: left out, or a row of *")),
    "guard": ({"type": "boolean", "default": True}, Sentence("guard spreadsheets against texts that look like formulas")),
    "recoding": (OPTIONAL_PATH, Sentence("file for the recoding; it lists original values: keep it private")),
    "manifest": (OPTIONAL_PATH, Sentence("file for the private manifest of a table")),
}
_COLUMNS: Shape = {"type": "object", "minProperties": 1, "additionalProperties": reference("column")}
_MODELS: Shape = {"anyOf": [array(reference("model"), minItems=1), {**_mapping_shape("model", MODELS), "minProperties": 1}]}
TOP: dict[str, tuple[Shape, Sentence]] = {
    "velado": ({"const": VERSION, "default": VERSION}, Sentence("version of the format of project files")),
    "name": ({"type": ["string", "number"], "default": "release"}, Sentence("name of the release")),
    "protection": (
        {"enum": list(PROTECTIONS), "default": PROTECTIONS[0]},
        Sentence("models: the release satisfies privacy models; operations: only operations are applied"),
    ),
    "source": (reference("source"), Sentence("where the table is, and how it is read")),
    "columns": (_COLUMNS, Sentence("every column with its role, or with its description")),
    "rest": ({"enum": [*REST, None]}, Sentence("what becomes of columns that are not listed")),
    "person": (
        {**TEXT, "type": ["string", "null"]},
        Sentence("the column whose equal values are the rows of one person; rows: every row is a person"),
    ),
    "household": (
        {**TEXT, "type": ["string", "null"], "not": {"const": ROWS}},
        Sentence("the column whose equal values are the rows of one household"),
    ),
    "models": (_MODELS, Sentence("privacy models that every release must satisfy")),
    "allowance": (
        {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
        Sentence("share of the people who may be in groups smaller than k by all published columns that others know or could know"),
    ),
    "method": (either(NULL, reference("method")), Sentence("how the recoding is searched for")),
    "output": (either(NULL, reference("output")), Sentence("where the release goes")),
    "tables": ({"type": "object", "minProperties": 1}, Sentence("several tables by name, each with source, columns and output")),
    "attributes": (
        or_null("object", additionalProperties=reference("attribute")),
        Sentence("what columns of one attribute have in common"),
    ),
    "joinable": (or_null("array"), Sentence("attributes by which the releases must match as the originals do")),
    "variants": COLUMN["variants"],
}
