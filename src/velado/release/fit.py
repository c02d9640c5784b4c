"""First step: the description fits the table, and can be carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from velado.progress import Progress
from velado.project import Project
from velado.project.rules import check_described
from velado.results import Discreet
from velado.schema import Column, Schema
from velado.tables import Table


@dataclass(frozen=True, repr=False)
class Fitted(Discreet):
    """A project and its open table."""

    project: Project
    table: Table
    schema: Schema


def fit(project: Project, table: Table, progress: Progress, columns: Sequence[Column] | None = None) -> Fitted:
    """Check the description against the table; ``columns`` take the place of the project's."""
    schema = Schema(columns or project.columns).fit_header(table.header, project.rest, table.name)
    for name, column in schema.items():
        # What is dropped or shows * need not be looked at.
        if column.operation is None or not column.operation.erases:
            table.field(name).check(table.name)
    progress.check()
    check_described(project, schema)
    return Fitted(project, table, schema)
