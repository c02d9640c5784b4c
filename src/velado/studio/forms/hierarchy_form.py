"""Descriptions of hierarchies as fields of a form, and back. What a builder asks for stands in its schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from velado.hierarchies import BUILDERS, described
from velado.hierarchies.build import build_unchecked
from velado.hierarchies.calendar import UNITS
from velado.hierarchies.schemas import builder_options
from velado.sentences import Sentence
from velado.studio.request import Form
from velado.studio.words import NATIVE, Words
from velado.values import ROOT

KINDS = (*BUILDERS, "file")
LISTED = ("tree", "groups", "rows")
"""Kinds that list values in groups: one editor is for all of them."""
SHORT = {
    "intervals": "widths",
    "mask": "side",
    "path": "separator",
    "prefix": "lengths",
    "known": "list",
    "frequency": "least",
    "dates": "units",
    "order": "values",
    "file": "file",
}
"""The option that may stand alone."""
TOP = "top"
TITLES = {
    "widths": Sentence("Widths"),
    "origin": Sentence("Begin at"),
    "cuts": Sentence("Cuts"),
    "side": Sentence("Side"),
    "hide": Sentence("Hidden characters"),
    "fill": Sentence("Length of codes"),
    "separator": Sentence("Separator"),
    "specific": Sentence("Most specific part"),
    "keep": Sentence("Parts that are left"),
    "lengths": Sentence("Lengths"),
    "list": Sentence("List"),
    "levels": Sentence("Levels"),
    "language": Sentence("Language"),
    "others": Sentence("Other values"),
    "least": Sentence("Fewest records"),
    "name": Sentence("Name of the group"),
    "units": Sentence("Levels"),
    "values": Sentence("Values in order"),
    "delimiter": Sentence("Delimiter"),
    "encoding": Sentence("Encoding"),
}
WORDS: dict[str, Sentence] = {
    "right": Sentence("right"),
    "left": Sentence("left"),
    "day": Sentence("day"),
    "week": Sentence("week"),
    "month": Sentence("month"),
    "quarter": Sentence("quarter"),
    "year": Sentence("year"),
    "five-years": Sentence("five years"),
    "decade": Sentence("decade"),
    "century": Sentence("century"),
    "countries": Sentence("countries"),
    "us-states": Sentence("states of the USA"),
    "brazilian-states": Sentence("states of Brazil"),
    "region": Sentence("region"),
    "continent": Sentence("continent"),
    "division": Sentence("division"),
}
"""What the words of options are called."""
EXTRA: dict[str, dict[str, dict[str, Any]]] = {
    "dates": {"units": {"type": "array", "items": {"enum": list(UNITS)}}},
    "order": {"values": {"type": "array", "items": {"type": "string"}}},
    "file": {
        "delimiter": {"type": ["string", "null"], "x-expert": True},
        "encoding": {"type": ["string", "null"], "x-expert": True},
    },
}
"""Options of builders that are written without names."""
Description = dict[str, Any]


@dataclass(frozen=True)
class OptionField:
    """An option of a builder. ``kind``: choice, choices, numbers, number, cuts, lines or text."""

    name: str
    kind: str
    title: str
    note: str
    expert: bool
    options: Sequence[tuple[str, str]] = ()


class Unreadable(Exception):
    """What was typed is no description; what is wrong by field."""

    def __init__(self, wrong: Mapping[str, Sentence]) -> None:
        super().__init__(", ".join(wrong))
        self.wrong = dict(wrong)


def kind_of(description: Any) -> str | None:
    """The builder of a description."""
    found = [key for key in description or () if key in KINDS] if isinstance(description, Mapping) else []
    return found[0] if len(found) == 1 else None


def fields(kind: str, words: Words) -> list[OptionField]:
    """What a form asks for; nothing for kinds that have an editor."""
    schemas = {**(builder_options(kind, words.code) if kind in BUILDERS else {}), **EXTRA.get(kind, {})}
    return [_field(name, schema, words) for name, schema in schemas.items()]


def _field(name: str, schema: Mapping[str, Any], words: Words) -> OptionField:
    kind, options = "text", ()
    every = schema.get("items") or next((one["items"] for one in schema.get("anyOf", ()) if "items" in one), None)
    if name == "cuts":
        kind = "cuts"
    elif "enum" in schema:
        kind, options = "choice", _options(schema["enum"], words)
    elif every is not None and "enum" in every:
        kind, options = "choices", _options(every["enum"], words)
    elif every is not None:
        kind = "lines" if every.get("type") == "string" else "numbers"
    elif {"integer", "number"} & set(_types(schema)):
        kind = "number"
    note = str(schema.get("description", ""))
    return OptionField(name, kind, words(TITLES[name]), note[:1].upper() + note[1:], bool(schema.get("x-expert")), options)


def _types(schema: Mapping[str, Any]) -> list[str]:
    given = schema.get("type", [])
    return [given] if isinstance(given, str) else list(given)


def _options(names: Sequence[str], words: Words) -> Any:
    return [(name, word(name, words)) for name in names]


def word(name: str, words: Words) -> str:
    """What an option is called; a number or a text of its own stays."""
    return words(WORDS[name]) if name in WORDS else NATIVE.get(name, name)


def field_texts(description: Any) -> dict[str, list[str]]:
    """A description as the texts of a form's fields."""
    kind = kind_of(description)
    if kind is None:
        return {}
    said = description[kind]
    texts: dict[str, list[str]] = {} if description.get(TOP, True) else {TOP: []}
    if kind in LISTED:
        return texts
    options = said if isinstance(said, Mapping) else {SHORT[kind]: said}
    if kind == "file":
        options = {**options, **{key: description.get(key) for key in ("delimiter", "encoding")}}
    return texts | {name: _texts(name, value) for name, value in options.items() if value is not None}


def _texts(name: str, value: Any) -> list[str]:
    if name == "cuts":
        lists = value if value and isinstance(value[0], Sequence) else [value]
        return ["\n".join(" ".join(_number(cut) for cut in level) for level in lists)]
    if name == "values":
        return ["\n".join(str(one) for one in value)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        words = all(isinstance(one, str) for one in value)
        return [str(one) for one in value] if words else [" ".join(_number(one) for one in value)]
    if name in ("levels", "units"):
        return [str(value)]
    return [value if isinstance(value, str) else _number(value)]


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read(kind: str, form: Form, words: Words) -> Description:
    """The description that a form says; `Unreadable` where its fields are not what they should be."""
    top = {} if kind == "file" or form.text(f"option.{TOP}") else {TOP: False}
    if kind in LISTED:
        return {**_read_tree(form), **top}
    said, wrong = {}, {}
    for field in fields(kind, words):
        try:
            value = _value(field, form)
        except ValueError:
            wrong[field.name] = NUMBERS if field.kind in ("numbers", "cuts") else NUMBER
            continue
        if value not in (None, "", []):
            said[field.name] = value
    if wrong:
        raise Unreadable(wrong)
    if kind == "intervals":
        said = _either(said, form.text("how"))
    if kind == "file":
        return {"file": form.text("option.file"), **said}
    short = SHORT[kind]
    if set(said) <= {short} and short in said:
        return {kind: said[short], **top}
    if kind in ("dates", "order") or not said:
        return {kind: said.get(short, []), **top}
    return {kind: said, **top}


NUMBERS = Sentence("Write numbers with blanks between them, such as 5 10 20.")
NUMBER = Sentence("Write a number.")
SEPARATED = re.compile(r"[\s,;]+")


def _either(said: dict[str, Any], how: str) -> dict[str, Any]:
    """Widths with their origin, or cuts."""
    if how == "cuts":
        return {"cuts": said.get("cuts", [])}
    return {key: value for key, value in said.items() if key != "cuts" and (key, value) != ("origin", 0)}


def _value(field: OptionField, form: Form) -> Any:
    name = f"option.{field.name}"
    if field.kind == "choices":
        chosen = set(form.all(name))
        return [value for value, _ in field.options if value in chosen]
    # Blanks can be what separates: only fields of numbers and words are trimmed.
    text = form.text(name)
    if field.kind == "text":
        return next(iter(reversed(form.all(name))), "") if field.name == "separator" else text
    if field.kind == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if field.kind == "cuts":
        levels = [_numbers(line) for line in text.splitlines() if line.strip()]
        return levels[0] if len(levels) == 1 else levels
    if field.kind == "numbers":
        return _numbers(text)
    if field.kind == "number":
        return next(iter(_numbers(text)), None)
    return text


def _numbers(text: str) -> list[float]:
    found = [float(part) for part in SEPARATED.split(text.strip()) if part]
    return [int(number) if number.is_integer() else number for number in found]


def _read_tree(form: Form) -> Description:
    """What the editor of trees has written."""
    try:
        found = json.loads(form.text("listed"))
    except ValueError:
        raise Unreadable({"listed": Sentence("This is no JSON.")}) from None
    if not isinstance(found, dict) or kind_of(found) != "tree" or not isinstance(found["tree"], dict):
        raise Unreadable({"listed": Sentence('Write {"tree": {"group": ["value", "value"]}}.')})
    chains = list(_chains(found["tree"], ()))
    if any(chain[0] is None for chain in chains):
        # A tree has no place for missing values.
        deep = max(map(len, chains))
        return {"rows": [[chain[0]] * (deep - len(chain)) + list(chain) for chain in chains]}
    return {"tree": found["tree"]}


def _chains(tree: Any, above: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Every value of an edited tree with the names above it; in lists None stands for missing values."""
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            if name == ROOT:
                yield from _chains(below, above)
            elif below in (None, [], {}):
                yield (name, *above)
            else:
                yield from _chains(below, (name, *above))
    elif isinstance(tree, list):
        for one in tree:
            yield from _chains(one, above) if isinstance(one, (Mapping, list)) else ((one, *above),)
    else:
        yield (tree, *above)


def convert_listing(kind: str, column: str, description: Description) -> Description:
    """Listed values in another form of writing."""
    if kind not in LISTED or kind in description:
        return description
    top = {TOP: False} if description.get(TOP) is False else {}
    found = described(build_unchecked(column, description, []), kind)
    return {**{key: value for key, value in found.items() if key != TOP}, **top}


def editable(column: str, description: Description) -> Description:
    """Listed values as the editor of trees takes them."""
    if "tree" in description:
        return {"tree": description["tree"]}
    hierarchy = build_unchecked(column, description, [])
    found = described(hierarchy)
    return {"tree": found["tree"] if "tree" in found else {ROOT: _lists(found["rows"])}}


def _lists(rows: list[list[Any]]) -> list[Any]:
    """Rows as nested lists, in which missing values have a place."""
    parts: dict[Any, list[list[Any]]] = {}
    for row in rows:
        parts.setdefault(row[-1], []).append(row[:-1])
    found: list[Any] = []
    for name, inside in parts.items():
        if name == ROOT:
            found.extend(_lists(inside) if inside[0] else [name])
        elif len(inside) == 1 and set(inside[0]) <= {name}:
            found.append(name)
        else:
            found.append({name: _lists(inside)})
    return found
