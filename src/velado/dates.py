"""Dates as texts: the formats of a column, and what its texts denote.

A column has one format or several (``%d/%m/%Y`` and ``%Y-%m-%d``), as in Python's ``strptime``. Everything that reads a
date by a format reads it here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import ClassVar

from velado.results import Discreet

Formats = str | Sequence[str] | None
"""One format, several, or none: then dates are canonical texts."""
ISO = "%Y-%m-%d"
MONTHS = {
    "en": (
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ),
    "es": (
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ),
    "pt": (
        "janeiro",
        "fevereiro",
        "março",
        "abril",
        "maio",
        "junho",
        "julho",
        "agosto",
        "setembro",
        "outubro",
        "novembro",
        "dezembro",
    ),
}
"""Names of months; three letters are enough."""
OTHER_NAMES = {"es": {"setiembre": 9, "set": 9, "sept": 9}, "en": {"sept": 9}}
PARTS = {
    "d": "3[01]|[12][0-9]|0[1-9]|[1-9]",
    "m": "1[0-2]|0[1-9]|[1-9]",
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "b": r"[^\W\d_]+\.?",
    "B": r"[^\W\d_]+",
    "H": "2[0-3]|[01][0-9]|[0-9]",
    "M": "[0-5][0-9]|[0-9]",
    "S": "[0-5][0-9]|[0-9]",
    "f": "[0-9]{1,6}",
}
"""What stands for each directive that is read here; formats with others are read by ``strptime``."""
DIRECTIVE = re.compile(r"%(.)|(\s+)|([^%\s]+)", re.DOTALL)


def formats_of(format: Formats) -> tuple[str, ...]:
    """The formats of a column, one by one.

    >>> formats_of("%Y"), formats_of(["%d/%m/%Y", "%Y-%m-%d"]), formats_of(None)
    (('%Y',), ('%d/%m/%Y', '%Y-%m-%d'), ())
    """
    if format is None:
        return ()
    return (format,) if isinstance(format, str) else tuple(format)


def this_year() -> int:
    """The year in which two-digit years end."""
    return date.today().year


def whole_year(digits: int) -> int:
    """The year that two digits stand for: the one among the hundred years that end with the current one.

    In 2026, 63 is 1963, 26 is 2026 and 27 is 1927: people's dates lie in the past.
    """
    last = this_year()
    return last - (last - digits) % 100


def is_format(format: object) -> bool:
    """Whether dates can be written so; a format that names the year twice, for instance, is none."""
    if not isinstance(format, str):
        return False
    try:
        datetime.strptime("", format)
    except ValueError as error:
        # Of course the empty text is no date.
        return "directive" not in str(error) and "stray" not in str(error)
    except (re.error, IndexError, OverflowError):
        return False
    return True


def read_date(text: str, format: str) -> datetime | None:
    """The moment that a text denotes in a format, None if it is not written so.

    Months may be named in English, Spanish or Portuguese, and years of two digits follow `whole_year`.

    >>> read_date("7 de marzo de 1981", "%d de %B de %Y")
    datetime.datetime(1981, 3, 7, 0, 0)
    >>> read_date("7/3/81", "%d/%m/%y").year, read_date("31/02/2020", "%d/%m/%Y")
    (1981, None)
    """
    pattern = _pattern(format)
    try:
        if pattern is None:
            moment = datetime.strptime(text, format)
            return moment.replace(year=whole_year(moment.year % 100)) if "%y" in format else moment
        found = pattern.fullmatch(text)
        if found is None:
            return None
        parts = found.groupdict()
        name = parts.get("b") or parts.get("B")
        month = int(parts.get("m") or 1) if name is None else _month_numbers()[_plain(name)]
        year = int(parts["Y"]) if parts.get("Y") else whole_year(int(parts["y"])) if parts.get("y") else 1900
        fraction = int((parts.get("f") or "0").ljust(6, "0"))
        hour, minute, second = (int(parts.get(p) or 0) for p in "HMS")
        return datetime(year, month, int(parts.get("d") or 1), hour, minute, second, fraction)
    except (ValueError, KeyError):
        return None


@dataclass(frozen=True, repr=False)
class Read(Discreet):
    """A text that was read: its moment, the format that it is written in, and whether another format says otherwise."""

    NAMES: ClassVar[tuple[str, ...]] = ("format",)
    moment: datetime
    format: str
    ambiguous: bool = False


def read_in(text: str, formats: Sequence[str]) -> Read | None:
    """A text in the first format that fits it; ambiguous if another one that fits says another moment.

    >>> read_in("01/02/2020", ["%d/%m/%Y", "%m/%d/%Y"]).ambiguous, read_in("13/02/2020", ["%d/%m/%Y", "%m/%d/%Y"]).ambiguous
    (True, False)
    """
    found = [(moment, format) for format in formats if (moment := read_date(text, format)) is not None]
    if not found:
        return None
    return Read(*found[0], any(moment != found[0][0] for moment, _ in found))


def write_date(moment: datetime, format: str, language: str = "en", like: str = "") -> str:
    """A moment in a format; months are named in a language, in capitals where ``like`` has them so.

    >>> write_date(datetime(1981, 3, 7), "%d-%b-%Y", "es", "01-ENE-1990")
    '07-MAR-1981'
    """
    word = re.search(r"[^\W\d_]+", like)
    names = MONTHS[language]

    def month_name(directive: re.Match[str]) -> str:
        name = names[moment.month - 1] if directive[0] == "%B" else names[moment.month - 1][:3]
        if word is not None and word[0].isupper():
            return name.upper()
        return name.title() if word is None or word[0].istitle() else name

    return moment.strftime(re.sub("%[bB]", month_name, format))


def language_of(values: Iterable[str]) -> str:
    """The language whose names of months all values have; English if there are none, or of several."""
    words = {_plain(w) for v in values for w in re.findall(r"[^\W\d_]{3,}", v)} & _month_numbers().keys()
    return next((x for x in MONTHS if words <= _names(x).keys()), "en")


def year_first(formats: Sequence[str]) -> bool:
    """Whether labels of months begin with the year: unless all formats have the day or the month first."""
    return not formats or any(min(_place(f, "Yy"), _place(f, "dmbB")) == _place(f, "Yy") for f in formats)


def month_first(format: str) -> bool:
    """Whether a format has the month before the day.

    >>> month_first("%m/%d/%Y"), month_first("%d/%m/%Y")
    (True, False)
    """
    return _place(format, "mbB") < _place(format, "d")


def day_format(formats: Sequence[str]) -> str:
    """How days are written in labels: in the column's only format, without its hours, if that is unmistakable; else ISO.

    Unmistakable: day and month as numbers, and the year with four digits.

    >>> day_format(["%d/%m/%Y %H:%M"]), day_format(["%d/%m/%y"]), day_format(["%d/%m/%Y", "%Y-%m-%d"])
    ('%d/%m/%Y', '%Y-%m-%d', '%Y-%m-%d')
    """
    if len(formats) != 1:
        return ISO
    day = re.split(r"[\sT,]*%[HIMSfp]", formats[0])[0]
    good = all(part in day for part in ("%d", "%m", "%Y")) and not set(re.findall("%(.)", day)) - set("dmY")
    return day if good else ISO


def _place(format: str, parts: str) -> int:
    places = [format.find(f"%{p}") for p in parts if f"%{p}" in format]
    return min(places, default=len(format))


@lru_cache
def _pattern(format: str) -> re.Pattern[str] | None:
    """A format as a regular expression; None where it has directives that are not read here."""
    pattern = ""
    for directive, blank, text in DIRECTIVE.findall(format):
        if directive and directive not in PARTS and directive != "%":
            return None
        if directive == "%":
            pattern += "%"
        elif directive:
            pattern += f"(?P<{directive}>{PARTS[directive]})"
        else:
            pattern += r"\s+" if blank else re.escape(text)
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error:
        return None


def _plain(word: str) -> str:
    """A name of a month without capitals, accents and the point of an abbreviation."""
    folded = unicodedata.normalize("NFKD", word.casefold().rstrip("."))
    return "".join(c for c in folded if not unicodedata.combining(c))


@lru_cache
def _names(language: str) -> dict[str, int]:
    whole = {_plain(name): i for i, name in enumerate(MONTHS[language], start=1)}
    return {**whole, **{name[:3]: i for name, i in whole.items()}, **OTHER_NAMES.get(language, {})}


@lru_cache
def _month_numbers() -> dict[str, int]:
    return {name: number for language in MONTHS for name, number in _names(language).items()}
