"""The page 'Data' of a project: the rows of its table, how it is read, other tables, and what stands in the way of reading it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from velado.service.projects.document import Document
from velado.studio.forms.several_tables import fresh_name
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import ASKED, PageRoute, with_query
from velado.studio.views.table_view import DELIMITERS, ENCODINGS, SheetQuery, Wanted, marks_in, sheet_of, sheet_query

router = APIRouter(route_class=PageRoute)
Asking = Annotated[SheetQuery, Depends(sheet_query)]


@router.api_route("/projects/{id}/data", methods=ASKED)
def data(work: Working, asking: Asking) -> Response:
    """The table that is anonymized."""
    source = work.source
    wanted = Wanted.of(asking, f"/projects/{work.id}/data", work.table)
    sheet = None if source is None else sheet_of(work, source, wanted, tuple(_marks(work)))
    return work.show(
        "data.html",
        "data",
        source=source,
        sheet=sheet,
        delimiters=DELIMITERS,
        encodings=ENCODINGS,
        named=bool(work.part.source),
        marks=_marks(work),
    )


def _marks(work: ProjectPage) -> list[str]:
    """The texts that the project reads as missing values."""
    found = work.part.source.get("missing")
    return [str(one) for one in found] if isinstance(found, list) else [found] if isinstance(found, str) else []


@router.post("/projects/{id}/data/missing")
def missing(work: Working) -> Response:
    """Which texts stand for a missing value in this project."""
    marks = marks_in("\n".join(work.form.all("missing")))

    def change(part: Document) -> None:
        named = {key: value for key, value in part.source.items() if key != "missing"}
        part.put("source", named | ({"missing": marks} if marks else {}))

    return work.save(change, work.address("data"), work.say("The project reads missing values so from now on."))


@router.post("/projects/{id}/data/rename")
def rename(work: Working) -> Response:
    """Another name for one of several tables."""
    wanted = work.form.text("name")[:100] or str(work.table)
    name = wanted if wanted == work.table else fresh_name(wanted, work.tables)

    def change(document: Document) -> None:
        tables = document.tables.items()
        document.put("tables", {name if key == work.table else key: table.said for key, table in tables})

    back = with_query(f"/projects/{work.id}/data", table=name)
    return work.save(change, back, work.say("The table is called {name} now.", name=name), whole=True)


@router.post("/projects/{id}/data/remove")
def remove(work: Working) -> Response:
    """Take one of several tables out of the project; the table itself stays."""

    def change(document: Document) -> None:
        document.put("tables", {key: table.said for key, table in document.tables.items() if key != work.table})

    said = work.say("{name} is no part of the project any more.", name=work.table)
    return work.save(change, f"/projects/{work.id}/data", said, whole=True)
