"""Operations of columns as forms: what may be chosen for a column, its parameters, and what a form says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from velado.choices import catalog
from velado.operations import OPERATIONS, operation_from
from velado.results import Discreet
from velado.studio.forms import parameter_form
from velado.studio.forms.column_edit import DROP, Said
from velado.studio.request import Form
from velado.studio.words import Words

NEEDS = dict.fromkeys(("top", "bottom", "limits", "round", "noise"), ("integer", "number")) | {"shift": ("date",)}
"""Types of columns that operations are for; the others take any."""
KEY, SPAN, PAIRS, FILE, PLAIN = "key", "span", "pairs", "file", "plain"
NEW_SECRET = "+"
"""What is chosen to have a new secret made."""


@dataclass(frozen=True, repr=False)
class OperationForm(Discreet):
    """An operation with its parameters: ``plain`` ones as `parameters` shows them, and those that need more than one field."""

    entry: Mapping[str, Any]
    plain: Sequence[parameter_form.ParameterField]
    secret: str | None = None
    takes_secret: bool = False
    span: tuple[str, str, Any, Any] | None = None
    pairs: tuple[str, str, str] | None = None
    file: str | None = None


def available_operations(said: Said, type: str, light: bool, words: Words) -> list[dict[str, Any]]:
    """The operations that a column may have; the one that it has is always there."""
    return [
        entry
        for entry in catalog(words.code)["operations"]
        if entry["name"] == said.operation or _is_available(entry, said.role, type, light)
    ]


def _is_available(entry: Mapping[str, Any], role: str, type: str, light: bool) -> bool:
    if entry["name"] == DROP or (entry["name"] in NEEDS and type not in NEEDS[entry["name"]]):
        return False
    if role == "identifier":
        return bool(entry["takes_identifiers"])
    if role == "quasi-identifier" and not light:
        return False
    # Noise treats equal values differently: no model could judge them.
    return light or role != "sensitive" or entry["name"] != "noise"


def form_of(entry: Mapping[str, Any], given: Mapping[str, Any], words: Words, columns: Sequence[str]) -> OperationForm:
    """An operation with the values that a project gives its parameters."""
    properties = entry["parameters"]["properties"]
    kinds = {name: _kind(name, about) for name, about in properties.items()}
    plain = parameter_form.fields(_only(entry, kinds), given, words, parameter_form.Choices(named=columns))
    found: dict[str, Any] = {}
    for name, kind in kinds.items():
        value = given.get(name, properties[name].get("default"))
        if kind == KEY:
            found |= {"takes_secret": True, "secret": str(value).partition(":")[2] if value else None}
        elif kind == SPAN:
            low, high = value if isinstance(value, (list, tuple)) and len(value) == 2 else ("", "")
            found["span"] = (name, properties[name].get("description", name), low, high)
        elif kind == PAIRS:
            found["pairs"] = (name, properties[name].get("description", name), _pair_lines(value))
        elif kind == FILE:
            found["file"] = value
    return OperationForm(entry, plain, **found)


def read(entry: Mapping[str, Any], form: Form, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a form says; an upload that is named before stays, unless pairs are given instead."""
    properties = entry["parameters"]["properties"]
    kinds = {name: _kind(name, about) for name, about in properties.items()}
    found = parameter_form.read(_only(entry, kinds), form, given)
    for name, kind in kinds.items():
        if kind == KEY:
            found[name] = f"secret:{form.text('secret-name') if form.text('secret') == NEW_SECRET else form.text('secret')}"
        elif kind == SPAN:
            found[name] = [parameter_form.number(form.text(f"p.{name}.{end}")) for end in ("low", "high")]
        elif kind == PAIRS and form.text(f"p.{name}"):
            found[name] = dict(_pairs(form.text(f"p.{name}")))
        elif kind == FILE and given.get(name) and not any(form.text(f"p.{n}") for n, k in kinds.items() if k == PAIRS):
            found[name] = given[name]
    return {name: found[name] for name in properties if name in found and found[name] != properties[name].get("default")}


def spec_of(name: str, arguments: Mapping[str, Any]) -> Any:
    """An operation as a document writes it."""
    return {name: dict(arguments)} if arguments else name


def check(name: str, arguments: Mapping[str, Any]) -> None:
    """Raise what is wrong with the parameters; a secret stands where a project file says where the key is."""
    keys = {n for n, about in _properties(name).items() if _kind(n, about) == KEY}
    operation_from({name: {n: "env:KEY" if n in keys else value for n, value in arguments.items()}})


def _properties(name: str) -> Mapping[str, Any]:
    found = next((entry for entry in catalog()["operations"] if entry["name"] == name), None)
    return {} if found is None or name not in OPERATIONS else found["parameters"]["properties"]


def _kind(name: str, about: Mapping[str, Any]) -> str:
    """What fields a parameter needs, by its schema."""
    types = about.get("type")
    if str(about.get("pattern", "")).startswith("^(env|file):"):
        return KEY
    if types == "array" and about.get("maxItems") == 2:
        return SPAN
    if isinstance(types, list) and "object" in types:
        return PAIRS
    return FILE if name == "file" else PLAIN


def _only(entry: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, Any]:
    """An entry with its plain parameters alone."""
    schema = entry["parameters"]
    plain = {name: about for name, about in schema["properties"].items() if kinds[name] == PLAIN}
    required = [name for name in schema["required"] if name in plain]
    return {**entry, "parameters": {**schema, "properties": plain, "required": required}}


def _pair_lines(value: Any) -> str:
    return "\n".join(f"{one};{other}" for one, other in value.items()) if isinstance(value, Mapping) else ""


def _pairs(text: str) -> list[tuple[str, str]]:
    """A value and its substitute in each line, as in a file."""
    lines = [line.rpartition(";") for line in text.splitlines() if line.strip()]
    return [(one.strip(), other.strip()) for one, _, other in lines]
