"""The page 'Data' of a project: the rows of its table, how it is read, other tables, and what stands in the way of reading it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from velado.studio.several import fresh_name
from velado.studio.sheets import DELIMITERS, ENCODINGS, Asked, Wanted, asked, marks_in, sheet_of
from velado.studio.visit import PageRoute, with_query
from velado.studio.work import Work, Working

router = APIRouter(route_class=PageRoute)
Asking = Annotated[Asked, Depends(asked)]


@router.get("/projects/{id}/data")
def data(work: Working, asking: Asking) -> Response:
    """The table that is anonymized."""
    source = work.source
    wanted = Wanted.of(asking, f"/projects/{work.id}/data", work.table)
    sheet = None if source is None else sheet_of(work, source, wanted, tuple(_marks(work)))
    return work.show(
        "data.html", "data", source=source, sheet=sheet, delimiters=DELIMITERS, encodings=ENCODINGS,
        named=isinstance(work.part.get("source"), Mapping), marks=_marks(work),
    )  # fmt: skip


def _marks(work: Work) -> list[str]:
    """The texts that the project reads as missing values."""
    named = work.part.get("source")
    found = named.get("missing") if isinstance(named, Mapping) else None
    return [str(one) for one in found] if isinstance(found, list) else [found] if isinstance(found, str) else []


@router.post("/projects/{id}/data/missing")
def missing(work: Working) -> Response:
    """Which texts stand for a missing value in this project."""
    marks = marks_in("\n".join(work.form.all("missing")))

    def change(part: dict[str, Any]) -> None:
        named = {key: value for key, value in part.get("source", {}).items() if key != "missing"}
        part["source"] = named | ({"missing": marks} if marks else {})

    return work.save(change, work.address("data"), work.say("The project reads missing values so from now on."))


@router.post("/projects/{id}/data/rename")
def rename(work: Working) -> Response:
    """Another name for one of several tables."""
    wanted = work.form.text("name")[:100] or str(work.table)
    name = wanted if wanted == work.table else fresh_name(wanted, work.tables)

    def change(document: dict[str, Any]) -> None:
        tables = document["tables"]
        document["tables"] = {name if key == work.table else key: value for key, value in tables.items()}

    back = with_query(f"/projects/{work.id}/data", table=name)
    return work.save(change, back, work.say("The table is called {name} now.", name=name), whole=True)


@router.post("/projects/{id}/data/remove")
def remove(work: Working) -> Response:
    """Take one of several tables out of the project; the table itself stays."""

    def change(document: dict[str, Any]) -> None:
        document["tables"].pop(work.table)

    said = work.say("{name} is no part of the project any more.", name=work.table)
    return work.save(change, f"/projects/{work.id}/data", said, whole=True)
