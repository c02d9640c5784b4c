"""Numbers as a column writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from velado.errors import InputError
from velado.operations.base import Given
from velado.parameters import LARGEST

NUMERIC = ("INT", "DECIMAL", "DOUBLE", "FLOAT")
MOST_DECIMALS = 9


@dataclass(frozen=True)
class Style:
    """How many decimals a column's numbers have, and whether a comma stands before them."""

    decimals: int = 0
    comma: bool = False

    @classmethod
    def of(cls, values: Sequence[str], numbers: Sequence[Decimal]) -> Style:
        """The style of a column: as many decimals as its longest number."""
        decimals = max((-int(n.as_tuple().exponent) for n in numbers), default=0)
        return cls(min(max(decimals, 0), MOST_DECIMALS), any("," in v for v in values))

    def text(self, number: Decimal) -> str:
        """A number as text; its decimals stay."""
        shown = format(number if number else abs(number), "f")
        return shown.replace(".", ",") if self.comma else shown


def exact(number: float) -> Decimal:
    """The number that a project file shows: 0.1 is one tenth."""
    return Decimal(repr(number))


def parse(values: Sequence[str], given: Given) -> list[Decimal]:
    """All values as exact numbers, with a decimal point or a decimal comma."""
    numbers, wrong = [], []
    for value in values:
        try:
            number = Decimal(value.replace(",", ".") if "," in value and "." not in value else value)
            if not number.is_finite() or abs(number) > LARGEST:
                raise InvalidOperation
            numbers.append(number)
        except InvalidOperation:
            wrong.append(value)
    if wrong:
        raise InputError(
            "not-a-number", f"{len(wrong):,} value(s) are not numbers", column=given.column, values=given.shown(wrong),
            hint="Clean the column, or name the missing-value marker in 'source: {missing: [...]}'.",
        )  # fmt: skip
    return numbers


def numeric(kind: str) -> bool:
    """Whether an engine's type is one of numbers."""
    return any(word in kind for word in NUMERIC)
