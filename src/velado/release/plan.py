"""Fourth step: what an engine will do to the table, from what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from velado.errors import InputError
from velado.hierarchies import Cover
from velado.methods import Found
from velado.operations import Treatment
from velado.project import Project
from velado.project.saved import described_beside
from velado.recoding import Recoding
from velado.release.count import Counted, no_rows
from velado.release.fit import Fitted
from velado.release.treatments import treated_plan, treatments
from velado.results import Discreet
from velado.tables import ColumnType, Field, Plan, Sink, Table
from velado.values import Text


@dataclass(frozen=True, repr=False)
class Planned(Discreet):
    """A table about to be written. Without ``found`` only operations are applied, to ``rows`` records."""

    NAMES: ClassVar[tuple[str, ...]] = ("person",)
    fitted: Fitted
    treatments: tuple[Treatment, ...]
    plan: Plan
    rows: int
    found: Found | None = None
    recoding: Recoding | None = None
    person: str | None = None

    @property
    def project(self) -> Project:
        """What was asked for."""
        return self.fitted.project

    @property
    def table(self) -> Table:
        """The table as it is."""
        return self.fitted.table

    @property
    def sink(self) -> Sink:
        """Where it goes; a text table is written as the input is."""
        dialect = self.table.dialect
        return self.project.output.sink(None if dialect is None else dialect.delimiter)

    @property
    def saved_recoding(self) -> Recoding | None:
        """The recoding, if it is to be published."""
        file = self.project.output.recoding
        if self.recoding is None or file is None:
            return None
        return replace(self.recoding, project=described_beside(self.project, file))

    @property
    def header(self) -> list[str]:
        """The columns of the release."""
        return [name for name in self.table.header if name not in self.plan.dropped]

    @property
    def suppressed_records(self) -> int:
        """Records that are not released."""
        return 0 if self.found is None else self.found.suppressed_records

    @property
    def starred_records(self) -> int:
        """Suppressed records that stay as rows of ``*``."""
        return self.suppressed_records if self.plan.selection.star else 0

    def labels_of(self, column: str) -> dict[Text, Text] | None:
        """What the values of a column become; None where that depends on the record, or nothing is left."""
        for c in () if self.recoding is None else self.recoding.columns:
            if c.name == column:
                return None if c.level is None else {v: c.labels[x] for v, x in zip(c.values, c.codes, strict=True)}
        values = self.table.count([column]).dictionaries[0]
        treated = {t.column: t.becomes(values) for t in self.treatments if t.column == column}
        labels = treated.get(column, list(values))
        return None if labels is None else dict(zip(values, labels, strict=True))


def plan_models(counted: Counted, found: Found) -> Planned:
    """The recoding that was found, and the operations of columns that it leaves alone."""
    fitted, schema = counted.fitted, counted.fitted.schema
    done = treated_plan(counted.treatments)
    treated = {t.column for t in counted.treatments}
    passed = [c for c in (*schema.names("sensitive"), *schema.names("insensitive")) if c not in treated]
    found, typed = in_own_types(found, [fitted.table.field(c.column) for c in found.covers])
    others = (done.starred, done.dropped, tuple(passed))
    if found.levels is None:
        recoding = Recoding.local(found.classes, found.kept, found.covers, found.labels, others)
    else:
        recoding = Recoding.at_levels(found.classes, found.levels, found.kept, others)
    # Rows of * turn every column into text: only where there are such rows.
    star = fitted.project.output.suppressed == "asterisks" and found.suppressed_records > 0
    plan = recoding.plan("asterisks" if star else "drop", found.classes.frequency.sensitive, typed)
    plan = treated_plan(counted.treatments, replace(plan, starred=(), dropped=()))
    return Planned(fitted, counted.treatments, plan, counted.frequency.records, found, recoding, counted.person)


def in_own_types(found: Found, fields: Sequence[Field]) -> tuple[Found, tuple[str, ...]]:
    """What was found with labels as the columns' own types write them, and the columns for which that is possible.

    Values at level 0, and modes, means and medians, are values of the column's type; intervals and groups are not.
    """
    covers, typed = [], []
    for j, (cover, field) in enumerate(zip(found.covers, fields, strict=True)):
        if field.type is not ColumnType.TEXT and (found.levels is None or found.levels[j] == 0):
            cover = with_own_labels(cover, field)
            values = set(cover.hierarchy.leaves)
            shown = {cover.labels[int(x)] for x in found.labels[found.kept, j]}
            if all(x is None or x in values or field.canonical(x) == x for x in shown):
                typed.append(field.name)
        covers.append(cover)
    return replace(found, covers=tuple(covers)), tuple(typed)


def with_own_labels(cover: Cover, field: Field) -> Cover:
    """Labels that are values of the column's type, as that writes them; intervals and groups stay."""
    values = set(cover.hierarchy.leaves)
    labels = tuple(x if x is None or x in values else field.canonical(x) or x for x in cover.labels)
    return replace(cover, labels=labels)


def plan_operations(fitted: Fitted) -> Planned:
    """Only the operations of the columns, on every record."""
    project, table = fitted.project, fitted.table
    if project.output.recoding is not None or project.output.suppressed != "drop":
        raise InputError(
            "light-project",
            "'protection: operations' recodes and suppresses no records",
            hint="Leave out 'recoding' and 'suppressed' of the output.",
        )
    rows = table.rows()
    if not rows:
        raise no_rows(table)
    treated = treatments(table, fitted.schema, project.folder)
    planned = Planned(fitted, treated, treated_plan(treated), rows)
    if not planned.header:
        raise InputError("no-columns", "every column is dropped: nothing would be published")
    return planned
