"""Columns that others could know hide people as quasi-identifiers do: as many as cost the others little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from velado.errors import InputError
from velado.evaluation.exposure import COPY, LEAST, association
from velado.evaluation.utility import Utility
from velado.hierarchies.build import build
from velado.project.people import ROWS
from velado.questions.suggest.probe import Probe, mean_loss
from velado.questions.suggest.result import SuggestedColumn, Suggestion
from velado.recognition.roles import LESS_KNOWN
from velado.recognition.survey_answers import VISIBLE
from velado.release.column_exposure import order_of, sample_counts
from velado.sentences import Sentence, join_sentences
from velado.tables import Counts, Table

MOST = 16
"""At most so many quasi-identifiers."""
LITTLE = 0.01
OUTCOME = 0.04
"""What columns that others only could know may cost those that they know, in mean loss (outcomes somewhat more), ..."""
SHARE = 0.05
"""... and beside that this share of what these lose anyway."""
ROOM = 0.05
"""A mean loss that is small anyway."""
NOTHING_LEFT = 0.8
"""A column that loses more says nothing any more."""
IN_VAIN = 12
"""After so many columns in a row that cost too much, no other is tried."""
FIRST = 3
"""Where nobody knows any column well, so many of those that they could know come first."""
MOST_ROWS = 2_000_000


def add_quasi_identifiers(
    suggestion: Suggestion, candidates: Sequence[SuggestedColumn], table: Table, probe: Probe, rows: int
) -> Suggestion:
    """The suggestion with those ``candidates`` as quasi-identifiers that cost little; the others are left out, and why."""
    telling = Telling(table, [*suggestion.quasi, *candidates], rows, suggestion)
    suggestion = suggestion.changing(telling.without_copies(suggestion.quasi))
    models = suggestion.models[:1]
    chosen = list(suggestion.quasi)
    known = [c.name for c in chosen]
    before = probe.utility(chosen, models) if chosen else None
    least = mean_loss(before, known) if before else 0.0
    in_vain = 0
    for column in candidates:
        found: Utility | None = None
        problem = telling.problem(column, chosen)
        if not problem and (len(chosen) >= MOST or in_vain >= IN_VAIN):
            problem = Sentence("left out: other columns are better known, and each more costs much")
        if not problem:
            found = probe.utility([*chosen, column], models)
            problem = _cost(found, before, column, known, least)
        if problem or found is None:
            in_vain += found is not None
            left = replace(column, kept=False, reason=join_sentences("; ", [column.reason, problem]))
            suggestion = suggestion.changing([left])
            continue
        in_vain = 0
        chosen.append(replace(column, kept=True, reason=_known_too(column)))
        before = found
        if len(known) < FIRST and len(known) == len(chosen) - 1:
            known.append(column.name)
            least = mean_loss(found, known)
        suggestion = suggestion.changing([chosen[-1]])
    return suggestion


def _cost(found: Utility | None, before: Utility | None, column: SuggestedColumn, known: Sequence[str], least: float) -> str:
    """Why a column costs too much; empty if it does not."""
    if found is None:
        return Sentence("left out: it was not tried whether people hide with it")
    if before is None:
        return ""
    lost, own = mean_loss(found, known), found.columns[column.name]
    if own > NOTHING_LEFT:
        return Sentence("left out: so that people hide, {loss:.0%} of it would be lost", loss=own)
    little = OUTCOME if column.reason == VISIBLE else LITTLE
    if lost > max(least + little + SHARE * least, ROOM):
        return Sentence(
            "left out: so that people hide with it, the columns that others know would lose {loss:.0%} instead of {least:.0%}",
            loss=lost,
            least=least,
        )
    gained = sum(1 - x for x in found.columns.values()) - sum(1 - x for x in before.columns.values())
    if gained <= 0:
        return Sentence("left out: it would cost the other columns more than it tells")
    return ""


def _known_too(column: SuggestedColumn) -> str:
    """The reason of a column that hides people as well."""
    if column.reason.startswith(LESS_KNOWN):
        return Sentence("others may know it, and it costs the others little")
    return join_sentences("; ", [column.reason, Sentence("recoded, for it costs the others little")])


class Telling:
    """Which columns tell which others: of those that tell each other one is enough."""

    def __init__(self, table: Table, columns: Sequence[SuggestedColumn], rows: int, suggestion: Suggestion) -> None:
        self.counts: Counts | None = None
        self.columns = {c.name: c for c in columns}
        self.problems: dict[str, str] = {}
        self.orders: dict[str, np.ndarray] = {}
        self.codes: dict[str, np.ndarray] = {}
        unit = None if suggestion.unit is None or suggestion.unit.column == ROWS else suggestion.unit.column
        if not columns or rows > MOST_ROWS:
            return
        counts = sample_counts(table, list(self.columns), unit)
        for c, dictionary in zip(columns, counts.dictionaries, strict=True):
            values = [v for v in dictionary if v is not None]
            try:
                hierarchy = build(c.name, c.spec.get("hierarchy"), dict.fromkeys(values, 1), format=c.spec.get("format"))
            except InputError as error:
                self.problems[c.name] = Sentence("left out: {problem}", problem=error.message)
            else:
                self.orders[c.name] = order_of(hierarchy, dictionary)
        if rows >= LEAST:
            self.counts = counts
            self.codes = dict(zip(self.columns, counts.codes, strict=True))

    def tells(self, one: SuggestedColumn, other: SuggestedColumn) -> bool:
        """Whether one column, whose groups mean something, tells the other."""
        if self.counts is None or not _has_structure(one) or one.name not in self.orders:
            return False
        codes = self.codes
        found = association(codes[one.name], codes[other.name], self.counts.counts, self.orders[one.name])
        return found >= COPY

    def without_copies(self, quasi: Sequence[SuggestedColumn]) -> list[SuggestedColumn]:
        """Of columns that tell each other the first stays, unless only the second can be generalized."""
        ordered = sorted(quasi, key=lambda c: not _has_structure(c))
        found = {c.name: self.problems[c.name] for c in quasi if c.name in self.problems and not c.wanted}
        for c in ordered:
            if c.name in found:
                continue
            for other in ordered:
                if other.name not in found and other.name != c.name and not other.wanted and self.tells(c, other):
                    found[other.name] = Sentence("left out: '{column}' tells it", column=c.name)
        return [replace(c, kept=False, reason=join_sentences("; ", [c.reason, found[c.name]])) for c in quasi if c.name in found]

    def problem(self, column: SuggestedColumn, chosen: Sequence[SuggestedColumn]) -> str:
        """Why a column need not be tried; empty if it need."""
        if column.name in self.problems:
            return self.problems[column.name]
        told_by = next((c for c in chosen if self.tells(c, column)), None)
        return "" if told_by is None else Sentence("left out: '{column}' tells it", column=told_by.name)


def _has_structure(column: SuggestedColumn) -> bool:
    """Whether the groups of a column mean something, so that they may stand for a column that it tells."""
    return bool(set(column.spec.get("hierarchy") or ()) - {"frequency"})
