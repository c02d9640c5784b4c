"""The hierarchy of one column of a project, to look at before it is used."""

from __future__ import annotations

from collections.abc import Mapping

from velado.errors import InputError, suggest
from velado.hierarchies import Hierarchy, HierarchyPreview, build_preview
from velado.progress import Progress
from velado.project import AnyProject, Project
from velado.schema import Column, Schema
from velado.schema.values import column_hierarchy, values_of
from velado.tables import Session, open_table
from velado.values import Text


def project_hierarchy(project: AnyProject, column: str, progress: Progress | None = None) -> Hierarchy:
    """The hierarchy of one column of a project, built from its data and checked."""
    project = Project.of(project)
    described, values = _read(project, column, progress)
    return column_hierarchy(described, values, project.folder)


def project_preview(project: AnyProject, column: str, progress: Progress | None = None) -> HierarchyPreview:
    """The hierarchy of one column of a project at a glance; values that it does not cover are told, not refused."""
    project = Project.of(project)
    c, values = _read(project, column, progress)
    return build_preview(c.name, c.hierarchy, values, format=c.format, missing=c.missing, folder=project.folder)


def _read(project: Project, column: str, progress: Progress | None) -> tuple[Column, Mapping[Text, int]]:
    """A column and its values with their numbers of records."""
    follow = (progress or Progress()).through(open=1, count=3)
    with open_table(project.source, session=Session(follow("open"))) as table:
        follow("count")
        schema = Schema(project.columns)
        if column not in schema:
            raise InputError("unknown-column", "the project has no such column", column=column, hint=suggest(column, schema))
        if schema[column].role == "identifier":
            raise InputError("identifier", "identifiers are not generalized and not shown", column=column)
        Schema([schema[column]]).fit_header(table.header, "insensitive", table.name)
        return schema[column], values_of([table.count([column])], column)
