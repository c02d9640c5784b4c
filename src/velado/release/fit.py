"""First step: the description fits the table, and can be carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from velado.errors import InputError
from velado.progress import Progress
from velado.project import Project
from velado.project.paths import check_paths
from velado.release.treatments import operations_ready
from velado.schema import Column, Schema
from velado.sentences import Sentence
from velado.tables import Table


@dataclass(frozen=True)
class Fitted:
    """A project and its open table."""

    project: Project
    table: Table
    schema: Schema


def fit(project: Project, table: Table, progress: Progress, columns: Sequence[Column] | None = None) -> Fitted:
    """Check the description against the table; ``columns`` take the place of the project's."""
    schema = Schema(columns or project.columns).fitted(table.header, project.rest, table.name)
    progress.check()
    if project.light:
        check_operations(project, schema)
    else:
        check_described(project, schema)
    return Fitted(project, table, schema)


def check_ready(projects: Mapping[str, Project]) -> None:
    """Called before anything is read: paths do not clash, keys and substitution tables are there."""
    check_paths(projects)
    for project in projects.values():
        operations_ready(project)


def check_described(project: Project, schema: Schema) -> None:
    """There is something to protect, and a model that says how."""
    project.check_modelled()
    if not project.models:
        raise InputError(
            "no-models", "no privacy model is given: nothing would be protected", hint="For example k-anonymity."
        )
    if not schema.names("quasi-identifier"):
        raise InputError(
            "no-quasi-identifier", "no column has the role quasi-identifier: there is nothing to protect",
            hint="Give that role to the columns that can be linked with outside knowledge.",
        )  # fmt: skip
    check_operations(project, schema)
    if project.method.divides:
        _check_dividable(project, schema)


def _check_dividable(project: Project, schema: Schema) -> None:
    """Records that are alike are dealt out by their one sensitive value, as it is in the source."""
    sensitive = schema.names("sensitive")
    problem = Sentence("")
    if len(sensitive) > 1:
        problem = Sentence(
            "it works with one sensitive column at most: counts do not say which values belong to one person"
        )
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
                "bad-operation",
                Sentence("{operation} leaves too much of an identifier", operation=str(operation)),
                column=column.name,
                hint="Suppress, drop, pseudonymize, encrypt, substitute or mask it, or give the column another role.",
            )
        if operation.follows_rows and project.output.order == "keep":
            raise InputError(
                "fixed-seed",
                Sentence(
                    "with a named seed and 'order: keep' anybody who guesses the seed takes the {operation} off",
                    operation=str(operation),
                ),
                column=column.name,
                hint="Leave the 'seed' out, or let the rows be shuffled or sorted.",
            )
        if project.light:
            continue
        if column.role == "quasi-identifier":
            raise InputError(
                "bad-operation",
                Sentence(
                    "quasi-identifiers are recoded by the method; {operation} cannot be applied as well",
                    operation=str(operation),
                ),
                column=column.name,
                hint="Leave the operation out and describe a hierarchy.",
            )
        if column.role == "sensitive" and operation.per_record:
            raise InputError(
                "bad-operation",
                Sentence(
                    "{operation} changes equal values differently: no model could be judged on the column",
                    operation=str(operation),
                ),
                column=column.name,
                hint="Round or code the column, or call it insensitive.",
            )
