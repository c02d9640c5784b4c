"""Second step: from a table and its schema to the frequency table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from velado.errors import InputError, NoSolution
from velado.frequency import FrequencyTable, Sensitive
from velado.frequency.sensitive import sensitive_of
from velado.hierarchies import Hierarchy
from velado.models import PrivacyModel, smallest_class
from velado.models.base import OnSensitive
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
from velado.schema import Schema
from velado.schema.values import column_hierarchy, values_of
from velado.sentences import Sentence
from velado.tables import Table


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


def count_table(table: Table, schema: Schema, models: Sequence[PrivacyModel] = (), folder: Path | None = None) -> FrequencyTable:
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
        codes = counts.encode_column(name, h.encode)
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


def check_size(frequency: FrequencyTable, models: Sequence[PrivacyModel]) -> None:
    """Say at once what no recoding can reach."""
    needed, there = smallest_class(models), frequency.size
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
