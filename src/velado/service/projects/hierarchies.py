"""Hierarchies of a project's columns, built and previewed."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from velado.hierarchies.hierarchy import write_rows
from velado.service.access.allowed_references import Usable
from velado.service.jobs.kinds import KINDS
from velado.service.jobs.localize import translate_result
from velado.service.jobs.parameters import MOST_VALUES
from velado.service.jobs.submission import check_probing
from velado.service.projects.document_checks import check_document
from velado.service.projects.questions import ask_project
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.schemas import Body
from velado.tables.formats.formulas import guard_formulas

KIND = "hierarchy"
LONGEST_NAME = 300


class Preview(Body):
    """A description of a hierarchy, as in a project file; files by ``upload:ID``. ``format``: how the column's dates are read."""

    description: dict[str, Any]
    format: str | list[str] | None = None
    table: str | None = None
    values: Annotated[int, Field(ge=0, le=10_000)] = 0
    offset: Annotated[int, Field(ge=0, le=2**31)] = 0


class Hierarchies(BaseModel):
    """By column: levels with their groups, what is covered, or the problem of the column.

    ``rows`` are values at all levels, ``records`` those of each of them, ``outline`` the values in each group of a level,
    ``distribution`` that of numbers. They, ``unused`` and all about what is ``uncovered`` tell which values the table has:
    they are only for who may read records. Of sensitive columns others are told no more than that there is a problem.
    """

    columns: dict[str, dict[str, Any]]


def list_hierarchies(work: UnitOfWork, id: str, table: str | None = None, values: int = 0) -> dict[str, Any]:
    """All hierarchies of a project by column, as they are built from its table: levels, sizes of groups, coverage."""
    return _build(work, id, {"table": table, "values": values})


def read_hierarchy(
    work: UnitOfWork, id: str, column: str, table: str | None = None, values: int = 0, offset: int = 0
) -> dict[str, Any]:
    """The hierarchy of one column, with some of its values at all levels."""
    return _build_one(work, id, column, {"table": table, "values": values, "offset": offset})


def preview_hierarchy(work: UnitOfWork, id: str, column: str, preview: Preview) -> dict[str, Any]:
    """What a description would make of a column; nothing is saved. Only for who may read records."""
    return _build_one(work, id, column, preview.model_dump())


def write_file(
    work: UnitOfWork, id: str, column: str, table: str | None = None, delimiter: str = ";", *, guard: bool = True
) -> str:
    """The hierarchy of one column as the text of a file: value;level 1;…, for who may read records."""
    with work.reading() as db:
        work.caller.project(db, id, "records.read")
    work.audit_reading("hierarchy.read", id)
    rows: list[list[str]] = []
    found: dict[str, Any] = {"total": 1, "rows": True}
    while len(rows) < found["total"] and found["rows"]:
        found = read_hierarchy(work, id, column, table, MOST_VALUES, len(rows))
        rows.extend(found["rows"])
    text = io.StringIO()
    write_rows([[cell or "" for cell in guard_formulas(row, guard)] for row in rows], text, delimiter)
    return text.getvalue()


def _build_one(work: UnitOfWork, id: str, column: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    name = column[:LONGEST_NAME]
    return dict(_build(work, id, {"column": name, **asked})[name])


def _build(work: UnitOfWork, id: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a job built, by column; without values for who may not read records."""
    parameters = {key: value for key, value in asked.items() if value is not None}
    with work.reading() as db:
        project = work.caller.project(db, id, "profile.read")
        check_probing(db, work, KINDS[KIND], id, parameters)
        if "description" in asked:
            # What is previewed may name no more than what is saved.
            looked_at = {"columns": {asked["column"]: {"hierarchy": asked["description"]}}}
            check_document(looked_at)
            Usable(db, work.caller, project.document).check(looked_at)
        whole = "records.read" in work.caller.actions_in(db, id)
    if not whole:
        parameters.pop("values", None)
    _, found = ask_project(work, id, KIND, parameters)
    return {name: translate_result(one, work.language) for name, one in found["columns"].items()}
