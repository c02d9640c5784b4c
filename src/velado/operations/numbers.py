"""Exact numbers of a column, and texts for numbers that take their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from velado.errors import InputError
from velado.numbers import beside, column_notation, notation_of
from velado.operations.base import Given
from velado.parameters import LARGEST
from velado.sentences import Sentence

MOST_DECIMALS = 9


@dataclass(frozen=True)
class Style:
    """How many decimals a column's numbers have, whether a comma stands before them, and what stands beside all."""

    decimals: int = 0
    comma: bool = False
    before: str = ""
    after: str = ""

    @classmethod
    def of(cls, values: Sequence[str], numbers: Sequence[Decimal]) -> Style:
        """The style of a column: as many decimals as its longest number."""
        decimals = max((-int(n.as_tuple().exponent) for n in numbers), default=0)
        notation = notation_of(values)
        marks = beside(values) if notation is not None and notation.unit is not None else ("", "")
        return cls(min(max(decimals, 0), MOST_DECIMALS), notation is not None and notation.comma, *marks)

    def text(self, number: Decimal) -> str:
        """A number as text; its decimals stay."""
        shown = format(abs(number), "f")
        sign = "-" if number < 0 else ""
        return sign + self.before + (shown.replace(".", ",") if self.comma else shown) + self.after


def exact(number: float) -> Decimal:
    """The number that a project file shows: 0.1 is one tenth."""
    return Decimal(repr(number))


def parse(values: Sequence[str], given: Given) -> list[Decimal]:
    """All values as exact numbers, in the notation of their column."""
    notation = column_notation(given.column, values, given.values_to_show)
    numbers = [Decimal(notation.plain(v) or "") for v in values]
    wrong = [v for v, n in zip(values, numbers, strict=True) if abs(n) > LARGEST]
    if wrong:
        raise InputError(
            "not-a-number",
            Sentence("{count:,} number(s) are too large", count=len(wrong)),
            column=given.column,
            values=given.values_to_show(wrong),
        )
    return numbers
