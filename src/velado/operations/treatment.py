"""What becomes of one column: what an engine is told, and what the release must show."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables import Counts, Noise, Plan, Translation
from velado.values import ROOT, Text

if TYPE_CHECKING:
    from velado.operations.base import Given, Operation

CERTAIN = 1e-12
"""A chance below which something does not happen."""


@dataclass(frozen=True, repr=False)
class Treatment(Discreet, ABC):
    """A column under an operation. ``operation`` and ``given`` say which one and how it was described."""

    given: Given
    operation: Operation

    @property
    def column(self) -> str:
        """The column."""
        return self.given.column

    @abstractmethod
    def add_to_plan(self, plan: Plan) -> Plan:
        """What an engine does, with this column."""

    def problem(self, written: Mapping[Text, int], complete: bool) -> str | None:
        """What is wrong with the values of a release and how often they occur; ``complete``: no record is lacking."""
        return None

    def not_applied(self) -> Sentence:
        """What is told where the values are not those that the operation makes."""
        return Sentence(
            "the operation {operation} was not applied to the column '{column}'", operation=str(self.operation), column=self.column
        )

    def survivors(self) -> int:
        """How many original values the release could show as they were."""
        return 0

    def becomes(self, values: Sequence[Text]) -> list[Text] | None:
        """What becomes of values of the column; None where that is nothing, or depends on the record."""
        return None


@dataclass(frozen=True, repr=False)
class Starring(Treatment):
    """Every cell shows ``*``."""

    def add_to_plan(self, plan: Plan) -> Plan:
        """Set the column to ``*``."""
        return replace(plan, starred=(*plan.starred, self.column))

    def problem(self, written: Mapping[Text, int], complete: bool) -> str | None:
        """Only ``*`` may be there."""
        return None if set(written) <= {ROOT} else Sentence("the column '{column}' is not fully suppressed", column=self.column)

    def becomes(self, values: Sequence[Text]) -> list[Text] | None:
        """``*``."""
        return [ROOT for _ in values]


@dataclass(frozen=True, repr=False)
class LeavingOut(Treatment):
    """The column is not there."""

    def add_to_plan(self, plan: Plan) -> Plan:
        """Leave the column out."""
        return replace(plan, dropped=(*plan.dropped, self.column))


@dataclass(frozen=True, repr=False)
class Replacing(Treatment):
    """Every value, or every value with the one of another column, becomes another; ``records`` says how often."""

    translation: Translation
    records: Mapping[Text, int] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Given, operation: Operation, counts: Counts, labels: Sequence[Text], typed: bool = False) -> Replacing:
        """The treatment of counted values and what becomes of each."""
        codes = np.arange(len(labels), dtype=np.int64)
        translation = Translation(counts.names[0], counts.dictionaries[0], codes, tuple(labels), typed=typed)
        records: Counter[Text] = Counter()
        for label, n in zip(labels, np.bincount(counts.codes[0], counts.counts, len(labels)), strict=True):
            records[label] += int(n)
        return cls(given, operation, translation, records)

    def add_to_plan(self, plan: Plan) -> Plan:
        """Replace the values."""
        known = tuple(k for k in plan.known if k[0] != self.column)
        return replace(plan, replaced=(*plan.replaced, self.translation), known=known)

    def problem(self, written: Mapping[Text, int], complete: bool) -> str | None:
        """Only what values become may be there; all of it, as often as in the table, if no record is lacking."""
        plain = self._number if self.translation.typed else str
        expected, found = (_merge_counts(x, plain) for x in (self.records, written))
        if self.operation.hides and self._originals() & set(written):
            return Sentence("the column '{column}' shows original values", column=self.column)
        if any(n > expected.get(v, 0) for v, n in found.items()) or (complete and found != expected):
            return self.not_applied()
        return None

    def survivors(self) -> int:
        """Original values that something becomes."""
        return len(self._originals() & set(self.translation.labels))

    def becomes(self, values: Sequence[Text]) -> list[Text] | None:
        """What becomes of values of the column."""
        if self.translation.by:
            return None
        label_of = dict(zip(self.translation.keys, self.translation.labels, strict=True))
        return [label_of[v] for v in values]

    def _originals(self) -> set[Text]:
        return {v for v in self.translation.keys if v is not None and v.strip(ROOT)}

    @staticmethod
    def _number(value: str) -> Any:
        """A cell of a typed column, whatever way a format writes its numbers."""
        try:
            return float(value)
        except ValueError:
            return value


@dataclass(frozen=True, repr=False)
class Adding(Treatment):
    """Noise is added to every number; ``records`` counts the numbers as they were, ``still`` is the chance that a
    cell stays as it was."""

    noise: Noise
    records: Mapping[Text, int] = field(default_factory=dict)
    still: float = 0.0

    def add_to_plan(self, plan: Plan) -> Plan:
        """Add the noise."""
        return replace(plan, noise=(*plan.noise, self.noise))

    def problem(self, written: Mapping[Text, int], complete: bool) -> str | None:
        """Numbers and missing values as many as there were, and not all numbers the same as they were."""
        broken = self.not_applied()
        try:
            found = _merge_counts(written, _decimal)
        except ValueError:
            return broken
        if not complete:
            return None
        before = _merge_counts(self.records, _decimal)
        cells = sum(n for v, n in before.items() if v is not None)
        same = found == before and cells * math.log(max(self.still, CERTAIN)) < math.log(CERTAIN)
        lost = sum(found.values()) != sum(before.values()) or found.get(None) != before.get(None)
        return broken if same or lost else None


def _decimal(value: str) -> float:
    return float(value.replace(",", "."))


def _merge_counts(records: Mapping[Text, int], plain: Any) -> dict[Any, int]:
    merged: Counter[Any] = Counter()
    for value, n in records.items():
        if n:
            merged[None if value is None else plain(value)] += n
    return dict(merged)
