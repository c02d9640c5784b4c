"""Hierarchies of a project as they are built from its table: levels, coverage, and what is not covered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.errors import InputError, VeladoError, suggest
from velado.hierarchies import distribution_of, outline
from velado.hierarchies.build import build_unchecked
from velado.hierarchies.preview import preview
from velado.project import Project
from velado.results import encode
from velado.schema.columns import Column
from velado.schema.values import values_of
from velado.service.jobs import failure_messages
from velado.service.jobs import parameters as of
from velado.service.jobs.hide_paths import discreet
from velado.service.jobs.job_room import Room, enter_room
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import described_table, parse_parameters, remembered_as
from velado.service.projects.document import Document, DocumentColumn
from velado.tables import Session, open_table
from velado.values import Text

UNCOVERED = 500
"""Values without a place in their hierarchy that are listed, unless more values are asked for."""
DRAWN = 60
"""Groups of a level that are drawn one by one."""


def perform(work: Work) -> dict[str, Any]:
    """The hierarchies of all columns that have one, or of one column; a problem of one leaves the others as they are."""
    wanted = parse_parameters(work, of.Hierarchy)
    document = described_table(work, wanted.table)
    columns = _choose_columns(document, wanted)
    with enter_room(work) as room:
        found = {}
        for name, spec in columns.items():
            try:
                found[name] = _one(work, room, _single_column(document, name, spec), wanted)
            except VeladoError as error:
                if wanted.column is not None:
                    raise
                found[name] = {"problem": failure_messages.describe_error(discreet(error, room.folder))}
    return {"columns": found}


def _choose_columns(document: Document, wanted: of.Hierarchy) -> dict[str, dict[str, Any]]:
    columns = document.columns
    if wanted.column is None:
        return {n: c.spec for n, c in columns.items() if c.role == "quasi-identifier" or c.hierarchy is not None}
    if wanted.column not in columns and wanted.description is None:
        raise InputError(
            "unknown-column", "the project has no such column", column=wanted.column, hint=suggest(wanted.column, columns)
        )
    column = columns.get(wanted.column, DocumentColumn(wanted.column, "quasi-identifier", {}))
    if column.role == "identifier":
        raise InputError("identifier", "identifiers are not generalized and not shown", column=wanted.column)
    tried = {"hierarchy": wanted.description, "format": wanted.format}
    return {wanted.column: column.spec | {key: value for key, value in tried.items() if value is not None}}


def _single_column(document: Document, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A project of one column, so that what is not finished elsewhere does not matter."""
    kept = {key: spec[key] for key in ("type", "hierarchy", "format", "missing") if spec.get(key) is not None}
    return {
        "source": document.source or None,
        "columns": {name: {"role": "quasi-identifier", **kept}},
        "rest": "drop",
        "models": [{"k-anonymity": {"k": 2}}],
    }


def _one(work: Work, room: Room, document: Mapping[str, Any], wanted: of.Hierarchy) -> dict[str, Any]:
    project = room.project(document)
    (column,) = project.columns
    values = _values(work, project, column, document["source"])
    built = build_unchecked(
        column.name, column.hierarchy, values, format=column.format, missing=column.missing, folder=project.folder
    )
    lacking = [v for v in values if v not in built.code]
    listed = lacking[: max(UNCOVERED, wanted.values)]
    found = {
        **encode(preview(built, values)),
        "uncovered_values": listed,
        "uncovered_counts": [values[v] for v in listed],
        "outline": outline(built, DRAWN),
    }
    if wanted.values:
        rows = built.rows()
        shown = slice(wanted.offset, wanted.offset + wanted.values)
        found |= {"rows": rows[shown], "total": len(rows), "records": [values.get(v, 0) for v in built.leaves[shown]]}
    if wanted.column is not None:
        found["distribution"] = _distribution(work, column.name, values, document["source"])
    return found


def _distribution(work: Work, column: str, values: Mapping[Text, int], source: Any) -> dict[str, Any] | None:
    """How the numbers of a column are spread; remembered as its values are."""
    kept = work.memory.setdefault("distributions", {})
    key = remembered_as(work, source, column)
    if key not in kept:
        spread = distribution_of(values)
        kept[key] = None if spread is None else spread.as_dict()
    return kept[key]  # type: ignore[no-any-return]


def _values(work: Work, project: Project, column: Column, source: Any) -> Mapping[Text, int]:
    """The values of a column with their records; a warm process remembers them."""
    kept = work.memory.setdefault("values", {})
    key = remembered_as(work, source, column.name)
    if key not in kept:
        with open_table(project.source, project.folder, Session(work.progress)) as table:
            if column.name not in table.header:
                raise InputError(
                    "unknown-column", "the table has no such column", column=column.name, hint=suggest(column.name, table.header)
                )
            kept[key] = values_of([table.count([column.name])], column.name)
    return kept[key]  # type: ignore[no-any-return]
