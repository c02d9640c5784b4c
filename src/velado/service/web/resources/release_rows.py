"""The rows and the classes of a release, page by page, from the copies that its run left beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel
from sqlalchemy.orm import Session as Db

from velado.service import releases
from velado.service.blurring import FEWER, SMALL
from velado.service.releases import release_of
from velado.service.slices import Below, read_slice, read_sorted
from velado.service.store.tables import Release
from velado.service.web.call import Call, Called
from velado.service.web.shapes import Limit

router = APIRouter(tags=["releases"])
Offset = Annotated[int, Query(ge=0, lt=2**53, description="The number of the first")]
OneTable = Annotated[str | None, Query(max_length=300, description="Which table, of a release of several")]


class Page(BaseModel):
    """Some rows of a table: ``total`` is how many there are."""

    columns: list[str]
    rows: list[list[Any]]
    offset: int
    total: int
    masked: bool = False


@router.get("/releases/{id}/classes")
def list_classes(
    call: Called,
    id: str,
    offset: Offset = 0,
    limit: Limit = 100,
    table: OneTable = None,
    sort: Annotated[str | None, Query(max_length=400, description="One of `columns`")] = None,
    descending: bool = False,
) -> Page:
    """The equivalence classes of a release with size, risk and figures of sensitive columns, the riskiest first."""
    with call.reading() as db:
        release = release_of(db, call.caller, id, "release.download")
        allowed = call.caller.actions_in(db, release.project_id)
        if "results.read" not in allowed:
            releases.check_given_out(release, call.settings(db))
        path = releases.file_of(db, call.service.files, release, "classes", table)
    whole = "records.read" in allowed
    found = _page(path, offset, limit) if sort is None else _sorted(path, offset, limit, sort, descending, not whole)
    return found if whole else _masked(found)


@router.get("/releases/{id}/rows")
def list_rows(call: Called, id: str, offset: Offset = 0, limit: Limit = 100, table: OneTable = None) -> Page:
    """The released rows, page by page."""
    with call.reading() as db:
        path = releases.file_of(db, call.service.files, _seen(db, call, id), "rows", table)
    # While a page is read nobody waits to write; it is given out if it still may be.
    found = _page(path, offset, limit)
    with call.writing() as db:
        call.audit(db, "release.rows", _seen(db, call, id).id, rows=len(found.rows))
    return found


def _seen(db: Db, call: Call, id: str) -> Release:
    """Who may read the records may look at a release before it is approved; a withdrawn one is nobody's."""
    release = release_of(db, call.caller, id, "release.download")
    before = release.state == releases.MADE and "records.read" in call.caller.actions_in(db, release.project_id)
    if not before:
        releases.check_given_out(release, call.settings(db))
    return release


def _page(path: Path, offset: int, limit: int) -> Page:
    found = read_slice(path, offset, limit)
    return Page(columns=found.columns, rows=found.rows, offset=offset, total=found.total)


def _sorted(path: Path, offset: int, limit: int, sort: str, descending: bool, small_first: bool) -> Page:
    """A page of all classes in another order; missing figures come last. Where small classes are masked, they come first:
    their place among the others would tell of them."""
    first = Below(_counts, SMALL) if small_first else None
    found = read_sorted(path, offset, limit, sort, descending, first)
    return Page(columns=found.columns, rows=found.rows, offset=offset, total=found.total)


def _counts(columns: Sequence[str]) -> list[int]:
    """Which columns count records or people: a quasi-identifier may have the name of a figure; it stands before it."""
    last = {name.partition(" #")[0]: j for j, name in enumerate(columns)}
    return [last[name] for name in ("records", "people") if name in last]


def _masked(page: Page) -> Page:
    """Of classes of one or two people nothing is told but that they are there."""
    counts = _counts(page.columns)
    rows = [
        [FEWER if j in counts else None for j in range(len(row))] if any(row[j] < SMALL for j in counts) else row
        for row in page.rows
    ]
    return page.model_copy(update={"rows": rows, "masked": True})
