"""Forms from what things declare of their parameters: JSON Schema → fields, and fields → parameters as a project has them.

Nothing here knows a model, a method or a parameter by its name: what a field looks like depends on its schema alone. What a
value may be is not judged here either: whoever is built from it says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from velado.i18n.labels import LABELS
from velado.sentences import Sentence
from velado.studio.request import Form
from velado.studio.words import NATIVE, Words

LARGE = 1000
"""A range that ends above this has no end that a slider could show."""
HAS = "has"
"""The field that lists which parameters a form has: a check box that is not checked sends nothing."""
OPTIONS = {
    "balanced": Sentence("balanced"),
    "median": Sentence("median"),
    "distribution": Sentence("by the distribution"),
    "interval": Sentence("interval"),
    "mode": Sentence("mode"),
    "mean": Sentence("mean"),
    "values": Sentence("different values"),
    "range": Sentence("range"),
    "std": Sentence("standard deviation"),
    "triangular": Sentence("triangles"),
    "trapezoidal": Sentence("trapezoids"),
    "equalAmount": Sentence("equal numbers of records"),
    "equidistant": Sentence("equal widths"),
    "logEqui": Sentence("equal ratios"),
    "keep": Sentence("all are kept"),
    "lowest": Sentence("the lowest"),
    "fences": Sentence("beyond the fences of a box plot"),
    "minimum": Sentence("minimum"),
    "maximum": Sentence("maximum"),
    "product": Sentence("product"),
}
"""Words of project files in words for people; others have labels, or are understood as they are."""


@dataclass(frozen=True)
class ParameterField:
    """A parameter as a form shows it.

    ``kind``: number, choice, flag, column, file, limit, text, and by-number, by-choice, by-list for a value of each of several columns
    (``cells``: column and value). ``slide``: lowest and highest value and step of the slider, if there is one.
    """

    name: str
    kind: str
    title: str
    note: str
    value: Any
    default: Any = None
    usual: Any = None
    expert: bool = False
    required: bool = False
    whole: bool = False
    low: float | None = None
    above: float | None = None
    high: float | None = None
    slide: tuple[float, float, float] | None = None
    options: Sequence[tuple[Any, str]] = ()
    cells: Sequence[tuple[str, Any]] = ()

    @property
    def share(self) -> float:
        """Of a limit: the percentage, 0 if it is a number of records."""
        share = round(100 * self.value, 6) if isinstance(self.value, (int, float)) else 0
        return int(share) if share == int(share) else share

    @property
    def count(self) -> int | None:
        """Of a limit: the number of records, None if it is a share."""
        return int(self.value.split()[0]) if isinstance(self.value, str) else None


@dataclass(frozen=True)
class Choices:
    """What may be chosen: columns for parameters that name one, columns for those with a value for each, files, titles of other things."""

    named: Sequence[str] = ()
    each: Sequence[str] = ()
    files: Sequence[tuple[str, str]] = ()
    titles: Mapping[str, Mapping[str, str]] | None = None


def fields(entry: Mapping[str, Any], values: Mapping[str, Any], words: Words, choices: Choices) -> list[ParameterField]:
    """The parameters of an entry of the catalog, with the values that a project gives them."""
    schema = entry["parameters"]
    example = entry.get("example")
    usual = next(iter(example.values())) if isinstance(example, Mapping) else {}
    strength = entry.get("strength") or {}
    found = []
    for name, about in schema["properties"].items():
        given = values.get(name, about.get("default"))
        kind = kind_of(about, given)
        symbol = (strength.get(name) or {}).get("symbol", "")
        low, above, high = _range(about)
        usually = usual.get(name) if isinstance(usual, Mapping) else None
        slide = _slider(about, given, usually, bool(symbol)) if kind == "number" else None
        found.append(
            ParameterField(
                name,
                kind,
                _title(name, symbol, about, words),
                str(about.get("description", "")),
                given,
                about.get("default"),
                usually,
                expert=bool(about.get("x-expert")),
                required=name in schema["required"],
                whole=_whole(about),
                low=low,
                above=above,
                high=high,
                slide=slide,
                options=_options(name, kind, about, words, choices, given),
                cells=_cells(kind, given, choices),
            )
        )
    return found


def read(entry: Mapping[str, Any], form: Form, kept: Mapping[str, Any], prefix: str = "p") -> dict[str, Any]:
    """The parameters that a form says, on top of those that it does not show; what is as by default is left out."""
    properties = entry["parameters"]["properties"]
    found = {name: value for name, value in kept.items() if name in properties}
    for name in form.all(HAS):
        if name not in properties:
            continue
        about = properties[name]
        value = _read(about, form, f"{prefix}.{name}")
        found.pop(name, None)
        if value is not None and value != about.get("default"):
            found[name] = value
    return {name: found[name] for name in properties if name in found}


def kind_of(about: Mapping[str, Any], value: Any = None) -> str:
    """What a parameter looks like in a form."""
    if about.get("x-column"):
        return "column"
    if about.get("x-file"):
        return "file"
    if "enum" in about:
        return "choice"
    shapes = about.get("anyOf", ())
    if any("records" in str(shape.get("pattern", "")) for shape in shapes):
        return "limit"
    if any("enum" in shape for shape in shapes):
        return "by-choice" if isinstance(value, Mapping) else "choice"
    types = _types(about)
    if "boolean" in types:
        return "flag"
    if "object" in types:
        inner = about.get("additionalProperties") or {}
        return "by-list" if inner.get("type") == "array" else "by-number"
    return "number" if {"integer", "number"} & types else "text"


def number(text: str) -> Any:
    """A number as it is typed; a text that is none stays one, so that it is refused where it is used."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return text
    if not math.isfinite(value):
        return text
    return int(value) if value.is_integer() else value


def _read(about: Mapping[str, Any], form: Form, name: str) -> Any:
    text = form.text(name)
    columns = {column: given.strip() for column, given in form.under(name).items() if given.strip()}
    match kind_of(about):
        case "flag":
            return text == "on"
        case "number":
            return number(text) if text else None
        case "limit":
            if form.text(f"{name}.as") == "count":
                count = number(form.text(f"{name}.count") or "0")
                return f"{count} records" if isinstance(count, int) and count >= 0 else form.text(f"{name}.count")
            share = number(form.text(f"{name}.share") or "0")
            return round(share / 100, 8) if isinstance(share, (int, float)) else share
        case "choice":
            words = about.get("enum") or next(shape["enum"] for shape in about["anyOf"] if "enum" in shape)
            known = {str(word): word for word in words}
            if columns:
                return {column: known.get(given, given) for column, given in columns.items()}
            return known.get(text, text) if text else None
        case "by-number":
            return {column: number(given) for column, given in columns.items()} or None
        case "by-list":
            numbers = ((about.get("additionalProperties") or {}).get("items") or {}).get("type") == "number"
            lists = {column: [part.strip() for part in given.split(";") if part.strip()] for column, given in columns.items()}
            return {column: [number(x) if numbers else x for x in parts] for column, parts in lists.items() if parts} or None
        case "text":
            return (number(text) if _takes_numbers(about) else text) if text else None
    return text or None


def _takes_numbers(about: Mapping[str, Any]) -> bool:
    return any({"integer", "number"} & _types(shape) for shape in about.get("anyOf", ()))


def _types(about: Mapping[str, Any]) -> set[str]:
    types = about.get("type", ())
    return {types} if isinstance(types, str) else set(types)


def _whole(about: Mapping[str, Any]) -> bool:
    return "integer" in _types(about)


def _range(about: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    """Lowest value, the value that all are above, and the highest one; None where there is none that matters."""
    high = about.get("maximum")
    return (about.get("minimum"), about.get("exclusiveMinimum"), high if high is not None and high <= LARGE * LARGE else None)


def _slider(about: Mapping[str, Any], value: Any, usual: Any, strong: bool) -> tuple[float, float, float] | None:
    low, above, high = _range(about)
    if high is None or high > LARGE:
        high = None
    if not strong and (high is None or high > 1):
        return None
    known = [x for x in (value, usual) if isinstance(x, (int, float))]
    if high is None and not known:
        return None
    step = 1 if _whole(about) else 0.01 if high is not None and high <= 1 else 0.1
    lowest = low if low is not None else (above or 0) + step
    highest = high if high is not None else max(math.ceil(5 * (usual or 0)), *(math.ceil(x) for x in known), lowest + 1)
    return lowest, highest, step


def _title(name: str, symbol: str, about: Mapping[str, Any], words: Words) -> str:
    """The symbol of a parameter, or its name in words, or what it means."""
    known = name in LABELS["parameter"]
    text = words.label("parameter", name) if known else str(about.get("description", name))
    return symbol or text[:1].upper() + text[1:]


def _options(
    name: str, kind: str, about: Mapping[str, Any], words: Words, choices: Choices, value: Any
) -> Sequence[tuple[Any, str]]:
    if kind == "column":
        # A column that lost its role is still named by the model: it is shown, and the checks say what is wrong with it.
        names = list(choices.named) if value is None or value in choices.named else [value, *choices.named]
        return [(one, one) for one in names]
    if kind == "file":
        return list(choices.files)
    listed = about.get("enum") or next((shape["enum"] for shape in about.get("anyOf", ()) if "enum" in shape), ())
    titles = (choices.titles or {}).get(name, {})
    return [(one, titles.get(one) or option(name, one, words)) for one in listed]


def option(name: str, value: Any, words: Words) -> str:
    """What a word of a project file is called that may be chosen for a parameter."""
    text = str(value)
    if text in OPTIONS:
        return OPTIONS[text].into(words.code)
    if text in NATIVE:
        return NATIVE[text]
    return next((label for group in (name, "option") if (label := words.label(group, text)) != text), text)


def _cells(kind: str, value: Any, choices: Choices) -> list[tuple[str, Any]]:
    if not kind.startswith("by-"):
        return []
    given = value if isinstance(value, Mapping) else {}
    names: Iterable[str] = dict.fromkeys((*choices.each, *given))
    if kind == "by-list":
        return [(name, "; ".join(map(str, given.get(name) or ()))) for name in names]
    return [(name, given.get(name)) for name in names]
