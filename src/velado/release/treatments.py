"""Apply the operations of a project's columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.operations import Given, Treatment
from velado.project.document import Project
from velado.schema import Column, Schema
from velado.tables import Counts, Recoded, Selection, Table
from velado.values import Text


def check_ready(project: Project) -> None:
    """Keys and substitution tables are there; called before anything is read."""
    for column in project.columns:
        if column.operation is not None:
            column.operation.ready(_given(column, project.columns, project.folder))


def check_operations(project: Project, schema: Schema) -> None:
    """Operations go with roles: what a model judges must be what is published, and identifiers never leave."""
    for column in schema.values():
        operation = column.operation
        if not column.role and not project.light:
            raise InputError(
                "column-without-role", "the column has an operation but no role, and models need roles",
                column=column.name, hint="Choose one of: identifier, quasi-identifier, sensitive, insensitive.",
            )  # fmt: skip
        if project.light and column.hierarchy is not None:
            raise InputError(
                "light-project", "'anonymization: light' generalizes nothing, and the column has a hierarchy",
                column=column.name, hint="Leave out the hierarchy, or leave out 'anonymization: light'.",
            )  # fmt: skip
        if operation is None:
            continue
        if column.role == "identifier" and not operation.takes_identifiers:
            raise InputError(
                "bad-operation", f"{operation} leaves too much of an identifier", column=column.name,
                hint="Suppress, drop, pseudonymize, encrypt, substitute or mask it, or give the column another role.",
            )  # fmt: skip
        if operation.follows_rows and project.output.order == "keep":
            raise InputError(
                "fixed-seed", f"with a named seed and 'order: keep' anybody who guesses the seed takes the {operation} off",
                column=column.name, hint="Leave the 'seed' out, or let the rows be shuffled or sorted.",
            )  # fmt: skip
        if project.light:
            continue
        if column.role == "quasi-identifier":
            raise InputError(
                "bad-operation", f"quasi-identifiers are recoded by the method; {operation} cannot be applied as well",
                column=column.name, hint="Leave the operation out and describe a hierarchy.",
            )  # fmt: skip
        if column.role == "sensitive" and operation.per_record:
            raise InputError(
                "bad-operation", f"{operation} changes equal values differently: no model could be judged on the column",
                column=column.name, hint="Round or code the column, or call it insensitive.",
            )  # fmt: skip


def treatments(table: Table, schema: Schema, folder: Path) -> tuple[Treatment, ...]:
    """What becomes of every column with an operation; an error if an identifier would show an original value."""
    treated = []
    for column in schema.values():
        if column.operation is None:
            continue
        found = column.operation.treat(table, _given(column, schema.values(), folder))
        if (column.role == "identifier" or found.operation.hides) and found.survivors():
            raise InputError(
                "value-survives", f"{found.survivors():,} value(s) of the column would be published as they are",
                column=column.name, hint="No substitute may be a value of the column; or take another operation.",
            )  # fmt: skip
        treated.append(found)
    return tuple(treated)


def told(treated: Iterable[Treatment], recoded: Recoded | None = None) -> Recoded:
    """What an engine does to treated columns, beside what it does to others."""
    recoded = recoded or Recoded((), Selection())
    for treatment in treated:
        recoded = treatment.tell(recoded)
    return recoded


def as_released(table: Table, schema: Schema, folder: Path | None) -> Any:
    """The table as models judge it: sensitive columns show what their operations make of them."""
    labels = {}
    for column in schema.values():
        if column.role == "sensitive" and column.operation is not None:
            treated = column.operation.treat(table, _given(column, schema.values(), folder or Path()))
            values = table.count([column.name]).dictionaries[0]
            labels[column.name] = dict(zip(values, treated.becomes(values) or values, strict=True))
    return _Shown(table, labels) if labels else table


def described(treated: Iterable[Treatment], folder: Path) -> dict[str, Any]:
    """The operations for manifest and results, by column."""
    return {t.column: {t.operation.name: t.operation.described(folder)} for t in treated}


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


def _given(column: Column, columns: Iterable[Column], folder: Path) -> Given:
    attributes = {c.name: c.attribute for c in columns}
    return Given(column.name, column.attribute, column.role, column.format, folder, attributes)
