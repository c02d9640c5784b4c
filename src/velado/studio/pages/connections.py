"""Databases: connections, whether they answer, and what they hold."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from velado.errors import VeladoError
from velado.service.errors import Conflict, Forbidden
from velado.service.web import problems
from velado.service.web.problems import ProblemPart
from velado.service.web.resources import connections
from velado.service.web.resources.connections import ChangedConnection, NewConnection, TableOf
from velado.studio.pages.new import Purpose
from velado.studio.visit import PageRoute, Visit, Visiting, inside
from velado.tables.address import TableName

router = APIRouter(route_class=PageRoute)
LISTED = 200
"""Tables that are shown; a search finds the others."""
EXAMPLES = ("postgresql://ana@db.example/clinic", "mariadb://ana@db.example/clinic")
Search = Annotated[str, Query(max_length=200)]


@router.get("/connections")
def all_connections(visit: Visiting) -> Response:
    """The connections of who looks, and a new one."""
    return _listed(visit)


def _listed(visit: Visit, problem: ProblemPart | None = None) -> Response:
    if not visit.may("connections.create"):
        raise Forbidden("connections.create")
    listed = connections.list_connections(visit.call, limit=LISTED).items
    return visit.render(
        "connections.html", 422 if problem else 200, listed=listed, form=visit.form, problem=problem, examples=EXAMPLES
    )  # fmt: skip


@router.post("/connections")
def create(visit: Visiting) -> Response:
    """Keep a connection; its page says at once whether it answers."""
    form = visit.form
    given = {"name": form.text("name"), "address": form.text("address"), "password": _password(visit) or None}
    try:
        made = connections.create_connection(NewConnection.model_validate(given), visit.call, Response())
    except VeladoError as error:
        return _listed(visit, _part(visit, error))
    back = inside(form.text("back"))
    return visit.go(
        f"{back}{'&' if '?' in back else '?'}connection={made.id}" if back != "/" else f"/connections/{made.id}"
    )


def _password(visit: Visit) -> str:
    """A password as it was typed: blanks may be part of it."""
    return dict(visit.form.fields).get("password", "")


def _part(visit: Visit, error: VeladoError) -> ProblemPart:
    return ProblemPart(**problems.part(error, visit.words.code))


@router.get("/connections/{id}")
def connection(visit: Visiting, id: str, search: Search = "") -> Response:
    """A database: what it holds, its address, its password."""
    return _shown(visit, id, search)


def _shown(visit: Visit, id: str, search: str = "", problem: ProblemPart | None = None, **shown: Any) -> Response:
    found = connections.get_connection(id, visit.call)
    common: dict[str, Any] = {"used": [], "form": visit.form, "examples": EXAMPLES}
    return visit.render(
        "connection.html", 422 if problem else 200, connection=found, search=search, problem=problem, purpose=Purpose(),
        **{**common, **shown},
    )  # fmt: skip


@router.get("/connections/{id}/tables")
def tables(visit: Visiting, id: str, search: Search = "") -> Response:
    """Schemas, tables and views of a database, which is asked now: other pages load this as a part."""
    purpose, found, problem = Purpose.of(visit.request.query_params), list[TableOf](), None
    try:
        found = connections.list_tables(id, visit.call).tables
    except VeladoError as error:
        problem = _part(visit, error)
    words = search.casefold().split()
    kept = [one for one in found if all(word in f"{one.schema_ or ''}.{one.name}".casefold() for word in words)]
    kept = sorted(kept, key=lambda one: (one.schema_ or "", one.name))
    groups = [(schema, list(those)) for schema, those in groupby(kept[:LISTED], lambda one: one.schema_ or "")]
    return visit.render(
        "connection_tables.html", id=id, groups=groups, total=len(kept), all=len(found), problem=problem, search=search,
        purpose=purpose, most=LISTED, full=_full,
    )  # fmt: skip


def _full(table: TableOf) -> str:
    """A table as an address names it."""
    return str(TableName(table.name, table.schema_))


@router.post("/connections/{id}/test")
def test(visit: Visiting, id: str) -> Response:
    """Whether the database answers."""
    try:
        connections.test_connection(id, visit.call)
    except VeladoError as error:
        return _shown(visit, id, problem=_part(visit, error))
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
        connections.change_connection(id, ChangedConnection.model_validate(given), visit.call)
    except VeladoError as error:
        return _shown(visit, id, problem=_part(visit, error))
    return visit.go(f"/connections/{id}", visit.say("The connection is changed."))


@router.post("/connections/{id}/delete")
def delete(visit: Visiting, id: str) -> Response:
    """Delete a connection; where tables use it, only if that is said again."""
    name = connections.get_connection(id, visit.call).name
    try:
        connections.delete_connection(id, visit.call, force=bool(visit.form.text("force")))
    except Conflict as error:
        return _shown(visit, id, problem=_part(visit, error), used=error.fields.get("sources", []))
    return visit.go("/connections", visit.say("The connection {name} is deleted.", name=name))
