"""How the values of a column are read: integers, numbers, dates or text, and what stands for a missing value."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from velado.dates import Formats, read_date
from velado.numbers import CODE, COMMA, notation_of
from velado.recognition.missing_markers import missing_marker, unmistakable_marker
from velado.sentences import Sentence

NEARLY = 0.95
"""Share of the records, and of the different values, that make a column nearly one of numbers or dates."""
SET_APART = 0.4
"""Share of the records that a few words may have among numbers or dates, which they leave as they are."""
SHOWN = 3
"""At most so many odd values are named."""
DAYS = (
    "%Y-%m-%d",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m/%d/%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d/%m/%y",
    "%d-%m-%y",
    "%d.%m.%y",
    "%m/%d/%y",
    "%m-%d-%y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d/%b/%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%d de %B de %Y",
    "%d de %B del %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%Y%m%d",
)
"""Formats of days, the likelier ones first: where day and month can be exchanged, the day comes first."""
TIMES = (
    " %H:%M",
    " %H:%M:%S",
    "T%H:%M:%S",
    "T%H:%M",
    " %H:%M:%S.%f",
    "T%H:%M:%S.%f",
    "T%H:%M:%SZ",
    "T%H:%M:%S.%fZ",
    " %H:%M:%S+00",
    " %H:%M:%S.%f+00",
)
MOST_FORMATS = 4
"""A column with more formats than this is a text."""
EXCHANGEABLE = Sentence("no value tells day and month apart: read with the day first")
MOST_LOOKED_AT = 5000
"""Values of a text that are looked at to say why it is nearly something else."""
YEARS = (1800, 2100)
"""Years of eight digits that are dates, and not numbers."""


@dataclass(frozen=True)
class Reading:
    """How a column is read: its type, the format of its dates, and which of its values stand for a missing one.

    ``note`` says why a column that is nearly numbers or dates is a text, or what is doubtful; it may show values.
    """

    type: str
    format: Formats = None
    missing: tuple[str, ...] = ()
    note: str = ""


def reading_of(amount: Mapping[str, int]) -> Reading:
    """The reading of a column, from its values that are not missing with their numbers of records.

    Numbers or dates, whatever stands for missing values among them. Leading zeros make a text (007 is not 7), and so do
    numbers that can be read in two ways (only 1,000 and 2,500; only 1.000 and 2.500).

    >>> reading_of({"31/12/1999": 1, "1/2/1963": 2, "NO REGISTRADO": 9})
    Reading(type='date', format='%d/%m/%Y', missing=('NO REGISTRADO',), note='')
    """
    markers = tuple(v for v in amount if missing_marker(v))
    marked = set(markers)
    present = [v for v in amount if v not in marked]
    if not present:
        return Reading("text", missing=tuple(v for v in markers if unmistakable_marker(v)))
    kind = _detect_type(present)
    if kind is not None:
        return replace(kind, missing=markers)
    found = _odd({v: amount[v] for v in present}) if not _ambiguous(present) else None
    if found is not None and found.sayable:
        apart = set(found.values)
        kind = _detect_type([v for v in present if v not in apart])
        if kind is not None:
            return replace(kind, missing=(*markers, *found.values), note=found.set_apart)
    note = _ambiguous(present) or ("" if found is None else found.note)
    # A marker such as "-" is only plausible if the rest of the column is of another kind.
    return Reading("text", missing=tuple(v for v in markers if unmistakable_marker(v)), note=note)


def _detect_type(values: Sequence[str]) -> Reading | None:
    """The reading as numbers or dates; None for a text."""
    whole = all(map(_whole, values))
    if whole and all(map(_eight_digits, values)):
        return Reading("date", "%Y%m%d")
    if whole:
        return Reading("integer")
    if not any(map(CODE.match, values)) and not _ambiguous(values) and notation_of(values) is not None:
        return Reading("number")
    found = detect_dates(values)
    if found is None:
        return None
    return Reading("date", found.format, note=EXCHANGEABLE if found.exchangeable else "")


def _whole(value: str) -> bool:
    return re.fullmatch(r"[+-]?(0|[1-9][0-9]*)", value) is not None


def _eight_digits(value: str) -> bool:
    """Whether a number is a day, year first."""
    if len(value) != 8 or not value.isascii() or not value.isdigit():
        return False
    moment = read_date(value, "%Y%m%d")
    return moment is not None and YEARS[0] <= moment.year <= YEARS[1]


def _ambiguous(values: Sequence[str]) -> str:
    """Whether points may group thousands or stand before decimals: always three digits behind them, and no zero before."""
    pointed = [v for v in values if "." in v]
    grouped = pointed and all(re.fullmatch(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}", v.strip()) for v in pointed)
    if not grouped or not all(COMMA.number(v) is not None for v in values) or any("," in v for v in values):
        return ""
    return Sentence(
        "its points may group thousands or stand before decimals; write it without the points that group, "
        "or 'type: number' if they stand before decimals"
    )


@dataclass(frozen=True)
class Dated:
    """The formats of a column of dates, and whether day and month could as well be exchanged in all of them."""

    format: Formats
    exchangeable: bool = False


def detect_dates(values: Sequence[str]) -> Dated | None:
    """How a column of dates is written, None if it is none: never with formats that exchange day and month.

    >>> detect_dates(["2020-01-31", "5/6/1963"])
    Dated(format=('%Y-%m-%d', '%d/%m/%Y'), exchangeable=True)
    >>> detect_dates(["25/12/2020", "12/25/2020"]) is None
    True
    """
    shapes: dict[str, list[str]] = {}
    for value in values:
        # Days and months of one digit are written like those of two.
        shapes.setdefault(re.sub(r"(?<!9)99?(?!9)", "9", _shape(value)), []).append(value)
        if len(shapes) > MOST_FORMATS:
            return None
    day_first, month_first = (_formats_of(shapes, order) for order in (True, False))
    chosen = day_first or month_first
    if chosen is None:
        return None
    return Dated(chosen[0] if len(chosen) == 1 else chosen, month_first is not None and month_first != chosen)


def _formats_of(shapes: Mapping[str, Sequence[str]], day_first: bool) -> tuple[str, ...] | None:
    """The likeliest format of each shape, days and months always in one order; None if a shape has none."""
    chosen = []
    for shape, values in shapes.items():
        fitting = (f for f in _formats(shape) if _in_order(f, day_first) and all(_reads(v, f) for v in values))
        found = next(fitting, None)
        if found is None:
            return None
        chosen.append(found)
    return tuple(sorted(set(chosen), key=_likely))


def _in_order(format: str, day_first: bool) -> bool:
    """Whether a format has day and month in an order, or leaves no doubt about them: the year first, or a name."""
    return "%m" not in format or format.startswith("%Y") or (format.find("%d") < format.find("%m")) == day_first


def _shape(value: str) -> str:
    """A value with 9 for digits and a for words.

    >>> _shape("5 de março de 1963"), _shape("2020-01-31T10:00:00Z")
    ('9 a a a 9999', '9999-99-99a99:99:99a')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub("[0-9]", "9", value))


def _formats(shape: str) -> Iterable[str]:
    """The formats whose texts can have a shape."""
    if not shape.count("9") or len(shape) > 40:
        return ()
    times = TIMES if ":" in shape else ("",)
    return (day + time for day in DAYS for time in times)


def _reads(value: str, format: str) -> bool:
    moment = read_date(value, format)
    return moment is not None and YEARS[0] <= moment.year <= YEARS[1]


def _likely(format: str) -> tuple[int, int]:
    day, time = next((d, f) for d in sorted(DAYS, key=len, reverse=True) for f in ("", *TIMES) if d + f == format)
    return DAYS.index(day), ("", *TIMES).index(time)


WORD = re.compile(r"[^\W\d]+( [^\W\d]+)?|[-?.#/]{1,4}")
"""What may stand for a missing value: a word or two, or signs."""


PLAIN = re.compile(r"(?=.*\d)[\d.,:;/+<>≥≤~ -]{1,12}[a-zA-Z]?")
"""Digits and signs, perhaps with one letter: what was mistyped, and says nothing else of a person."""


@dataclass(frozen=True, repr=False)
class _Odd:
    """Values that are no numbers (or dates) in a column of which nearly all are.

    ``shown`` may be named to everybody: words of several records. ``sayable``: all may stand in the owner's project file, for
    they are such words, or a few digits and signs.
    """

    kind: Sentence
    values: tuple[str, ...]
    shown: tuple[str, ...]
    sayable: bool

    @property
    def set_apart(self) -> Sentence:
        """What becomes of them."""
        if not self.shown:
            return Sentence(
                "{count:,} value(s) that are no {kind} count as missing, a category of their own",
                kind=self.kind,
                count=len(self.values),
            )
        return Sentence(
            "{count:,} value(s) that are no {kind} ({shown}) count as missing, a category of their own",
            kind=self.kind,
            count=len(self.values),
            shown=list(map(repr, self.shown[:SHOWN])),
        )

    @property
    def note(self) -> Sentence:
        """Why the column is a text."""
        if not self.shown:
            return Sentence(
                "nearly all values are {kind}, but {count:,} value(s) not: correct them, "
                "or name them in 'source: {{missing: [...]}}' if they stand for missing values",
                kind=self.kind,
                count=len(self.values),
            )
        return Sentence(
            "nearly all values are {kind}, but {count:,} value(s) not ({shown}): correct them, "
            "or name them in 'source: {{missing: [...]}}' if they stand for missing values",
            kind=self.kind,
            count=len(self.values),
            shown=list(map(repr, self.shown[:SHOWN])),
        )


def _odd(amount: Mapping[str, int]) -> _Odd | None:
    """The values that keep a column from being one of numbers or dates; None if it is not nearly one."""
    looked_at = dict(itertools.islice(amount.items(), MOST_LOOKED_AT))
    for kind, fits in ((Sentence("numbers"), _numeric), (Sentence("dates"), _some_date(looked_at))):
        odd = [v for v in looked_at if not fits(v)]
        few = len(odd) <= max((1 - NEARLY) * len(looked_at), 1) and len(looked_at) > 2 * len(odd)
        # 007 is no mistake among numbers, but says that they are codes.
        if not odd or not few or any(re.fullmatch("0[0-9]+", v) for v in odd):
            continue
        # All values are looked at once, so that none is forgotten.
        odd = [v for v in amount if not fits(v)]
        # A word that many records have is a category; values of few records are mistakes.
        share = SET_APART if len(odd) <= SHOWN else 1 - NEARLY
        if sum(amount[v] for v in odd) <= share * sum(amount.values()):
            # What stands once may be about one person.
            shown = [v for v in odd if amount[v] > 1 and WORD.fullmatch(v)]
            sayable = all(v in shown or PLAIN.fullmatch(v) for v in odd)
            return _Odd(kind, tuple(odd), tuple(sorted(shown, key=lambda v: (-amount[v], v))), sayable)
    return None


def _numeric(value: str) -> bool:
    return notation_of([value]) is not None and not CODE.match(value)


def _some_date(values: Iterable[str]) -> Callable[[str], bool]:
    """Whether a value is a date in the format that most values of the column's most frequent shape have."""
    shape = Counter(map(_shape, values)).most_common(1)[0][0]
    like = [v for v in values if _shape(v) == shape][:200]
    found = {f: sum(_reads(v, f) for v in like) for f in _formats(shape)}
    format = max(found, key=lambda f: found[f], default=None)
    return lambda value: format is not None and _reads(value, format)
