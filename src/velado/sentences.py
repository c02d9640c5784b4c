"""Sentences for people: English where they are written, Spanish and Portuguese from one list.

The English sentence with its places is the name by which its translations are found (`i18n/sentences/*.yaml`, one file
per room), so that code reads as what it says. A `Sentence` is an ordinary English text that can also be asked for
in another language. Where one English text has two translations, by what it is said of, the context follows a ¦ in code
and list ("fails¦attack"); nobody is shown it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

MARKS = {"en": (".", ","), "es": (",", "."), "pt": (",", ".")}
"""Decimal mark and thousands mark."""
PERCENT = {"en": "%", "es": "\N{NARROW NO-BREAK SPACE}%", "pt": "%"}
CONTEXT = "¦"
"""What divides a text from its context."""
PLACE = re.compile(r"\{[^{}]*\}")


class Sentence(str):
    """A text with places that are filled in, in every language.

    Values may be sentences themselves, numbers (written with the marks of the language) and lists of values.

    >>> found = Sentence("column '{column}'", column="age")
    >>> found, found.into("es")
    ("column 'age'", "columna 'age'")
    """

    template: str
    places: Mapping[str, Any]

    def __new__(cls, template: str, /, **places: Any) -> Sentence:  # noqa: D102
        if isinstance(template, Sentence) and not places:
            return template
        made = super().__new__(cls, say_in("en", template, places))
        made.template, made.places = template, places
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.template,), dict(self.places)

    def into(self, code: str) -> str:
        """The sentence in a language: en, es or pt."""
        return str(self) if code == "en" else say_in(code, self.template, self.places)


def join_sentences(separator: str, parts: Iterable[Any]) -> Sentence:
    """Several sentences (or names, or numbers) in one; the separator may be a sentence, too.

    >>> join_sentences("; ", [Sentence("column '{column}'", column=c) for c in "ab"]).into("pt")
    "coluna 'a'; coluna 'b'"
    """
    places: dict[str, Any] = {f"part{i}": part for i, part in enumerate(parts)}
    return Sentence("{between}".join(f"{{{name}}}" for name in places), between=separator, **places)


def into(text: object, code: str) -> str:
    """Any text in a language: sentences are translated, all else stays as it is."""
    return text.into(code) if isinstance(text, Sentence) else str(text)


def translate_template(template: str, code: str) -> str:
    """A sentence of the list in a language, places not filled in; what is not in the list stays English."""
    if code != "en":
        return translations().get(template, {}).get(code, template)
    # Only what a list has with a context is cut: names of columns that hold the mark are not.
    return template.partition(CONTEXT)[0] if CONTEXT in template and template in translations() else template


def say_in(code: str, template: str, places: Mapping[str, Any]) -> str:
    """A sentence of the list in a language, places filled in."""
    found = translate_template(template, code)
    # Without places braces mean braces, as in "output: {path: release.csv}".
    return _Filler(code).vformat(found, (), places) if places else found


def wordless(template: str) -> bool:
    """Whether a text has nothing to translate: places and signs only."""
    return not any(c.isalpha() for c in PLACE.sub("", template))


@cache
def translations() -> dict[str, dict[str, str]]:
    """English sentence → language → sentence, from the lists of all rooms."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, dict[str, str]] = {}
    for file in sorted(files("velado.i18n").joinpath("sentences").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".yaml"):
            found |= yaml.load(file.read_text(encoding="utf-8"), Loader=loader) or {}
    return found


class _Filler(Formatter):
    """Fills places as ``str.format`` does, with numbers and sentences in a language."""

    def __init__(self, code: str) -> None:
        self.code = code

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, (list, tuple)):
            return ", ".join(self.format_field(v, format_spec) for v in value)
        if isinstance(value, Sentence):
            return format(value.into(self.code), format_spec)
        text = format(value, format_spec)
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
        return localize_number(text, self.code) if numeric else text


def localize_number(number: str, code: str) -> str:
    """A number as Python writes it, with the marks of a language.

    >>> localize_number("1,234.5", "es"), localize_number("7.2%", "pt")
    ('1.234,5', '7,2%')
    """
    if code == "en":
        return number
    decimal, thousands = MARKS[code]
    return number.translate(str.maketrans(",.", thousands + decimal)).replace("%", PERCENT[code])
