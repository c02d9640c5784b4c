"""Named database connections. Passwords are sealed, opened in jobs only, and told to nobody."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Db

from velado.errors import InputError
from velado.service.belongings import CHANGE, own, sources_with
from velado.service.documents import check_address, check_reach
from velado.service.errors import Conflict, Invalid
from velado.service.jobs import queue
from velado.service.store.tables import Connection, new_id
from velado.service.web.call import Call, Called
from velado.service.web.paged import newest
from velado.service.web.shapes import After, Body, Limit, Listed, Name
from velado.service.web.waiting import wait_for
from velado.tables.address import Address, password_in_clear

router = APIRouter(tags=["connections"])
SECONDS = 60
"""How long a request waits for a database."""
Password = Annotated[str, Field(min_length=1, max_length=1000)]
MOST = 200


class NewConnection(Body):
    """A database. The password is not part of the address."""

    name: Name
    address: Annotated[str, Field(max_length=2000)]
    password: Password | None = None


class ChangedConnection(Body):
    """What is to change; ``password: null`` takes the password away, leaving it out keeps it."""

    name: Name | None = None
    address: Annotated[str, Field(max_length=2000)] | None = None
    password: Password | None = None


class ConnectionAnswer(BaseModel):
    """A database, without its password."""

    id: str
    name: str
    address: str
    has_password: bool
    created: datetime
    used: datetime


class Tested(BaseModel):
    """The database answered."""

    ok: bool = True


class ColumnOf(BaseModel):
    """A column, and its type as the database calls it."""

    name: str
    type: str


class TableOf(BaseModel):
    """A table or a view. ``rows`` are about how many, as the database estimates."""

    schema_: str | None = Field(default=None, alias="schema")
    name: str
    kind: str
    rows: int | None = None
    bytes: int | None = None
    columns: list[ColumnOf] = []

    model_config = {"populate_by_name": True}


class Tables(BaseModel):
    """What a database holds."""

    tables: list[TableOf]


@router.get("/connections")
def list_connections(call: Called, limit: Limit = 100, after: After = None) -> Listed[ConnectionAnswer]:
    """Your connections, newest first."""
    call.caller.require("account.use")
    with call.reading() as db:
        mine = select(Connection).where(Connection.user_id == call.caller.id)
        found, following = newest(db, mine, Connection.created, Connection.id, limit, after)
        return Listed(items=[_answer(connection) for connection in found], next=following)


@router.post("/connections", status_code=201)
def create_connection(body: NewConnection, call: Called, response: Response) -> ConnectionAnswer:
    """Keep a connection. Whether it works says its test."""
    call.caller.require("connections.create")
    address = _checked(body.address, call)
    with call.writing() as db:
        if len(db.scalars(select(Connection.id).where(Connection.user_id == call.caller.id)).all()) >= MOST:
            raise Conflict("too-many-connections", "you have too many connections", fields={"limit": MOST})
        _check_name(db, call, body.name, "")
        id = new_id()
        connection = Connection(id=id, user_id=call.caller.id, name=body.name, address=str(address))
        connection.secret = _sealed(call, id, body.password)
        db.add(connection)
        _flush(db)
        call.audit(db, "connection.create", id, engine=address.engine)
    response.headers["Location"] = f"/api/v1/connections/{id}"
    return _answer(connection)


@router.get("/connections/{id}")
def get_connection(id: str, call: Called) -> ConnectionAnswer:
    """One of your connections."""
    with call.reading() as db:
        return _answer(own(db, call.caller, Connection, id, "account.use"))


@router.put("/connections/{id}")
def change_connection(id: str, body: ChangedConnection, call: Called) -> ConnectionAnswer:
    """Change a connection. At another server the old password is not tried: give it again."""
    call.caller.require("connections.create")
    said = body.model_fields_set
    with call.writing() as db:
        connection = own(db, call.caller, Connection, id, CHANGE)
        if body.name is not None:
            _check_name(db, call, body.name, id)
            connection.name = body.name
        if body.address is not None:
            address = _checked(body.address, call)
            if str(address) != connection.address:
                connection.secret = None
            connection.address = str(address)
        if "password" in said:
            connection.secret = _sealed(call, id, body.password)
        _flush(db)
        call.audit(db, "connection.change", id, password="password" in said)
        return _answer(connection)


@router.delete("/connections/{id}", status_code=204)
def delete_connection(
    id: str, call: Called, force: Annotated[bool, Query(description="Also if sources use it")] = False
) -> None:
    """Delete a connection, with its password."""
    with call.writing() as db:
        connection = own(db, call.caller, Connection, id, CHANGE)
        used = sources_with(db, connection)
        if used and not force:
            raise Conflict(
                "connection-in-use", "sources use this connection", hint="Delete them first, or send ?force=true.",
                fields={"sources": [{"id": source.id, "name": source.name} for source in used]},
            )  # fmt: skip
        for source in used:
            source.state = "failed"
        db.delete(connection)
        call.audit(db, "connection.delete", id, sources=len(used))


@router.post("/connections/{id}/test")
def test_connection(id: str, call: Called) -> Tested:
    """Whether the database answers; if not, the answer says why."""
    _asked(call, id, "test")
    return Tested()


@router.get("/connections/{id}/tables")
def list_tables(id: str, call: Called) -> Tables:
    """Schemas, tables and views, columns with their types, about how many rows."""
    found = _asked(call, id, "tables")
    return Tables(tables=[TableOf(**{k: v for k, v in table.items() if k in SHOWN}) for table in found["tables"]])


SHOWN = ("schema", "name", "kind", "rows", "bytes", "columns")


def _asked(call: Call, id: str, kind: str) -> dict[str, Any]:
    """What a job found out about a connection."""
    call.caller.require("connections.create")
    with call.writing() as db:
        own(db, call.caller, Connection, id, CHANGE)
        job = queue.submit(db, call.settings(db), kind, call.caller.id, {"connection": id}, quick=True)
        call.audit(db, f"connection.{kind}", id)
    return wait_for(call, job.id, SECONDS, values=True)


PASSWORD = re.compile(r"(passw(or)?d|pwd|pass)\s*[=:]", re.IGNORECASE)


def _checked(text: str, call: Call) -> Address:
    try:
        if PASSWORD.search(text):
            raise password_in_clear()
        address = check_address(text)
        check_reach(address, call.service.settings)
        return address
    except InputError as error:
        if error.code != "password-in-clear":
            raise
        raise Invalid(
            "password-in-clear", "the address holds a password",
            hint="Leave it out of the address, and send it as 'password': it is kept sealed.", fields={"path": "address"},
        ) from None  # fmt: skip


def _sealed(call: Call, id: str, password: str | None) -> str | None:
    return None if password is None else call.service.secrets.seal(password, f"connection:{id}")


def _check_name(db: Db, call: Call, name: str, id: str) -> None:
    same = select(Connection.id).where(
        Connection.user_id == call.caller.id, Connection.name == name, Connection.id != id
    )
    if db.scalars(same).first() is not None:
        raise _taken()


def _taken() -> Conflict:
    return Conflict("name-taken", "you have a connection of this name already", fields={"path": "name"})


def _flush(db: Db) -> None:
    """Write; another request may have taken the name meanwhile."""
    try:
        db.flush()
    except IntegrityError:
        raise _taken() from None


def _answer(connection: Connection) -> ConnectionAnswer:
    return ConnectionAnswer(
        id=connection.id, name=connection.name, address=connection.address, has_password=connection.secret is not None,
        created=connection.created, used=connection.used,
    )  # fmt: skip
