"""A language: its texts, and how it writes numbers and dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from velado.errors import InputError, suggest
from velado.i18n.labels import LABELS
from velado.sentences import MARKS, PERCENT, Sentence, say_in

LANGUAGES = ("en", "es", "pt")
MONTHS = "January February March April May June July August September October November December"


def language(code: str | Language) -> Language:
    """The language with a code.

    >>> language("es").percent(0.0724, 1)
    '7,2\u202f%'
    """
    if isinstance(code, Language):
        return code
    if code not in LANGUAGES:
        raise InputError("unknown-language", Sentence("there is no language '{code}'", code=code), hint=suggest(code, LANGUAGES))
    return Language(code)


@dataclass(frozen=True)
class Language:
    """Sentences, numbers and dates as the language writes them; None is a dash."""

    code: str

    def say(self, template: str, /, **places: Any) -> str:
        """A sentence, its places filled in."""
        return say_in(self.code, template, places)

    def label(self, group: str, name: str, **places: Any) -> str:
        """The words for a name of the product; the name itself where there are none."""
        known = LABELS.get(group, {}).get(name)
        return name if known is None else say_in(self.code, known, places)

    def plural(self, one: str, many: str, number: int, **places: Any) -> str:
        """The sentence for one thing or the one for any other number; ``{n}`` is the number."""
        return self.say(one if number == 1 else many, n=self.integer(number), **places)

    def integer(self, number: float | None) -> str:
        """A whole number with thousands marks."""
        return self.number(number, 0)

    def number(self, number: float | None, digits: int = 4, *, pad: bool = False) -> str:
        """A number with at most ``digits`` decimals, exactly as many if ``pad``.

        >>> Language("pt").number(1234.5, 2), Language("en").number(0.25)
        ('1.234,5', '0.25')
        """
        if number is None:
            return "–"
        text = f"{number:,.{digits}f}"
        if "." in text and not pad:
            text = text.rstrip("0").rstrip(".")
        if text.strip("-0.,") == "":
            text = text.lstrip("-")
        decimal, thousands = MARKS[self.code]
        return text.replace("-", "−").translate(str.maketrans(",.", thousands + decimal))

    def percent(self, share: float | None, digits: int = 1) -> str:
        """A share as a percentage; a share that rounds to nothing is written as below the last digit.

        >>> Language("en").percent(0.2), Language("en").percent(0.00001)
        ('20%', '<0.1%')
        """
        if share is None:
            return "–"
        least = 10**-digits
        if 0 < share < least / 200:
            return "<" + self.number(least, digits) + PERCENT[self.code]
        return self.number(100 * share, digits) + PERCENT[self.code]

    def date(self, day: date) -> str:
        """A date in words."""
        month = self.say(MONTHS).split()[day.month - 1]
        return self.say("{day} {month} {year}", day=day.day, month=month, year=day.year)

    def join_words(self, words: list[str]) -> str:
        """Words in a row with "and" before the last."""
        return words[0] if len(words) == 1 else self.say("{first} and {last}", first=", ".join(words[:-1]), last=words[-1])

    @property
    def format_locale(self) -> dict[str, Any]:
        """How Vega writes numbers."""
        decimal, thousands = MARKS[self.code]
        return {
            "decimal": decimal,
            "thousands": thousands,
            "grouping": [3],
            "currency": ["", ""],
            "percent": PERCENT[self.code],
            "minus": "−",
        }
