"""Tables to work on, their rows and columns."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from velado.service.sources import operations
from velado.service.sources.schemas import ChangedSource, NewSource, RowsAnswer, SourceAnswer, UseAnswer
from velado.service.web.call import Called
from velado.service.web.schemas import After, Limit, Listed
from velado.tables.pages import MOST

router = APIRouter(tags=["sources"])


@router.get("/sources")
def list_sources(call: Called, limit: Limit = 100, after: After = None) -> Listed[SourceAnswer]:
    """Your sources, newest first."""
    return operations.list_sources(call, limit, after)


@router.post("/sources", status_code=201)
def create_source(body: NewSource, call: Called, response: Response) -> SourceAnswer:
    """Make a source. A job finds out what it holds: wait for it."""
    source = operations.create_source(call, body)
    response.headers["Location"] = f"/api/v1/sources/{source.id}"
    return source


@router.get("/sources/{id}")
def get_source(id: str, call: Called) -> SourceAnswer:
    """A source: its state, rows and columns."""
    return operations.get_source(call, id)


@router.get("/sources/{id}/profile")
def get_profile(id: str, call: Called) -> dict[str, Any]:
    """What was found in its columns: types, different and missing values, records that are singled out, suggested roles.

    Who may not read records sees no examples, and no counts below 3.
    """
    return operations.get_profile(call, id)


@router.get("/sources/{id}/suggestion")
def get_suggestion(id: str, call: Called) -> dict[str, Any]:
    """The columns, models and methods that suggest themselves, and the document of a project that runs."""
    return operations.get_suggestion(call, id)


@router.get("/sources/{id}/rows")
def get_rows(
    id: str,
    call: Called,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
    sort: Annotated[str | None, Query(max_length=300, description="A column")] = None,
    descending: bool = False,
    where: Annotated[
        list[Annotated[str, Field(max_length=2000)]], Query(max_length=50, description="column=value; empty: missing")
    ] = [],  # noqa: B006
) -> RowsAnswer:
    """Rows of the table: a page, sorted, filtered. Each reading is written down in the audit log."""
    return operations.read_rows(call, id, offset=offset, limit=limit, sort=sort, descending=descending, where=where)


@router.get("/sources/{id}/projects")
def list_uses(id: str, call: Called) -> Listed[UseAnswer]:
    """The projects of who asks that work on a source, and would lack it."""
    return Listed(items=operations.list_uses(call, id))


@router.put("/sources/{id}")
def change_source(id: str, body: ChangedSource, call: Called) -> SourceAnswer:
    """Rename a source, or read it otherwise: then it is inspected again."""
    return operations.change_source(call, id, body)


@router.delete("/sources/{id}", status_code=204)
def delete_source(id: str, call: Called) -> None:
    """Delete a source at once, with its upload and every copy. Projects that name it have a problem from then on."""
    operations.delete_source(call, id)
