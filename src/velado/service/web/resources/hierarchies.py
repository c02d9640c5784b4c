"""Hierarchies of a project's columns, built and previewed."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from velado.hierarchies.hierarchy import write_rows
from velado.service.belongings import roles_in
from velado.service.documents import check_document
from velado.service.jobs.parameters import MOST_VALUES
from velado.service.masking import masked
from velado.service.previews import check_preview
from velado.service.usable import Usable
from velado.service.web import downloads
from velado.service.web.asking import of_project
from velado.service.web.call import Call, Called
from velado.service.web.shapes import Body
from velado.service.web.spoken import spoken
from velado.service.web.waiting import wait_for

router = APIRouter(tags=["hierarchies"])
SECONDS = 60
"""How long a request waits for hierarchies."""
ColumnName = Annotated[str, Field(min_length=1, max_length=300)]
Table = Annotated[str | None, Query(max_length=200, description="Of a project of several tables")]


Values = Annotated[int, Query(ge=0, le=10_000, description="Values to show at all levels")]


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
    they are only for who may read records.
    """

    columns: dict[str, dict[str, Any]]


@router.get("/projects/{id}/hierarchies")
def list_hierarchies(
    id: str,
    call: Called,
    table: Table = None,
    values: Annotated[int, Query(ge=0, le=20, description="Values of each column to show at all levels")] = 0,
) -> Hierarchies:
    """All hierarchies of a project as they are built from its table: levels, sizes of groups, coverage."""
    return Hierarchies(columns=_built(call, id, {"table": table, "values": values}))


@router.get("/projects/{id}/hierarchies/{column}")
def get_hierarchy(
    id: str,
    column: str,
    call: Called,
    table: Table = None,
    values: Values = 0,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> dict[str, Any]:
    """The hierarchy of one column, with some of its values at all levels."""
    asked = {"column": column[:300], "table": table, "values": values, "offset": offset}
    return dict(_built(call, id, asked)[column[:300]])


@router.get(
    "/projects/{id}/hierarchies/{column}/file",
    response_class=Response,
    responses=downloads.answers(downloads.TYPES["csv"]),
)
def read_hierarchy_file(
    id: str,
    column: str,
    call: Called,
    table: Table = None,
    delimiter: Annotated[str, Query(min_length=1, max_length=1, description="Between the levels")] = ";",
) -> Response:
    """The hierarchy of one column as a file: value;level 1;…, as ``velado hierarchy`` writes it. For who may read records."""
    with call.reading() as db:
        call.caller.project(db, id, "records.read")
    rows: list[list[str]] = []
    found: dict[str, Any] = {"total": 1, "rows": True}
    while len(rows) < found["total"] and found["rows"]:
        asked = {"column": column[:300], "table": table, "values": MOST_VALUES, "offset": len(rows)}
        found = _built(call, id, asked)[column[:300]]
        rows.extend(found["rows"])
    text = io.StringIO()
    write_rows(rows, text, delimiter)
    return Response(text.getvalue(), media_type=downloads.TYPES["csv"], headers=downloads.headers(f"{column}.csv"))


@router.post("/projects/{id}/hierarchies/{column}/preview")
def preview_hierarchy(id: str, column: str, body: Preview, call: Called) -> dict[str, Any]:
    """What a description would make of a column; nothing is saved. Values are listed in it only by who may read records."""
    asked = {"column": column[:300], **body.model_dump()}
    return dict(_built(call, id, asked)[column[:300]])


def _built(call: Call, id: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a job built, by column; without values for who may not read records."""
    parameters = {key: value for key, value in asked.items() if value is not None}
    with call.writing() as db:
        project = call.caller.project(db, id, "profile.read")
        if "description" in asked:
            # What is previewed may name no more than what is saved.
            looked_at = {"columns": {asked["column"]: {"hierarchy": asked["description"]}}}
            check_document(looked_at)
            Usable(db, call.caller, project.document).check(looked_at)
        whole = "records.read" in call.caller.actions_in(db, id)
        if whole:
            call.audit(db, "hierarchy.read", id, values=bool(asked.get("values")))
        else:
            check_preview(project.document, asked)
            parameters.pop("values", None)
        job = of_project(db, call, "hierarchy", project, parameters, quick=True)
    found = wait_for(call, job.id, SECONDS, values=whole)
    if not whole:
        found = masked(found, "hierarchy", roles_in([project]))
    return {name: spoken(one, call.language) for name, one in found["columns"].items()}
