"""Tables of who looks, before and beside any project: their rows, what is known of them, how they are read."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from velado.service.sources import operations as sources
from velado.service.sources import uploads
from velado.service.sources.schemas import ChangedSource, NewSource, Options, SourceAnswer
from velado.studio.request import ASKED, PageRequest, PageRoute, Visiting, own_address
from velado.studio.views.table_view import DELIMITERS, ENCODINGS, SheetQuery, Wanted, format_of, options_of, sheet_of, sheet_query

router = APIRouter(route_class=PageRoute)
SHOWN = 50
Asking = Annotated[SheetQuery, Depends(sheet_query)]


@router.get("/tables")
def all_tables(visit: Visiting, after: str | None = None) -> Response:
    """The tables of who looks, the newest first, and uploads that were begun."""
    listed = sources.list_sources(visit.call, limit=SHOWN, after=after or None)
    begun = [one for one in uploads.list_uploads(visit.call, limit=100).items if one.state == "receiving"]
    return visit.render("tables.html", listed=listed, begun=begun)


@router.post("/tables/uploads/{id}/delete")
def delete_upload(visit: Visiting, id: str) -> Response:
    """Forget a file that was sent in part."""
    uploads.delete_upload(visit.call, id)
    return visit.go("/tables", visit.say("The upload is deleted."))


@router.api_route("/tables/{id}", methods=ASKED)
def table(visit: Visiting, id: str, asking: Asking) -> Response:
    """A table: its rows, its columns, how it is read, and what works on it."""
    source = sources.get_source(visit.call, id)
    sheet = sheet_of(visit, source, Wanted.of(asking, f"/tables/{id}"))
    return visit.render(
        "table.html", sheet=sheet, uses=sources.list_uses(visit.call, id), delimiters=DELIMITERS, encodings=ENCODINGS
    )


@router.get("/tables/{id}/uses")
def uses(visit: Visiting, id: str) -> Response:
    """What would lack a table that is deleted."""
    source = sources.get_source(visit.call, id)
    return visit.render("table_uses.html", source=source, uses=sources.list_uses(visit.call, id))


@router.post("/tables/{id}/read")
def read_otherwise(visit: Visiting, id: str) -> Response:
    """Read a table in another way; one of several tables of a database is a source of its own, in the place of this one."""
    source, back = sources.get_source(visit.call, id), own_address(visit.form.text("back", f"/tables/{id}"))
    if visit.form.text("table"):
        made = _of_table(visit, source, visit.form.text("table"))
        return visit.go(back.replace(id, made))
    options = options_of(visit.form, format_of(visit, source), source.options)
    changed = sources.change_source(visit.call, id, ChangedSource(options=options))
    said = "" if changed.state == "new" else visit.say("The table is read again.")
    return visit.go(back, said)


def _of_table(visit: PageRequest, source: SourceAnswer, table: str) -> str:
    """A source of a table of the same file; the one that named no table goes."""
    given: dict[str, Any] = {"name": f"{source.name}: {table}"[:200], "upload": source.upload, "table": table}
    body = NewSource.model_validate({**given, "options": Options.model_validate(source.options)})
    made = sources.create_source(visit.call, body)
    sources.delete_source(visit.call, source.id)
    return made.id


@router.post("/tables/{id}/rename")
def rename(visit: Visiting, id: str) -> Response:
    """Another name."""
    body = ChangedSource.model_validate({"name": visit.form.text("name")})
    sources.change_source(visit.call, id, body)
    return visit.go(f"/tables/{id}")


@router.post("/tables/{id}/delete")
def delete(visit: Visiting, id: str) -> Response:
    """Delete a table at once, with its file and every copy."""
    source = sources.get_source(visit.call, id)
    sources.delete_source(visit.call, id)
    back = own_address(visit.form.text("back", "/tables"))
    return visit.go(back, visit.say("{name} is deleted, with every copy.", name=source.name))
