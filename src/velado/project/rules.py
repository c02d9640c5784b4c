"""What the parts of a project say about each other: roles, operations, models, method, files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from velado.errors import InputError, Problems
from velado.methods.monotone import require_monotone
from velado.operations import Given
from velado.project.paths import check_paths
from velado.schema import Column, Schema
from velado.sentences import Sentence

if TYPE_CHECKING:
    from velado.project.document import Project


def check_ready(projects: Mapping[str, Project]) -> None:
    """Called before anything is read: paths do not clash, keys and substitution tables are there."""
    problems = Problems()
    with problems.at():
        check_paths(projects)
    for name, project in projects.items():
        for column in project.columns:
            if column.operation is not None:
                with problems.at(*(("tables", name) if name else ()), "columns", column.name, "operation"):
                    column.operation.ready(given_of(column, project.columns, project.folder))
    problems.raise_if_any()


def given_of(column: Column, columns: Iterable[Column], folder: Path) -> Given:
    """A column as its operation sees it."""
    attributes = {c.name: c.attribute for c in columns}
    return Given(column.name, column.attribute, column.role, column.format, folder, attributes)


def check_described(project: Project, schema: Schema) -> None:
    """There is something to protect, a model that says how, and operations that go with the roles."""
    problems = Problems()
    if not project.light:
        with problems.at("models"):
            project.check_modelled()
        if not project.models:
            problems.add(
                InputError("no-models", "no privacy model is given: nothing would be protected", hint="For example k-anonymity."),
                "models",
            )
        if not schema.names("quasi-identifier"):
            problems.add(
                InputError(
                    "no-quasi-identifier",
                    "no column has the role quasi-identifier: there is nothing to protect",
                    hint="Give that role to the columns that can be linked with outside knowledge.",
                ),
                "columns",
            )
        _check_models(project, schema, problems)
    for column in schema.values():
        with problems.at("columns", column.name):
            _check_operation(project, column)
    if not project.light and project.method.divides:
        with problems.at("method"):
            _check_dividable(project, schema)
    if not project.light and project.method.monotone_only:
        with problems.at("method"):
            require_monotone(project.method.name, project.models, getattr(project.method, "suppression", 0))
    problems.raise_if_any()


def _check_models(project: Project, schema: Schema, problems: Problems) -> None:
    """Models protect sensitive columns."""
    for number, model in enumerate(project.models):
        column = model.sensitive_column
        if column is not None and column not in schema.names("sensitive"):
            problems.add(not_sensitive(model.name, column), "models", number, model.name, "column")
        elif column is not None:
            with problems.at("models", number, model.name):
                model.check_column(tree=schema[column].hierarchy is not None)


def not_sensitive(model: str, column: str) -> InputError:
    """The error for a model of a column that is not sensitive."""
    return InputError(
        "not-sensitive",
        Sentence("{model} protects this column, but its role is not sensitive", model=model),
        column=column,
        hint="Give the column the role 'sensitive', or name another column in the model.",
    )


def _check_dividable(project: Project, schema: Schema) -> None:
    """Records that are alike are dealt out by their one sensitive value, as it is in the source."""
    sensitive = schema.names("sensitive")
    problem = Sentence("")
    if len(sensitive) > 1:
        problem = Sentence("it works with one sensitive column at most: counts do not say which values belong to one person")
    elif any(schema[name].operation for name in sensitive):
        problem = Sentence("an operation on the sensitive column cannot be combined with it")
    elif project.output.recoding is not None:
        problem = Sentence("its recoding parts records that are alike, so it cannot be saved for others")
    if problem:
        raise not_dividable(problem)


def not_dividable(problem: str) -> InputError:
    """The error for what cannot be done where records with equal values may be parted."""
    return InputError(
        "not-dividable",
        Sentence("the method may part records with equal values ('relaxed: true'), and {problem}", problem=problem),
        hint="Set 'relaxed: false', or leave that out.",
    )


def _check_operation(project: Project, column: Column) -> None:
    """Operations go with roles: what a model judges must be what is published, and identifiers never leave."""
    problems, operation = Problems(column.name), column.operation
    if not column.role and not project.light:
        problems.add(
            InputError(
                "column-without-role",
                "the column has an operation but no role, and models need roles",
                hint="Choose one of: identifier, quasi-identifier, sensitive, insensitive.",
            )
        )
    if project.light and column.hierarchy is not None:
        problems.add(
            InputError(
                "light-project",
                "'protection: operations' generalizes nothing, and the column has a hierarchy",
                hint="Leave out the hierarchy, or leave out 'protection: operations'.",
            ),
            "hierarchy",
        )
    if operation is not None:
        with problems.at("operation"):
            _check_allowed(project, column)
    problems.raise_if_any()


def _check_allowed(project: Project, column: Column) -> None:
    """The operation of a column may be applied to it."""
    operation = column.operation
    if column.role == "identifier" and not operation.takes_identifiers:
        raise InputError(
            "bad-operation",
            Sentence("{operation} leaves too much of an identifier", operation=str(operation)),
            hint="Suppress, drop, pseudonymize, encrypt, substitute or mask it, or give the column another role.",
        )
    if operation.follows_rows and project.output.order == "keep":
        raise InputError(
            "fixed-seed",
            Sentence(
                "with a named seed and 'order: keep' anybody who guesses the seed takes the {operation} off",
                operation=str(operation),
            ),
            hint="Leave the 'seed' out, or let the rows be shuffled or sorted.",
        )
    if project.light:
        return
    if column.role == "quasi-identifier":
        raise InputError(
            "bad-operation",
            Sentence(
                "quasi-identifiers are recoded by the method; {operation} cannot be applied as well", operation=str(operation)
            ),
            hint="Leave the operation out and describe a hierarchy.",
        )
    if column.role == "sensitive" and operation.per_record:
        raise InputError(
            "bad-operation",
            Sentence(
                "{operation} changes equal values differently: no model could be judged on the column", operation=str(operation)
            ),
            hint="Round or code the column, or call it insensitive.",
        )
