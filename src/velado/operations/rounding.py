"""Rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import ClassVar

from velado.declarations import Declaration
from velado.operations.base import Given, OnValues
from velado.operations.numbers import Style, exact, parse
from velado.parameters import Number
from velado.tables import ColumnType

DIGITS = 400
"""As many as the largest number has in the smallest steps."""


@dataclass(frozen=True)
class Round(OnValues):
    """Every number becomes the nearest multiple of ``to``; halfway between two, the even multiple.

    >>> Round(10).labels(["14", "15", "25", "26"], Given("age", "age"))
    ['10', '20', '20', '30']
    """

    to: float
    name: ClassVar[str] = "round"
    declaration: ClassVar = Declaration(
        title="round", meaning="Every number becomes the nearest multiple of a step.", example={"round": 10}
    )
    main: ClassVar = "to"
    parameters: ClassVar = {"to": Number("step between the numbers that are shown", low=0, low_open=True)}

    def labels(self, values: Sequence[str], given: Given) -> Sequence[str]:
        """Round every number."""
        numbers = parse(values, given)
        style, step = Style.of(values, numbers), exact(self.to)
        with localcontext() as context:
            context.prec = DIGITS
            return [style.text((n / step).quantize(Decimal(1), ROUND_HALF_EVEN) * step) for n in numbers]

    def keeps_type(self, kind: ColumnType) -> bool:
        """Multiples of a broken step do not fit a column of whole numbers."""
        return kind.numeric and (float(self.to).is_integer() or kind is not ColumnType.INTEGER)
