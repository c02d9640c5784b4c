"""Shift dates."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from velado.dates import ISO, formats_of, language_of, read_in, write_date
from velado.declarations import Declaration
from velado.errors import InputError, Note
from velado.hierarchies.calendar import ambiguous_dates, not_dates
from velado.operations.base import Given
from velado.operations.keys import KeyedOnValues, derive_key, read_key
from velado.operations.treatment import Replacing, Treatment
from velado.parameters import ColumnName, KeyPlace, Span
from velado.sentences import Sentence
from velado.tables import ColumnType, Counts, Table
from velado.values import Text

MOST_DAYS = 36_525


@dataclass(frozen=True)
class Shift(KeyedOnValues):
    """Every date moves by some days within ``days``, never by 0: all by as many, or ``by`` a column, person by person.

    How many follows from the key and the value of that column, by HMAC-SHA-256. All dates of a person move alike, in
    all columns and tables that are shifted by the same attribute and within the same days: intervals stay.
    """

    days: Sequence[int] = (-30, 30)
    by: str | None = None
    name: ClassVar[str] = "shift"
    declaration: ClassVar = Declaration(
        title="shift dates",
        meaning="Every date moves by some days; the dates of one person move together.",
        example={"shift": {"key": "env:VELADO_KEY", "days": [-30, 30], "by": "patient"}},
    )
    parameters: ClassVar = {
        "key": KeyPlace("where the key is: env:VARIABLE or file:PATH"),
        "days": Span("fewest and most days that a date moves", MOST_DAYS, unit="days"),
        "by": ColumnName("column whose values move together; none: all move together", optional=True),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "days", tuple(map(int, self.days)))

    @property
    def per_record(self) -> bool:
        """A date moves with its person."""
        return self.by is not None

    @property
    def _possible_days(self) -> list[int]:
        """How many days a date may move."""
        low, high = self.days
        return [d for d in range(low, high + 1) if d]

    def notes(self, column: str) -> tuple[Note, ...]:
        """Where the shift is no secret, or one for all."""
        if len(self._possible_days) == 1:
            message = Sentence("the project says by how many days the dates move: whoever sees it can move them back")
        elif self.by is None:
            message = Sentence("all dates move by the same number of days: whoever knows one of them can move all back; see 'by'")
        else:
            return ()
        return (Note("one-shift", message, column),)

    def describe(self, folder: Path) -> dict[str, Any]:
        """The days only where they leave something to guess."""
        shown = super().describe(folder)
        return {k: v for k, v in shown.items() if k != "days" or len(self._possible_days) > 1}

    def treat(self, table: Table, given: Given) -> Treatment:
        """Shift the dates, each with the value of the other column that it stands beside."""
        kind = table.type_of(given.column)
        if self.by is None:
            return super().treat(table, given)
        if self.by not in table.header:
            hint = table.header.near(self.by, (given.column, self.by))
            raise InputError(
                "unknown-column",
                Sentence("dates are shifted by '{by}', and the table has no such column", by=self.by),
                column=given.column,
                hint=hint,
            )
        pairs = table.count([given.column, self.by])
        values, others = ([d[c] for c in codes] for d, codes in zip(pairs.dictionaries, pairs.codes, strict=True))
        if any(o is None and v is not None for v, o in zip(values, others, strict=True)):
            raise InputError(
                "missing-values",
                Sentence("dates are shifted by '{by}', which has missing values", by=self.by),
                column=given.column,
                hint="Clean that column, or shift by another.",
            )
        there = [i for i, v in enumerate(values) if v is not None]
        labels = self._shift_values([values[i] or "" for i in there], [others[i] or "" for i in there], given)
        counted = Counts((given.column,), (tuple(values[i] for i in there),), (np.arange(len(there)),), pairs.counts[there])
        treated = Replacing.of(given, self, counted, labels, typed=self.keeps_type(kind))
        translation = replace(treated.translation, by=self.by, others=tuple(others[i] for i in there))
        missing = int(pairs.counts.sum() - counted.counts.sum())
        records: dict[Text, int] = {**treated.records, **({None: missing} if missing else {})}
        return replace(treated, translation=translation, records=records)

    def labels(self, values: Sequence[str], given: Given) -> Sequence[str]:
        """Shift all dates by the same number of days."""
        return self._shift_values(values, [""] * len(values), given)

    def keeps_type(self, kind: ColumnType) -> bool:
        """Dates stay dates; of times there are many ways to write one."""
        return kind is ColumnType.DATE

    def _shift_values(self, values: Sequence[str], others: Sequence[str], given: Given) -> list[str]:
        formats = formats_of(given.format) or (ISO,)
        language = language_of(values) if any("%b" in f or "%B" in f for f in formats) else "en"
        key = derive_key(
            read_key(self.key, given.folder), "shift", "" if self.by is None else given.attributes.get(self.by, self.by)
        )
        allowed = self._possible_days
        days: dict[str, int] = {}
        shifted: dict[tuple[str, int], str] = {}
        labels, wrong, ambiguous = [], [], []
        for value, other in zip(values, others, strict=True):
            if other not in days:
                drawn = int.from_bytes(hmac.digest(key, other.encode(), "sha256")[:8], "big")
                days[other] = allowed[drawn % len(allowed)]
            move = (value, days[other])
            if move not in shifted:
                read = read_in(value, formats)
                moved = None if read is None else _move(read.moment, move[1])
                if read is None or moved is None:
                    wrong.append(value)
                    continue
                if read.ambiguous:
                    ambiguous.append(value)
                shifted[move] = write_date(moved, read.format, language, value)
            labels.append(shifted[move])
        if wrong:
            raise not_dates(given.column, given.values_to_show(wrong), formats, len(set(wrong)), moved=True)
        if ambiguous:
            raise ambiguous_dates(given.column, given.values_to_show(ambiguous), len(set(ambiguous)))
        return labels


def _move(moment: datetime, days: int) -> datetime | None:
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return None
