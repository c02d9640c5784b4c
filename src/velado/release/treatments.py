"""Apply the operations of a project's columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.operations import Treatment
from velado.project.rules import given_of
from velado.schema import Schema
from velado.sentences import Sentence
from velado.tables import Counts, Plan, Selection, Table
from velado.values import Text


def treatments(table: Table, schema: Schema, folder: Path) -> tuple[Treatment, ...]:
    """What becomes of every column with an operation; an error if an identifier would show an original value."""
    treated = []
    for column in schema.values():
        if column.operation is None:
            continue
        found = column.operation.treat(table, given_of(column, schema.values(), folder))
        if (column.role == "identifier" or found.operation.hides) and found.survivors():
            raise InputError(
                "value-survives",
                Sentence("{values:,} value(s) of the column would be published as they are", values=found.survivors()),
                column=column.name,
                hint="No substitute may be a value of the column; or take another operation.",
            )
        treated.append(found)
    return tuple(treated)


def treated_plan(treated: Iterable[Treatment], plan: Plan | None = None) -> Plan:
    """What an engine does to treated columns, beside what it does to others."""
    plan = plan or Plan((), Selection())
    for treatment in treated:
        plan = treatment.add_to_plan(plan)
    return plan


def as_released(table: Table, schema: Schema, folder: Path | None) -> Any:
    """The table as models judge it: sensitive columns show what their operations make of them."""
    labels = {}
    for column in schema.values():
        if column.role == "sensitive" and column.operation is not None:
            treated = column.operation.treat(table, given_of(column, schema.values(), folder or Path()))
            values = table.count([column.name]).dictionaries[0]
            labels[column.name] = dict(zip(values, treated.becomes(values) or values, strict=True))
    return _Shown(table, labels) if labels else table


def describe_operations(treated: Iterable[Treatment], folder: Path) -> dict[str, Any]:
    """The operations for manifest and results, by column."""
    return {t.column: {t.operation.name: t.operation.describe(folder)} for t in treated}


class _Shown:
    """A table whose counts show what values become. Only for counting."""

    def __init__(self, table: Table, labels: Mapping[str, Mapping[Text, Text]]) -> None:
        self._table, self._labels = table, labels

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def count(self, columns: Sequence[str]) -> Counts:
        """Combinations of what the values become; some may occur several times."""
        counts = self._table.count(columns)
        dictionaries = tuple(
            tuple(self._labels[name][v] for v in dictionary) if name in self._labels else dictionary
            for name, dictionary in zip(counts.names, counts.dictionaries, strict=True)
        )
        return replace(counts, dictionaries=dictionaries)
