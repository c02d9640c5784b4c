"""Numbers as texts: one reading for a whole column.

``1,000`` is a thousand where commas group digits and one where a comma stands before decimals, and nothing in the
text itself tells. So the notation is decided by all values of a column together, here and nowhere else. Numbers may have
a currency or ``%`` beside them, the same throughout the column, and K, M or ``mil`` behind them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isfinite

from velado.errors import InputError
from velado.sentences import Sentence
from velado.values import Text

CODE = re.compile(r"^[+-]?0[0-9]")
"""Leading zeros make a code: 007 is not 7."""
FIRST = frozenset("+-.,0123456789")
BLANKS = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
CURRENCY = (
    r"US\$|U\$S|R\$|MX\$|S/\.?|Bs\.?|[$€£¥₡₲₱₹₩]|"
    "USD|EUR|GBP|CHF|JPY|BRL|ARS|CLP|COP|MXN|PEN|UYU|PYG|BOB|VES|CRC|GTQ|HNL|NIO|DOP|CUP|CAD|AUD|CNY|INR"
)
"""Signs and codes of money. None of it has three decimals."""
MARKED = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<before>{CURRENCY})?\s*(?P<number>[+-]?[0-9.,](?:[0-9.,{BLANKS}]*[0-9])?)"
    rf"\s*(?P<factor>[kKM]|mil)?\s*(?P<after>{CURRENCY}|%)?"
)
LONGEST = 60
"""Characters of a number with something beside it."""
FACTORS = {"k": 3, "K": 3, "M": 6, "mil": 3}
"""Powers of ten."""
PERCENT = "%"


@dataclass(frozen=True)
class Notation:
    """What stands before decimals, and what may group the digits of thousands (three each, the same sign throughout).

    ``unit``: the currency or ``%`` that may stand beside the number, empty if it is only K, M or ``mil``; None if a number
    stands alone.
    """

    decimal: str
    thousands: str
    unit: str | None = None

    @property
    def comma(self) -> bool:
        """Whether decimals follow a comma."""
        return self.decimal == ","

    @property
    def between(self) -> str:
        """What stands between the limits of an interval."""
        return "; " if self.comma else ", "

    @property
    def pattern(self) -> str:
        """A number as a regular expression without groups; it is matched in linear time."""
        grouped = [rf"[1-9][0-9]{{0,2}}(?:{re.escape(sign)}[0-9]{{3}})+" for sign in self.thousands]
        whole, point = "(?:" + "|".join([*grouped, "[0-9]+"]) + ")", re.escape(self.decimal)
        return rf"[+-]?(?:{whole}(?:{point}[0-9]+)?|{point}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?"

    @cached_property
    def _matching(self) -> Callable[[str], object]:
        return re.compile(rf"{self.pattern}|[+-]?[0-9]+{re.escape(self.decimal)}").fullmatch

    @cached_property
    def _alone(self) -> Notation:
        """The same for numbers that stand alone."""
        return Notation(self.decimal, self.thousands)

    @cached_property
    def _three_decimals(self) -> Callable[[str], object]:
        return re.compile(rf"{re.escape(self.decimal)}[0-9]{{3}}(?![0-9])").search

    def plain(self, text: str) -> str | None:
        """The number with a decimal point and without thousands; None if the text is no number in this notation."""
        text = text.strip()
        if self.unit is not None:
            return self._strip_marks(text, self.unit)
        # Most texts are seen to be no numbers at once.
        if text[:1] not in FIRST or not self._matching(text):
            return None
        for sign in self.thousands:
            text = text.replace(sign, "")
        return text.replace(self.decimal, ".")

    def _strip_marks(self, text: str, unit: str) -> str | None:
        found = MARKED.fullmatch(text) if len(text) <= LONGEST else None
        if found is None or not _marks(found) <= {unit} or (found["sign"] and found["number"][0] in "+-"):
            return None
        plain = self._alone.plain(found["sign"] + found["number"])
        if plain is None or found["factor"] is None:
            return plain
        return format(Decimal(plain).scaleb(FACTORS[found["factor"]]), "f")

    def fits(self, text: str) -> bool:
        """Whether a text can be meant so: a number, and no money with three decimals."""
        if self.number(text) is None:
            return False
        return self.unit in (None, "", PERCENT) or self._three_decimals(text) is None

    def number(self, text: str) -> float | None:
        """The number that a text denotes."""
        plain = self.plain(text)
        number = None if plain is None else float(plain)
        return number if number is not None and isfinite(number) else None

    def write_number(self, plain: str) -> str:
        """A number with a decimal point as this notation writes it, without thousands."""
        return plain.replace(".", self.decimal)


POINT = Notation(".", ",")
COMMA = Notation(",", "." + BLANKS)
PLAIN_PAIR = (POINT, COMMA)
PLAIN = Notation(".", "")
"""What is a number whatever else the column holds."""


def notation_of(values: Sequence[str]) -> Notation | None:
    """How a column writes its numbers; None if not all its values are numbers in one notation, or if they are in two.

    A point is a decimal point unless some value says otherwise (``1.234.567``, ``0,5``). Commas that fit both readings
    (``1,000`` and ``2,500`` alone) fit none. Money has no three decimals: ``$1.000`` and ``$1,000`` are thousands.
    """
    for candidates in (lambda _: PLAIN_PAIR, _notation_pair):
        point, comma = candidates(values)
        fits = _all(point, values)
        if fits and not any("," in v for v in values):
            return point
        other = _all(comma, values)
        if fits != other:
            return point if fits else comma
        if fits:
            return None
    return None


def _notation_pair(values: Sequence[str]) -> tuple[Notation, Notation]:
    """With a decimal point and with a decimal comma, and the unit that the column has; plain ones if it has none."""
    units: set[str] = set()
    percent = 0
    for value in values:
        found = MARKED.fullmatch(value.strip()) if len(value) <= LONGEST else None
        if found is None:
            return PLAIN_PAIR
        units |= _marks(found)
        percent += found["after"] == PERCENT
    if len(units) > 1 or 0 < percent < len(values):
        return PLAIN_PAIR
    unit = next(iter(units), "")
    return Notation(".", ",", unit), Notation(",", "." + BLANKS, unit)


def _marks(found: re.Match[str]) -> set[str]:
    return {mark for mark in (found["before"], found["after"]) if mark}


def beside(values: Sequence[str]) -> tuple[str, str]:
    """What stands before and behind the number in all values of a column, empty where they differ.

    >>> beside(["R$ 1,50", "R$ 20"]), beside(["5 %", "-7 %"]), beside(["$3K", "$500"])
    (('R$ ', ''), ('', ' %'), ('', ''))
    """
    found = {_beside(v.strip()) for v in values}
    return found.pop() if len(found) == 1 else ("", "")


def _beside(value: str) -> tuple[str, str]:
    found = MARKED.fullmatch(value) if len(value) <= LONGEST else None
    if found is None:
        return "", ""
    return value[found.end("sign") : found.start("number")], value[found.end("number") :]


def _all(notation: Notation, values: Sequence[str]) -> bool:
    return bool(values) and all(map(notation.fits, values))


def column_notation(column: str, values: Sequence[str], shown: Callable[[Sequence[str]], Sequence[str]] = list) -> Notation:
    """How a column of numbers writes them, or an error that names what is no number, or not clearly one.

    ``shown`` leaves out what an error may not show.
    """
    found = notation_of(values) if values else POINT
    if found is not None:
        return found
    point, comma = _notation_pair(values)
    wrong = {n: [v for v in values if not n.fits(v)] for n in (point, comma)}
    if not wrong[point] and not wrong[comma]:
        raise InputError(
            "ambiguous-number",
            "the commas of these numbers may group thousands or stand before decimals",
            column=column,
            values=shown([v for v in values if "," in v]),
            hint="Write them so that one reading is left: without a sign for thousands (1000) or with a decimal point (1.000).",
        )
    in_neither = [v for v in wrong[point] if not comma.fits(v)]
    if in_neither:
        raise InputError(
            "not-a-number",
            Sentence("{count:,} value(s) are not numbers like the others", count=len(in_neither)),
            column=column,
            values=shown(in_neither),
            hint="Clean the column, name the missing-value marker in 'source: {missing: [...]}', or do not use it as numbers.",
        )
    few = min(wrong.values(), key=len)
    raise InputError(
        "not-a-number",
        "the numbers of the column are not all written with the same decimal sign",
        column=column,
        values=shown(few),
        hint="Write all of them with a decimal point, or all with a decimal comma.",
    )


def parse_all(column: str, values: Sequence[str]) -> list[float]:
    """All values as numbers in the notation of their column."""
    notation = column_notation(column, values)
    return [number for number in map(notation.number, values) if number is not None]


def numbers_of(values: Sequence[Text]) -> list[float | None] | None:
    """The values as numbers, missing ones as None; None unless all that are present are numbers and none is a code."""
    present = [v for v in values if v is not None]
    if not present or any(CODE.match(v) for v in present):
        return None
    notation = notation_of(present)
    return None if notation is None else [None if v is None else notation.number(v) for v in values]
