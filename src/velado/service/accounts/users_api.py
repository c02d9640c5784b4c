"""Users: who may sign in, and with which roles. For administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from velado.service.accounts import user_operations as operations
from velado.service.accounts.user_operations import LinkMade, NewUser, PasswordGiven, UserChange, UserShown
from velado.service.web.call import Called
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(prefix="/users", tags=["users"])


@router.get("")
def list_users(
    call: Called, limit: Limit = 100, after: After = None, active: Annotated[bool | None, Query()] = None
) -> Listed[UserShown]:
    """All users, by name."""
    return operations.list_users(call, limit, after, active)


@router.post("", status_code=201)
def create(body: NewUser, call: Called, response: Response) -> UserShown:
    """Make a user."""
    user = operations.create_user(call, body)
    response.headers["Location"] = f"/api/v1/users/{user.id}"
    return user


@router.get("/{id}")
def read(id: str, call: Called) -> UserShown:
    """A user."""
    return operations.read_user(call, id)


@router.patch("/{id}")
def change(id: str, body: UserChange, call: Called) -> UserShown:
    """Change a user; other roles end the user's sessions, and who is not active any more can do nothing."""
    return operations.change_user(call, id, body)


@router.put("/{id}/password", status_code=204)
def set_password(id: str, body: PasswordGiven, call: Called) -> None:
    """Set a user's password; the user's sessions end."""
    operations.set_password(call, id, body)


@router.post("/{id}/link", status_code=201)
def make_link(id: str, call: Called, response: Response) -> LinkMade:
    """Make a link by which the user sets a new password, once."""
    link = operations.make_link(call, id)
    response.headers["Location"] = "/api/v1/session/link"
    return link


@router.delete("/{id}", status_code=204)
def delete(id: str, call: Called) -> None:
    """Delete a user with the user's uploads, connections and sources."""
    operations.delete_user(call, id)
