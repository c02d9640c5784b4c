"""The hierarchy of one column of a project, to look at before it is used."""

from __future__ import annotations

from velado.errors import InputError, suggest
from velado.hierarchies import Hierarchy
from velado.progress import Progress
from velado.project import AnyProject, Project
from velado.schema import Schema
from velado.schema.values import column_hierarchy, values_of
from velado.tables import Session, open_table


def project_hierarchy(project: AnyProject, column: str, progress: Progress | None = None) -> Hierarchy:
    """The hierarchy of one column of a project, built from its data and checked."""
    project = Project.of(project)
    follow = (progress or Progress()).through(open=1, count=3)
    with open_table(project.source, project.folder, Session(follow("open"))) as table:
        follow("count")
        schema = Schema(project.columns)
        if column not in schema:
            raise InputError(
                "unknown-column", "the project has no such column", column=column, hint=suggest(column, schema)
            )
        if schema[column].role == "identifier":
            raise InputError("identifier", "identifiers are not generalized and not shown", column=column)
        Schema([schema[column]]).fitted(table.header, "insensitive", table.name)
        return column_hierarchy(schema[column], values_of([table.count([column])], column), project.folder)
