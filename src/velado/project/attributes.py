"""Attributes that several tables share: described alike, treated alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from velado.errors import InputError, Problems, suggest
from velado.hierarchies import Hierarchy
from velado.schema import Column
from velado.sentences import Sentence

if TYPE_CHECKING:
    from velado.project.document import Project

ALIKE = ("role", "type", "format", "missing", "operation", "hierarchy", "variants")
"""What columns of one attribute must have in common."""


def shared_columns(tables: Mapping[str, Project]) -> dict[str, list[tuple[str, Column]]]:
    """Per attribute that occurs in several tables, its columns with their tables."""
    found: dict[str, list[tuple[str, Column]]] = {}
    for name, project in tables.items():
        for column in project.columns:
            found.setdefault(column.attribute, []).append((name, column))
    return {a: columns for a, columns in found.items() if len({table for table, _ in columns}) > 1}


def check_attributes(tables: Mapping[str, Project], joinable: Sequence[str]) -> None:
    """Columns of one attribute are described alike, and joinable attributes occur in several tables."""
    if not tables:
        raise InputError("missing-key", "the project has no 'tables'")
    problems, shared = Problems(), shared_columns(tables)
    for attribute, columns in shared.items():
        first_table, first = columns[0]
        for table, column in columns[1:]:
            recoded = first.role == "quasi-identifier" and tables[first_table].light != tables[table].light
            for part in ("protection",) * recoded + ALIKE:
                if recoded or not _same(getattr(first, part), getattr(column, part)):
                    message = Sentence(
                        "the tables '{first_table}' and '{table}' describe the attribute '{attribute}' differently: "
                        "its {part} must be the same",
                        first_table=first_table,
                        table=table,
                        attribute=attribute,
                        part=part,
                    )
                    hint = "Describe it once under 'attributes', or give one of the columns another 'attribute'."
                    error = InputError("attribute-differs", message, column=column.name, hint=hint)
                    problems.add(error, "tables", table, "columns", column.name)
                    break
    for number, attribute in enumerate(joinable):
        with problems.at("joinable", number):
            _check_joinable(attribute, shared)
    problems.raise_if_any()


def _check_joinable(attribute: str, shared: Mapping[str, list[tuple[str, Column]]]) -> None:
    if attribute not in shared:
        raise InputError(
            "not-joinable",
            Sentence("'{attribute}' is to be joinable, but it is not an attribute of several tables", attribute=attribute),
            hint=suggest(attribute, shared),
        )
    _, column = shared[attribute][0]
    operation = column.operation
    if operation is not None and (operation.erases or operation.per_record):
        raise InputError(
            "not-joinable",
            Sentence(
                "'{attribute}' is to be joinable, but the operation {operation} does not keep its values apart",
                attribute=attribute,
                operation=operation,
            ),
            column=column.name,
            hint="Pseudonymize or encrypt it.",
        )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Hierarchy) and isinstance(other, Hierarchy):
        return one.rows() == other.rows()
    return bool(one == other)
