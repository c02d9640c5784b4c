"""Databases: connections, whether they answer, and what they hold."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from velado.errors import VeladoError
from velado.service.connections import operations as connections
from velado.service.connections.operations import ChangedConnection, NewConnection, TableOf
from velado.service.errors import Conflict, Forbidden
from velado.service.web import problems
from velado.service.web.problems import ProblemPart
from velado.studio.pages.new import Purpose
from velado.studio.request import ASKED, PageRequest, PageRoute, Visiting, own_address
from velado.tables.address import TableName

router = APIRouter(route_class=PageRoute)
LISTED = 200
"""Tables that are shown; a search finds the others."""
EXAMPLES = ("postgresql://ana@db.example/clinic", "mariadb://ana@db.example/clinic")
Search = Annotated[str, Query(max_length=200)]


@router.get("/connections")
def all_connections(visit: Visiting) -> Response:
    """The connections of who looks, and a new one."""
    return _render_list(visit)


def _render_list(visit: PageRequest, problem: ProblemPart | None = None) -> Response:
    if not visit.may("connections.create"):
        raise Forbidden("connections.create")
    listed = connections.list_connections(visit.call, limit=LISTED).items
    return visit.render(
        "connections.html", 422 if problem else 200, listed=listed, form=visit.form, problem=problem, examples=EXAMPLES
    )


@router.post("/connections")
def create(visit: Visiting) -> Response:
    """Keep a connection; its page says at once whether it answers."""
    form = visit.form
    given = {"name": form.text("name"), "address": form.text("address"), "password": _password(visit) or None}
    try:
        made = connections.create_connection(visit.call, NewConnection.model_validate(given))
    except VeladoError as error:
        return _render_list(visit, _part(visit, error))
    back = own_address(form.text("back"))
    return visit.go(f"{back}{'&' if '?' in back else '?'}connection={made.id}" if back != "/" else f"/connections/{made.id}")


def _password(visit: PageRequest) -> str:
    """A password as it was typed: blanks may be part of it."""
    return dict(visit.form.fields).get("password", "")


def _part(visit: PageRequest, error: VeladoError) -> ProblemPart:
    return ProblemPart(**problems.part(error, visit.words.code))


@router.get("/connections/{id}")
def connection(visit: Visiting, id: str, search: Search = "") -> Response:
    """A database: what it holds, its address, its password."""
    return _render_connection(visit, id, search)


def _render_connection(visit: PageRequest, id: str, search: str = "", problem: ProblemPart | None = None, **shown: Any) -> Response:
    found = connections.get_connection(visit.call, id)
    common: dict[str, Any] = {"used": [], "form": visit.form, "examples": EXAMPLES}
    return visit.render(
        "connection.html",
        422 if problem else 200,
        connection=found,
        search=search,
        problem=problem,
        purpose=Purpose(),
        **{**common, **shown},
    )


@router.api_route("/connections/{id}/tables", methods=ASKED)
def tables(visit: Visiting, id: str, search: Search = "") -> Response:
    """Schemas, tables and views of a database, which is asked now: other pages load this as a part."""
    purpose, found, problem = Purpose.of(visit.request.query_params), list[TableOf](), None
    try:
        found = connections.list_tables(visit.call, id).tables
    except VeladoError as error:
        problem = _part(visit, error)
    words = search.casefold().split()
    kept = [one for one in found if all(word in f"{one.schema_ or ''}.{one.name}".casefold() for word in words)]
    kept = sorted(kept, key=lambda one: (one.schema_ or "", one.name))
    groups = [(schema, list(those)) for schema, those in groupby(kept[:LISTED], lambda one: one.schema_ or "")]
    return visit.render(
        "connection_tables.html",
        id=id,
        groups=groups,
        total=len(kept),
        all=len(found),
        problem=problem,
        search=search,
        purpose=purpose,
        most=LISTED,
        full=_full,
    )


def _full(table: TableOf) -> str:
    """A table as an address names it."""
    return str(TableName(table.name, table.schema_))


@router.post("/connections/{id}/test")
def test(visit: Visiting, id: str) -> Response:
    """Whether the database answers."""
    try:
        connections.test_connection(visit.call, id)
    except VeladoError as error:
        return _render_connection(visit, id, problem=_part(visit, error))
    return visit.go(f"/connections/{id}", visit.say("The database answers."))


@router.post("/connections/{id}/change")
def change(visit: Visiting, id: str) -> Response:
    """Another name, address or password; an empty password stays what it is."""
    form = visit.form
    given: dict[str, Any] = {"name": form.text("name"), "address": form.text("address")}
    if form.text("forget"):
        given["password"] = None
    elif _password(visit):
        given["password"] = _password(visit)
    try:
        connections.change_connection(visit.call, id, ChangedConnection.model_validate(given))
    except VeladoError as error:
        return _render_connection(visit, id, problem=_part(visit, error))
    return visit.go(f"/connections/{id}", visit.say("The connection is changed."))


@router.post("/connections/{id}/delete")
def delete(visit: Visiting, id: str) -> Response:
    """Delete a connection; where tables use it, only if that is said again."""
    name = connections.get_connection(visit.call, id).name
    try:
        connections.delete_connection(visit.call, id, force=bool(visit.form.text("force")))
    except Conflict as error:
        return _render_connection(visit, id, problem=_part(visit, error), used=error.fields.get("sources", []))
    return visit.go("/connections", visit.say("The connection {name} is deleted.", name=name))
