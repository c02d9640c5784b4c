"""Named database connections. Passwords are sealed, opened in jobs only, and told to nobody."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from velado.service.connections import operations
from velado.service.connections.operations import ChangedConnection, ConnectionAnswer, NewConnection, Tables, Tested
from velado.service.web.call import Called
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(tags=["connections"])


@router.get("/connections")
def list_connections(call: Called, limit: Limit = 100, after: After = None) -> Listed[ConnectionAnswer]:
    """Your connections, newest first."""
    return operations.list_connections(call, limit, after)


@router.post("/connections", status_code=201)
def create_connection(body: NewConnection, call: Called, response: Response) -> ConnectionAnswer:
    """Keep a connection. Whether it works says its test."""
    connection = operations.create_connection(call, body)
    response.headers["Location"] = f"/api/v1/connections/{connection.id}"
    return connection


@router.get("/connections/{id}")
def get_connection(id: str, call: Called) -> ConnectionAnswer:
    """One of your connections."""
    return operations.get_connection(call, id)


@router.put("/connections/{id}")
def change_connection(id: str, body: ChangedConnection, call: Called) -> ConnectionAnswer:
    """Change a connection. At another server the old password is not tried: give it again."""
    return operations.change_connection(call, id, body)


@router.delete("/connections/{id}", status_code=204)
def delete_connection(id: str, call: Called, force: Annotated[bool, Query(description="Also if sources use it")] = False) -> None:
    """Delete a connection, with its password."""
    operations.delete_connection(call, id, force=force)


@router.post("/connections/{id}/test")
def test_connection(id: str, call: Called) -> Tested:
    """Whether the database answers; if not, the answer says why."""
    return operations.test_connection(call, id)


@router.get("/connections/{id}/tables")
def list_tables(id: str, call: Called) -> Tables:
    """Schemas, tables and views, columns with their types, about how many rows."""
    return operations.list_tables(call, id)
