"""Types of columns, the same for every engine, and the one text that stands for a value of each.

Hierarchies, recodings, models and messages know values as texts. So that the same table gives the same texts wherever it
lives, every type has one canonical text per value; it is written down in ``docs/reference/types.md``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from enum import Enum

from velado.errors import InputError
from velado.sentences import Sentence

EXACT = Context(prec=100, rounding=ROUND_HALF_EVEN)
"""Python's own has fewer digits than a column may have."""
INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
NANOSECONDS = re.compile(r"(.+\.[0-9]{6})([0-9]{1,3})")


class ColumnType(Enum):
    """What the cells of a column hold."""

    TEXT = "text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BOOLEAN = "boolean"

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)


@dataclass(frozen=True)
class Field:
    """A column of a table; ``decimals`` are those of a column of type DECIMAL; ``single``: floats of 32 bits,
    of which new values are written with 64; ``unread``: the type of a column into which nobody can look, and which can only
    be left out."""

    name: str
    type: ColumnType
    decimals: int = 0
    single: bool = False
    unread: str = ""

    @classmethod
    def of_others(cls, name: str, kind: str) -> Field:
        """A column whose cells are lists, structures or bytes, or of another type that is not read."""
        shown = kind.partition("(")[0].partition("<")[0] if "[" not in kind else "list"
        return cls(name, ColumnType.TEXT, unread=shown)

    @property
    def instead(self) -> str:
        """What is shown of each cell of a column that is not read."""
        return f"({self.unread})"

    def check(self, file: object) -> None:
        """Refuse to look into a column that is not read."""
        if self.unread:
            raise InputError(
                "unsupported-type",
                Sentence("cells of the type {kind} cannot be anonymized", kind=self.unread),
                column=self.name,
                file=str(file),
                hint="Leave the column out, or write it as text or numbers, one value per cell: in a database by a query or a view.",
            )

    def canonical(self, text: str) -> str | None:
        """The canonical text of what a text says, rounded to the column's decimals; None if no value of the type says it.

        >>> Field("cost", ColumnType.DECIMAL, 2).canonical("12.345"), Field("age", ColumnType.INTEGER).canonical("3-5")
        ('12.34', None)
        """
        try:
            return _CANONICAL[self.type](text, self)
        except (ValueError, InvalidOperation, OverflowError):
            return None

    def own(self, text: str) -> str | None:
        """The canonical text of what a text says; None if that is no value of the column, also because of its decimals."""
        found = self.canonical(text)
        return None if self.type is ColumnType.DECIMAL and found and Decimal(found) != Decimal(text) else found


def _integer(text: str, field: Field) -> str:
    if not INTEGER.fullmatch(text):
        raise ValueError(text)
    return str(int(text))


def _decimal(text: str, field: Field) -> str:
    number = Decimal(text)
    if "_" in text or not number.is_finite():
        raise ValueError(text)
    rounded = number.quantize(Decimal(1).scaleb(-field.decimals), context=EXACT)
    # There is one zero.
    return format(rounded if rounded else rounded.copy_abs(), "f")


def _float(text: str, field: Field) -> str:
    number = float(text)
    if "_" in text or not (math.isfinite(number) or text in ("inf", "-inf", "nan")):
        raise ValueError(text)
    return repr(number + 0.0)


def _date(text: str, field: Field) -> str:
    return date.fromisoformat(text).isoformat()


def _timestamp(text: str, field: Field) -> str:
    # Moments of Python have no nanoseconds.
    finer = NANOSECONDS.fullmatch(text)
    moment = datetime.fromisoformat(finer[1] if finer else text)
    if moment.tzinfo is not None:
        raise ValueError(text)
    shown = moment.isoformat(" ", "microseconds") + (finer[2] if finer else "")
    return shown.rstrip("0").removesuffix(".")


def _boolean(text: str, field: Field) -> str:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text


_CANONICAL: dict[ColumnType, Callable[[str, Field], str]] = {
    ColumnType.TEXT: lambda text, field: text,
    ColumnType.INTEGER: _integer,
    ColumnType.DECIMAL: _decimal,
    ColumnType.FLOAT: _float,
    ColumnType.DATE: _date,
    ColumnType.TIMESTAMP: _timestamp,
    ColumnType.BOOLEAN: _boolean,
}
