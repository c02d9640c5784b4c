"""A first description of every column: what it is, who could know it, which model protects it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from velado.numbers import parse_all
from velado.questions.inspect import ColumnInspection, Inspection
from velado.questions.suggest.result import SuggestedColumn, Suggestion, Without
from velado.questions.suggest.wishes import Wishes
from velado.recognition.names import KNOWN
from velado.recognition.public_knowledge import NEVER
from velado.recognition.survey_answers import ANSWER, VISIBLE, is_visible
from velado.recognition.units import ROWS, Unit
from velado.release.refusal import rounding_that_is_enough
from velado.schema import TYPES
from velado.sentences import Sentence, join_sentences
from velado.tables import Table

RARE = 0.1
"""Of a measurement so large a share of the records may have a value that fewer than k have."""
SMALL = 50
"""Among fewer records a k of 5 leaves nothing to see."""
ONE_SIDED = 0.9
"""Share of the records of one value above which classes with another one are hard to find."""
FEW = 12
"""Columns of so few values cost little as quasi-identifiers."""
ROLE = {"qi": "quasi-identifier", "sensitive": "sensitive", "never": "sensitive", "person": "identifier"}
SAID = Sentence("as you said")


def describe_columns(seen: Inspection, table: Table, wishes: Wishes, said: Mapping[str, str]) -> Suggestion:
    """The columns as they were inspected, unless the owner said something else.

    What others could know is left out at first: `quasi_identifiers` tries what it costs as a quasi-identifier.
    """
    unit = seen.unit
    if wishes.person is not None:
        unit = Unit("person", next((name for name, wish in said.items() if wish == "person"), ROWS))
    k = wishes.k or (5 if _people(seen, unit) >= SMALL else 2)
    columns = [_column(c, said.get(c.name, "")) for c in seen.columns]
    models: list[dict[str, Any]] = [{"k-anonymity": {"k": k}}]
    without: list[Without] = []
    for place, c in enumerate(seen.columns):
        if columns[place].spec["role"] != "sensitive" or not columns[place].kept:
            continue
        ((_, amount),) = table.amounts([c.name])
        present = {v: n for v, n in amount.items() if v is not None and v not in c.markers}
        columns[place] = _round_column(columns[place], c, present, k)
        # Nobody is asked for 80 answers: their number says by itself that classes differ in them.
        if not columns[place].kept or c.reason == ANSWER or len(present) < 2:
            continue
        model = {"distinct-diversity": {"l": 2, "column": c.name}}
        share = max(present.values()) / max(seen.rows, 1)
        if share > ONE_SIDED:
            without.append(
                Without(
                    model,
                    Sentence("one value has {share:.0%} of the records: classes with another one are hard to find", share=share),
                )
            )
        elif (empty := 1 - sum(present.values()) / max(seen.rows, 1)) > ONE_SIDED:
            without.append(Without(model, Sentence("{share:.0%} of its cells are empty", share=empty)))
        else:
            models.append(model)
    return Suggestion(tuple(columns), tuple(models), tuple(without), unit)


def _people(seen: Inspection, unit: Unit | None) -> int:
    """How many people there are: rows, or values of the column that says whose they are."""
    if unit is None:
        return seen.rows
    return next((c.distinct - len(c.markers) for c in seen.columns if c.name == unit.column), seen.rows)


def _column(c: ColumnInspection, wish: str) -> SuggestedColumn:
    private = c.role == "sensitive" and c.known == NEVER
    if wish == "drop":
        return SuggestedColumn(c.name, quasi_spec(c), SAID, kept=False, wanted=True)
    if wish == "keep":
        wish = "never" if private else "qi"
    if wish:
        role = ROLE[wish]
        spec = quasi_spec(c) if role == "quasi-identifier" else {"role": role}
        if wish == "never":
            spec["known"] = NEVER
        return SuggestedColumn(c.name, spec, join_sentences("; ", [SAID, c.reason]), wanted=True)
    if private:
        return SuggestedColumn(c.name, {"role": "sensitive", "known": NEVER}, c.reason)
    if c.role in ("identifier", "insensitive"):
        return SuggestedColumn(c.name, {"role": c.role}, c.reason)
    return SuggestedColumn(c.name, quasi_spec(c), c.reason, kept=c.role == "quasi-identifier")


def quasi_spec(c: ColumnInspection) -> dict[str, Any]:
    """A quasi-identifier as the project file writes it."""
    spec: dict[str, Any] = {"role": "quasi-identifier"}
    if c.type in TYPES and c.type != "text":
        spec["type"] = c.type
    if c.format:
        spec["format"] = c.format
    if c.hierarchy is not None:
        spec["hierarchy"] = c.hierarchy
    return spec


def could_be_known(seen: Inspection, suggestion: Suggestion, table: Table) -> list[SuggestedColumn]:
    """The columns that others could know, those first that others know best and that cost least."""
    found = []
    for c, column in zip(seen.columns, suggestion.columns, strict=True):
        # Columns into which nobody can look have no values at all.
        if column.kept or column.wanted or not c.distinct:
            continue
        if column.spec["role"] == "sensitive":
            # Left out, because it would tell people apart as it is.
            column = replace(column, spec=quasi_spec(c))
        visible = False
        if c.distinct <= FEW and c.topic not in KNOWN:
            ((_, amount),) = table.amounts([c.name])
            visible = is_visible(c.name, [v for v in amount if v is not None])
        if visible:
            column = replace(column, reason=VISIBLE)
        known = KNOWN.index(c.topic) if c.topic in KNOWN else len(KNOWN)
        tier = 0 if visible else 1 if c.topic in KNOWN else 2 if c.distinct <= FEW else 4 if c.topic == "weight" else 3
        found.append(((tier, known, c.distinct), column))
    return [column for _, column in sorted(found, key=lambda pair: pair[0])]


def _round_column(column: SuggestedColumn, c: ColumnInspection, amount: Mapping[str, int], k: int) -> SuggestedColumn:
    """A measurement rounded until it does not single people out; what cannot be rounded is left out."""
    records = np.array([*amount.values()], dtype=np.int64)
    limit = RARE * records.sum()
    if column.wanted or records[records < k].sum() <= limit:
        return column
    if c.type in ("integer", "number"):
        numbers = np.array(parse_all(c.name, list(amount)))
        step = rounding_that_is_enough(numbers, np.zeros(len(numbers), dtype=np.int64), records, k, limit)
        if step is not None:
            why = Sentence("rounded, because its own values single people out")
            spec = {**column.spec, "operation": {"round": step}}
            return replace(column, spec=spec, reason=join_sentences("; ", [column.reason, why]))
    why = Sentence("left out: its values single people out")
    return replace(column, kept=False, reason=join_sentences("; ", [column.reason, why]))
