"""Top and bottom coding."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from velado.declarations import Declaration
from velado.errors import InputError
from velado.operations.base import Given, OnValues
from velado.operations.numbers import Style, exact, parse
from velado.parameters import FLAG, Choice, Number
from velado.sentences import Sentence
from velado.tables import ColumnType

LABEL = Choice("show >HIGH and <LOW in the place of the limits themselves", FLAG)


class Coding(OnValues):
    """Numbers beyond a limit become the limit, or with ``label`` a text that says so. Other numbers stay."""

    label: bool

    @abstractmethod
    def limits(self) -> tuple[float | None, float | None]:
        """The lowest and the highest number that is shown."""

    def labels(self, values: Sequence[str], given: Given) -> Sequence[str]:
        """Code every number."""
        numbers = parse(values, given)
        style = Style.of(values, numbers)
        low, high = ((None if x is None else exact(x)) for x in self.limits())
        coded = []
        for value, number in zip(values, numbers, strict=True):
            if high is not None and number > high:
                coded.append((">" if self.label else "") + style.text(high))
            elif low is not None and number < low:
                coded.append(("<" if self.label else "") + style.text(low))
            else:
                coded.append(value)
        return coded

    def keeps_type(self, kind: ColumnType) -> bool:
        """Limits are numbers, labels are not. A limit with decimals does not fit a column of whole numbers."""
        whole = all(x is None or float(x).is_integer() for x in self.limits())
        return kind.numeric and not self.label and (whole or kind is not ColumnType.INTEGER)


@dataclass(frozen=True)
class Top(Coding):
    """Numbers above ``high`` become it."""

    high: float
    label: bool = False
    name: ClassVar[str] = "top"
    declaration: ClassVar = Declaration(title="top coding", meaning="Numbers above a limit become the limit.", example={"top": 90})
    main: ClassVar = "high"
    parameters: ClassVar = {"high": Number("highest number that is shown"), "label": LABEL}

    def limits(self) -> tuple[float | None, float | None]:
        """Only a highest one."""
        return None, self.high


@dataclass(frozen=True)
class Bottom(Coding):
    """Numbers below ``low`` become it."""

    low: float
    label: bool = False
    name: ClassVar[str] = "bottom"
    declaration: ClassVar = Declaration(
        title="bottom coding", meaning="Numbers below a limit become the limit.", example={"bottom": 18}
    )
    main: ClassVar = "low"
    parameters: ClassVar = {"low": Number("lowest number that is shown"), "label": LABEL}

    def limits(self) -> tuple[float | None, float | None]:
        """Only a lowest one."""
        return self.low, None


@dataclass(frozen=True)
class Limits(Coding):
    """Numbers below ``low`` and above ``high`` become these."""

    low: float
    high: float
    label: bool = False
    name: ClassVar[str] = "limits"
    declaration: ClassVar = Declaration(
        title="top and bottom coding",
        meaning="Numbers beyond two limits become these.",
        example={"limits": {"low": 18, "high": 90}},
    )
    parameters: ClassVar = {
        "low": Number("lowest number that is shown"),
        "high": Number("highest number that is shown"),
        "label": LABEL,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise InputError("bad-parameter", Sentence("limits: low ({low}) is above high ({high})", low=self.low, high=self.high))

    def limits(self) -> tuple[float | None, float | None]:
        """Both."""
        return self.low, self.high
