"""The hierarchy of one column of a project, to look at before it is used."""

from __future__ import annotations

from pathlib import Path

from velado.errors import InputError, suggest
from velado.hierarchies import Hierarchy
from velado.project import Project
from velado.release.count import column_hierarchy, values_of
from velado.schema import Schema
from velado.tables import open_table


def project_hierarchy(project: Project | str | Path, column: str) -> Hierarchy:
    """The hierarchy of one column of a project, built from its data and checked."""
    if not isinstance(project, Project):
        project = Project.load(project)
    with open_table(project.source, project.folder) as table:
        schema = Schema(project.columns)
        if column not in schema:
            raise InputError(
                "unknown-column", "the project has no such column", column=column, hint=suggest(column, schema)
            )
        if schema[column].role == "identifier":
            raise InputError("identifier", "identifiers are not generalized and not shown", column=column)
        Schema([schema[column]]).fitted(table.header, "insensitive", table.source.name)
        return column_hierarchy(schema[column], values_of([table.count([column])], column), project.folder)
