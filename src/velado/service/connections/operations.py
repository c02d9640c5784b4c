"""What can be done with database connections, and by whom. Passwords are sealed, opened in jobs only, and told to nobody."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Db

from velado.errors import InputError
from velado.service.access.ownership import CHANGE, own, sources_with
from velado.service.connections.addresses import check_address, check_reach
from velado.service.errors import Conflict, Invalid
from velado.service.jobs import queue
from velado.service.jobs.waiting import wait_for
from velado.service.store.tables import Connection, new_id
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.paging import newest
from velado.service.web.schemas import Body, Listed, Name
from velado.tables.address import Address, password_in_clear

SECONDS = 60
"""How long a request waits for a database."""
Password = Annotated[str, Field(min_length=1, max_length=1000)]
MOST = 200
SHOWN = ("schema", "name", "kind", "rows", "bytes", "columns")


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


def list_connections(work: UnitOfWork, limit: int = 100, after: str | None = None) -> Listed[ConnectionAnswer]:
    """Your connections, newest first."""
    work.caller.require("account.use")
    with work.reading() as db:
        mine = select(Connection).where(Connection.user_id == work.caller.id)
        found, following = newest(db, mine, Connection.created, Connection.id, limit, after)
        return Listed(items=[_answer(connection) for connection in found], next=following)


def create_connection(work: UnitOfWork, body: NewConnection) -> ConnectionAnswer:
    """Keep a connection. Whether it works says its test."""
    work.caller.require("connections.create")
    address = _parse_address(body.address, work)
    with work.writing() as db:
        if (db.scalar(select(func.count(Connection.id)).where(Connection.user_id == work.caller.id)) or 0) >= MOST:
            raise Conflict("too-many-connections", "you have too many connections", fields={"limit": MOST})
        _check_name(db, work, body.name, "")
        id = new_id()
        connection = Connection(id=id, user_id=work.caller.id, name=body.name, address=str(address))
        connection.secret = _seal_password(work, id, body.password)
        db.add(connection)
        _flush(db)
        work.audit(db, "connection.create", id, engine=address.engine)
    return _answer(connection)


def get_connection(work: UnitOfWork, id: str) -> ConnectionAnswer:
    """One of your connections."""
    with work.reading() as db:
        return _answer(own(db, work.caller, Connection, id, "account.use"))


def change_connection(work: UnitOfWork, id: str, body: ChangedConnection) -> ConnectionAnswer:
    """Change a connection. At another server the old password is not tried: give it again."""
    work.caller.require("connections.create")
    said = body.model_fields_set
    with work.writing() as db:
        connection = own(db, work.caller, Connection, id, CHANGE)
        if body.name is not None:
            _check_name(db, work, body.name, id)
            connection.name = body.name
        if body.address is not None:
            address = _parse_address(body.address, work)
            if str(address) != connection.address:
                connection.secret = None
            connection.address = str(address)
        if "password" in said:
            connection.secret = _seal_password(work, id, body.password)
        _flush(db)
        work.audit(db, "connection.change", id, password="password" in said)
        return _answer(connection)


def delete_connection(work: UnitOfWork, id: str, *, force: bool = False) -> None:
    """Delete a connection, with its password; where sources use it, only by ``force``."""
    with work.writing() as db:
        connection = own(db, work.caller, Connection, id, CHANGE)
        used = sources_with(db, connection)
        if used and not force:
            raise Conflict(
                "connection-in-use",
                "sources use this connection",
                hint="Delete them first, or send ?force=true.",
                fields={"sources": [{"id": source.id, "name": source.name} for source in used]},
            )
        for source in used:
            source.state = "failed"
        db.delete(connection)
        work.audit(db, "connection.delete", id, sources=len(used))


def test_connection(work: UnitOfWork, id: str) -> Tested:
    """Whether the database answers; if not, why."""
    _ask(work, id, "test")
    return Tested()


def list_tables(work: UnitOfWork, id: str) -> Tables:
    """Schemas, tables and views, columns with their types, about how many rows; the database is asked."""
    found = _ask(work, id, "tables")
    return Tables(tables=[TableOf(**{k: v for k, v in table.items() if k in SHOWN}) for table in found["tables"]])


def _ask(work: UnitOfWork, id: str, kind: str) -> dict[str, Any]:
    """What a worker found out about a connection."""
    work.caller.require("connections.create")
    with work.asking() as db:
        own(db, work.caller, Connection, id, CHANGE)
        job = queue.submit(db, work.settings(db), kind, work.caller.id, {"connection": id}, quick=True)
        if kind == "test":
            work.audit(db, "connection.test", id)
    return wait_for(work, job.id, SECONDS, values=True)


PASSWORD = re.compile(r"(passw(or)?d|pwd|pass)\s*[=:]", re.IGNORECASE)


def _parse_address(text: str, work: UnitOfWork) -> Address:
    try:
        if PASSWORD.search(text):
            raise password_in_clear()
        address = check_address(text)
        check_reach(address, work.service.settings)
        return address
    except InputError as error:
        if error.code != "password-in-clear":
            raise
        raise Invalid(
            "password-in-clear",
            "the address holds a password",
            hint="Leave it out of the address, and send it as 'password': it is kept sealed.",
            fields={"path": "address"},
        ) from None


def _seal_password(work: UnitOfWork, id: str, password: str | None) -> str | None:
    return None if password is None else work.service.secrets.seal(password, f"connection:{id}")


def _check_name(db: Db, work: UnitOfWork, name: str, id: str) -> None:
    same = select(Connection.id).where(Connection.user_id == work.caller.id, Connection.name == name, Connection.id != id)
    if db.scalars(same).first() is not None:
        raise _name_conflict()


def _name_conflict() -> Conflict:
    return Conflict("name-taken", "you have a connection of this name already", fields={"path": "name"})


def _flush(db: Db) -> None:
    """Write; another request may have taken the name meanwhile."""
    try:
        db.flush()
    except IntegrityError:
        raise _name_conflict() from None


def _answer(connection: Connection) -> ConnectionAnswer:
    return ConnectionAnswer(
        id=connection.id,
        name=connection.name,
        address=connection.address,
        has_password=connection.secret is not None,
        created=connection.created,
        used=connection.used,
    )
