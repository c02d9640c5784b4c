"""Resources of the hierarchies of a project's columns."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from velado.service.projects import hierarchies
from velado.service.projects.hierarchies import Hierarchies, Preview
from velado.service.web import downloads
from velado.service.web.call import Called

router = APIRouter(tags=["hierarchies"])
Table = Annotated[str | None, Query(max_length=200, description="Of a project of several tables")]
Values = Annotated[int, Query(ge=0, le=10_000, description="Values to show at all levels")]


@router.get("/projects/{id}/hierarchies")
def list_hierarchies(
    id: str,
    call: Called,
    table: Table = None,
    values: Annotated[int, Query(ge=0, le=20, description="Values of each column to show at all levels")] = 0,
) -> Hierarchies:
    """All hierarchies of a project as they are built from its table: levels, sizes of groups, coverage."""
    return Hierarchies(columns=hierarchies.list_hierarchies(call, id, table, values))


@router.get("/projects/{id}/hierarchies/{column}")
def get_hierarchy(
    id: str, column: str, call: Called, table: Table = None, values: Values = 0, offset: Annotated[int, Query(ge=0, le=2**31)] = 0
) -> dict[str, Any]:
    """The hierarchy of one column, with some of its values at all levels."""
    return hierarchies.read_hierarchy(call, id, column, table, values, offset)


@router.get(
    "/projects/{id}/hierarchies/{column}/file", response_class=Response, responses=downloads.answers(downloads.TYPES["csv"])
)
def read_hierarchy_file(
    id: str,
    column: str,
    call: Called,
    table: Table = None,
    delimiter: Annotated[str, Query(min_length=1, max_length=1, description="Between the levels")] = ";",
    guard: Annotated[
        bool, Query(description="An apostrophe before what a spreadsheet would take for a formula; false: a file to be used as one")
    ] = True,
) -> Response:
    """The hierarchy of one column as a file: value;level 1;…, as ``velado hierarchy`` writes it. For who may read records."""
    return downloads.send_text(hierarchies.write_file(call, id, column, table, delimiter, guard=guard), f"{column}.csv")


@router.post("/projects/{id}/hierarchies/{column}/preview")
def preview_hierarchy(id: str, column: str, body: Preview, call: Called) -> dict[str, Any]:
    """What a description would make of a column; nothing is saved. Only for who may read records.

    Cuts, widths and formats of one's own, tried again and again, would find every value.
    """
    return hierarchies.preview_hierarchy(call, id, column, body)
