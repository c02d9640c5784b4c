"""Second step: from a table and its schema to the frequency table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from velado.errors import InputError, NoSolution
from velado.frequency import FrequencyTable, Sensitive
from velado.hierarchies import Hierarchy
from velado.hierarchies.build import missing_values
from velado.hierarchies.calendar import DAY, parse_dates
from velado.models import PrivacyModel, smallest_class
from velado.models.base import OnSensitive
from velado.numbers import COMMA, POINT, Notation, column_notation, notation_of
from velado.operations import Treatment
from velado.progress import Progress
from velado.project import Project
from velado.project.people import person_column
from velado.project.rules import not_dividable, not_sensitive
from velado.release.fit import Fitted
from velado.release.people import with_shares
from velado.release.population import read_population
from velado.release.treatments import as_released, treatments
from velado.results import Discreet
from velado.schema import Column, Schema
from velado.schema.values import column_hierarchy, values_of
from velado.sentences import Sentence
from velado.tables import Counts, Table
from velado.twins import twins_of
from velado.values import Text


@dataclass(frozen=True, repr=False)
class Counted(Discreet):
    """A table that was counted, and what becomes of its columns under operations.

    ``person`` is the column whose values are the people, None if every row is one.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("person",)
    fitted: Fitted
    treatments: tuple[Treatment, ...]
    frequency: FrequencyTable
    person: str | None = None

    @property
    def project(self) -> Project:
        """What was asked for."""
        return self.fitted.project


def count(fitted: Fitted, progress: Progress) -> Counted:
    """Count the combinations of quasi-identifier values, with people shared out over their rows."""
    project, table, schema = fitted.project, fitted.table, fitted.schema
    treated = treatments(table, schema, project.folder)
    progress.at(0.2)
    frequency = count_table(table, schema, project.models, project.folder)
    progress.at(0.8)
    person = person_column(project, table)
    if person is not None and project.method.divides:
        raise not_dividable(Sentence("people who have several rows cannot be counted with it"))
    frequency = with_shares(table, frequency, person)
    check_size(frequency, project.models)
    return Counted(fitted, treated, frequency, person)


def count_table(
    table: Table, schema: Schema, models: Sequence[PrivacyModel] = (), folder: Path | None = None
) -> FrequencyTable:
    """One count per sensitive attribute (one alone without any); hierarchies built and checked.

    Sensitive columns are counted as they will be published, after their operations.
    """
    table = as_released(table, schema, folder)
    quasi = schema.names("quasi-identifier")
    groups = attributes_of(schema, models)
    counted = [table.count([*quasi, *columns]) for columns in groups] or [table.count(quasi)]
    if not counted[0].counts.sum():
        raise no_rows(table)
    hierarchies = [column_hierarchy(schema[name], values_of(counted, name), folder) for name in quasi]
    sensitive = [sensitive_of(schema, columns, c, folder) for columns, c in zip(groups, counted, strict=False)]
    frequency = FrequencyTable.build(hierarchies, counted, sensitive)
    named = dict.fromkeys(path for model in models for path in model.populations)
    records = [values_of(counted, name) for name in quasi] if named else []
    populations = {path: read_population(path, schema, hierarchies, records, folder) for path in named}
    return replace(frequency, populations=populations) if populations else frequency


def count_columns(
    table: Table, schema: Schema, folder: Path | None = None
) -> tuple[tuple[Hierarchy, ...], tuple[Sensitive, ...], tuple[np.ndarray, ...]]:
    """Hierarchies, sensitive columns with their distribution, and records of each leaf, from counts of single columns."""
    hierarchies, records = [], []
    for name in schema.names("quasi-identifier"):
        counts = table.count([name])
        if not counts.counts.sum():
            raise no_rows(table)
        h = column_hierarchy(schema[name], values_of([counts], name), folder)
        hierarchies.append(h)
        codes = counts.encoded(name, h.encode)
        records.append(np.bincount(codes, weights=counts.counts, minlength=len(h.leaves)).astype(np.int64))
    sensitive, first = [], 0
    for name in schema.names("sensitive"):
        counts = table.count([name])
        attribute = replace(sensitive_of(schema, (name,), counts, folder), first=first)
        own = np.bincount(attribute.encode(counts) - first, weights=counts.counts, minlength=attribute.width)
        sensitive.append(replace(attribute, expected=own / own.sum()))
        first += attribute.width
    return tuple(hierarchies), tuple(sensitive), tuple(records)


def no_rows(table: Table) -> InputError:
    """The error for a table without records."""
    return InputError("no-rows", "the table has a header but no rows", file=table.name)


def attributes_of(schema: Schema, models: Sequence[PrivacyModel]) -> list[tuple[str, ...]]:
    """Which columns are counted together: each sensitive one, and the strict readings that models ask for."""
    columns = schema.names("sensitive")
    groups: list[tuple[str, ...]] = [(c,) for c in columns]
    for model in models:
        column = model.sensitive_column
        if column is not None and column not in columns:
            raise not_sensitive(model.name, column)
        if isinstance(model, OnSensitive) and (others := model.others(columns)):
            groups.append((*others, model.column))
    return list(dict.fromkeys(groups))


def sensitive_of(schema: Schema, columns: tuple[str, ...], counts: Counts, folder: Path | None) -> Sensitive:
    """A sensitive column, with those that it is counted together with, as it occurs in a count."""
    *others, name = columns
    values = {c: values_of([counts], c) for c in columns}
    column = schema[name]
    if column.missing == "reject" and None in values[name]:
        raise missing_values(name)
    tree = None if column.hierarchy is None else column_hierarchy(column, values[name], folder)
    found = sensitive_column(column, list(values[name]), tree)
    return replace(found, others=tuple(others), other_labels=tuple(tuple(ordered(list(values[c]))) for c in others))


def sensitive_column(column: Column, values: Sequence[Text], tree: Hierarchy | None) -> Sensitive:
    """A sensitive column with these values: its spelling twins, and the order of what is left."""
    twins = twins_of(values, column.twins)
    label = twins.labels
    left = list(dict.fromkeys(label.get(v, v) for v in values))
    spelled = [v for v in values if v is not None and label.get(v, v) is not None]
    try:
        labels, disorder = _in_order(column, left, spelled, tree), None
    except InputError as error:
        labels, disorder = ordered(left), error
    return Sensitive(column.name, tuple(labels), tree, twins=twins, disorder=disorder)


def _in_order(column: Column, values: Sequence[Text], spelled: Sequence[str], tree: Hierarchy | None) -> list[Text]:
    """The order of ordered t-closeness: as it was declared, numbers by value, dates by day; missing last.

    Other texts have none: the alphabet says nothing of them. Numbers among other texts have no order, and neither have
    numbers that can be read in two ways; all that is ``spelled`` in the column decides how they are read.
    """
    present = [v for v in values if v is not None]
    if tree is not None and tree.scale is not None and tree.scale.kind == "order":
        place = tree.scale.numbers
        return _missing_last(sorted(present, key=lambda v: place[tree.code[v]]), values)
    if column.type == "date" or (present and all(map(DAY.fullmatch, present))):
        days = dict(zip(present, parse_dates(column.name, present, column.format), strict=True))
        return _missing_last(sorted(present, key=lambda v: (days[v], v)), values)
    numbers = notation_of(spelled) is not None or any(n.number(v) is not None for n in (POINT, COMMA) for v in spelled)
    if spelled and not numbers:
        raise InputError(
            "no-order", "the values have no order, which the ordered distance needs: the alphabet is none",
            column=column.name,
            hint="Declare it, for example 'hierarchy: {order: [low, medium, high]}', or 'type: date' of dates; or use "
            "'distance: equal' or 'distance: hierarchical'.",
        )  # fmt: skip
    try:
        notation = column_notation(column.name, spelled)
    except InputError as error:
        raise InputError(
            error.code,
            Sentence("the values have no order, which the ordered distance needs: {problem}", problem=error.message),
            column=column.name,
            values=error.values,
            hint=Sentence("{hint} Or use 'distance: equal'.", hint=error.hint),
        ) from None
    return _missing_last(_by_number(present, notation), values)


def _by_number(values: Sequence[str], notation: Notation) -> list[str]:
    return sorted(values, key=lambda v: (notation.number(v), v))


def _missing_last(present: Sequence[str], values: Sequence[Text]) -> list[Text]:
    return [*present, None] if None in values else list(present)


def ordered(values: Sequence[Text]) -> list[Text]:
    """Numbers by value, other texts alphabetically, missing last: an order to show values in."""
    present = [v for v in values if v is not None]
    notation = notation_of(present)
    return _missing_last(sorted(present) if notation is None else _by_number(present, notation), values)


def _size(frequency: FrequencyTable) -> int:
    """How many people there are, or records if every record is a person."""
    people = frequency.people
    if people is None:
        return frequency.records
    return int(-(-frequency.value_counts[frequency.values == people.first].sum() // people.unit))


def check_size(frequency: FrequencyTable, models: Sequence[PrivacyModel]) -> None:
    """Say at once what no recoding can reach."""
    needed, there = smallest_class(models), _size(frequency)
    if needed > there:
        raise NoSolution(
            "table-too-small",
            Sentence(
                "the models need classes of {needed} records, but the table has only {reached}"
                if frequency.people is None
                else "the models need classes of {needed} people, but the table has only {reached}",
                needed=needed,
                reached=there,
            ),
            hint=Sentence("Require at most {most}, or take a larger table.", most=there),
        )
    known = {s.column: s.width for s in frequency.sensitive}
    for model in models:
        column = model.sensitive_column
        wanted = getattr(model, "l", None)
        if column is None or wanted is None:
            continue
        present = known.get(column, 0)
        if column in known and wanted > present:
            raise NoSolution(
                "too-few-sensitive-values",
                Sentence(
                    "{model} wants {wanted:g} different values, but the column has only {reached}",
                    model=model.name,
                    wanted=wanted,
                    reached=present,
                ),
                column=column,
                hint=Sentence("Require at most {most}.", most=present),
            )
