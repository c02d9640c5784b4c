"""Texts, numbers and moments in templates, in the language of who looks."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from velado.choices import catalog
from velado.i18n.language import LANGUAGES, Language, language
from velado.sentences import Sentence

NATIVE = {"en": "English", "es": "Español", "pt": "Português"}
SIZES = ("B", "kB", "MB", "GB", "TB")


class Term(NamedTuple):
    """An entry of the glossary in one language."""

    key: str
    title: str
    meaning: str
    see: tuple[str, ...] = ()


class Words:
    """One language: ``words("…")`` says a sentence, methods write numbers, moments, sizes and terms."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.language: Language = language(code)

    def __call__(self, template: str, /, **places: Any) -> str:
        """A sentence."""
        return Sentence(template, **places).into(self.code)

    def say(self, template: str, /, **places: Any) -> str:
        """The same, under a name by which tests find what the code says."""
        return self(template, **places)

    def integer(self, number: float | str | None) -> str:
        """A whole number; a text such as "fewer than 3" is said in the language."""
        return self(number) if isinstance(number, str) else self.language.integer(number)

    def number(self, number: float | str | None, digits: int = 3) -> str:
        """A number with so many decimals at most."""
        return self(number) if isinstance(number, str) else self.language.number(number, digits)

    def percent(self, share: float | str | None, digits: int = 1) -> str:
        """A share."""
        return self(share) if isinstance(share, str) else self.language.percent(share, digits)

    def size(self, bytes: float) -> str:
        """Bytes in the largest unit that fits."""
        step = 0
        while bytes >= 1000 and step < len(SIZES) - 1:
            bytes, step = bytes / 1000, step + 1
        return f"{self.language.number(bytes, 1 if step > 1 else 0)} {SIZES[step]}"

    def when(self, moment: datetime | None) -> str:
        """A moment: date and time of the day, in UTC."""
        return "–" if moment is None else f"{self.language.date(moment.date())}, {moment:%H:%M}"

    def label(self, group: str, name: str) -> str:
        """The word of a key of the product, such as a status or a role."""
        return self.language.label(group, name)

    def term(self, key: str) -> Term:
        """An entry of the glossary; ``models.k-anonymity`` is one of the catalog."""
        return terms(self.code)[keys()[key]] if key in keys() else _catalog_term(key, key, self.code)

    def terms(self) -> list[Term]:
        """The glossary, in alphabetical order."""
        return sorted(terms(self.code).values(), key=lambda term: plain(term.title))


@cache
def glossary() -> dict[str, dict[str, Any]]:
    """All entries as they are written: key → ``catalog``, ``also``, ``see``, and by language ``title``, ``meaning``, ``more``."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = files("velado.studio").joinpath("glossary.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = yaml.load(text, Loader=loader)
    return found


@cache
def keys() -> dict[str, str]:
    """Every key by which a page may name an entry → the key of the entry."""
    return {name: key for key, entry in glossary().items() for name in (key, *entry.get("also", ()))}


@cache
def terms(code: str) -> dict[str, Term]:
    """The glossary in a language."""
    return {key: _term(key, entry, code) for key, entry in glossary().items()}


def plain(text: str) -> str:
    """A text as people look for it: without capitals, accents and signs before it."""
    letters = unicodedata.normalize("NFD", text.casefold())
    return "".join(c for c in letters if not unicodedata.combining(c)).lstrip("(")


def _term(key: str, entry: dict[str, Any], code: str) -> Term:
    said, see = entry.get(code, {}), tuple(entry.get("see", ()))
    if "catalog" not in entry:
        return Term(key, said["title"], said["meaning"], see)
    known = _catalog_term(entry["catalog"], key, code)
    meaning = f"{known.meaning} {said['more']}" if "more" in said else known.meaning
    return Term(key, said.get("title", known.title), meaning, see)


def _catalog_term(place: str, key: str, code: str) -> Term:
    """What the catalog says: ``kind.name``."""
    kind, _, name = place.partition(".")
    found = _catalog(code)[kind][name]
    return Term(key, found["title"], found["meaning"], ())


@cache
def _catalog(code: str) -> dict[str, dict[str, dict[str, Any]]]:
    return {kind: {entry["name"]: entry for entry in entries} for kind, entries in catalog(code).items()}


__all__ = ["LANGUAGES", "NATIVE", "Term", "Words", "glossary", "keys", "plain", "terms"]
