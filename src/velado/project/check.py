"""All that is wrong with a project: the loader's errors, the rules between its parts, and how it fits its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from velado.errors import Problems, VeladoError
from velado.hierarchies.build import missing_values
from velado.project.people import person_column
from velado.project.rules import check_described, check_ready
from velado.schema import Column, Schema
from velado.schema.values import column_hierarchy, values_of
from velado.tables import open_table
from velado.values import Text

if TYPE_CHECKING:
    from velado.project.document import Project


def problems_of(project: Project) -> list[VeladoError]:
    """Every problem of a project that could be loaded, those of the document first; tables are read, and nothing is written."""
    problems = Problems()
    tables = project.tables or {"": project}
    with problems.at():
        check_ready(tables)
    for name, described in tables.items():
        with problems.at(*(("tables", name) if name else ())):
            _check_table(described)
    for one in problems.found:
        if one.file is None and project.file is not None:
            one.file = str(project.file)
            one.args = (str(one),)
    return problems.found


def _check_table(project: Project) -> None:
    problems, fitting = Problems(), Problems()
    schema = Schema(project.columns)
    with problems.at("source"), open_table(project.source) as table:
        with fitting.at():
            schema = schema.fit_header(table.header, project.rest, table.name)
        for column in schema.values():
            if _is_counted(project, column) and column.name in table.header:
                # What cannot be read is a problem of the source, and told once.
                values = values_of([table.count([column.name])], column.name)
                with fitting.at():
                    _check_values(project, column, values)
        if not project.light:
            with fitting.at("person"):
                person_column(project, table)
    problems.found += fitting.found
    with problems.at():
        check_described(project, schema)
    problems.raise_if_any()


def _is_counted(project: Project, column: Column) -> bool:
    return not project.light and column.role in ("quasi-identifier", "sensitive")


def _check_values(project: Project, column: Column, values: dict[Text, int]) -> None:
    """The values of a column are of its type, and its hierarchy covers them."""
    if column.missing == "reject" and None in values:
        problems = Problems()
        problems.add(missing_values(column.name), "columns", column.name, "missing")
        problems.raise_if_any()
    if (column.role == "quasi-identifier" or column.hierarchy is not None) and column.operation is None:
        column_hierarchy(column, values, project.folder)
