"""Hierarchies of a project's columns, built and previewed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from velado.service.belongings import roles_in
from velado.service.documents import check_document
from velado.service.masking import masked
from velado.service.previews import check_preview
from velado.service.usable import Usable
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


class Preview(Body):
    """A description of a hierarchy, as in a project file; files by ``upload:ID``."""

    description: dict[str, Any]
    table: str | None = None
    values: Annotated[int, Field(ge=0, le=2000)] = 0


class Hierarchies(BaseModel):
    """By column: levels with their groups, what is covered, or the problem of the column.

    ``uncovered_values`` and ``rows`` are values of the table, ``unused`` and ``uncovered`` tell whether a value is in it:
    only for who may read records.
    """

    columns: dict[str, dict[str, Any]]


@router.get("/projects/{id}/hierarchies")
def list_hierarchies(id: str, call: Called, table: Table = None) -> Hierarchies:
    """All hierarchies of a project as they are built from its table: levels, sizes of groups, coverage."""
    return Hierarchies(columns=_built(call, id, {"table": table}))


@router.get("/projects/{id}/hierarchies/{column}")
def get_hierarchy(
    id: str,
    column: str,
    call: Called,
    table: Table = None,
    values: Annotated[int, Query(ge=0, le=2000, description="Values to show at all levels")] = 0,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> dict[str, Any]:
    """The hierarchy of one column, with some of its values at all levels."""
    asked = {"column": column[:300], "table": table, "values": values, "offset": offset}
    return dict(_built(call, id, asked)[column[:300]])


@router.post("/projects/{id}/hierarchies/{column}/preview")
def preview_hierarchy(id: str, column: str, body: Preview, call: Called) -> dict[str, Any]:
    """What a description would make of a column; nothing is saved. Values are listed in it only by who may read records."""
    asked = {"column": column[:300], "table": body.table, "values": body.values, "description": body.description}
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
