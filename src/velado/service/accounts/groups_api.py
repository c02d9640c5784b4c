"""Groups: several users under one name, to share projects with. For administrators."""

from __future__ import annotations

from fastapi import APIRouter, Response

from velado.service.accounts import group_operations as operations
from velado.service.accounts.group_operations import GroupNamed, GroupOpened, GroupShown
from velado.service.web.call import Called
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(prefix="/groups", tags=["groups"])


@router.get("")
def list_groups(call: Called, limit: Limit = 100, after: After = None) -> Listed[GroupShown]:
    """All groups, by name."""
    return operations.list_groups(call, limit, after)


@router.post("", status_code=201)
def create(body: GroupNamed, call: Called, response: Response) -> GroupOpened:
    """Make a group, empty at first."""
    group = operations.create_group(call, body)
    response.headers["Location"] = f"/api/v1/groups/{group.id}"
    return group


@router.get("/{id}")
def read(id: str, call: Called) -> GroupOpened:
    """A group with its members."""
    return operations.read_group(call, id)


@router.patch("/{id}")
def change(id: str, body: GroupNamed, call: Called) -> GroupOpened:
    """Give a group another name."""
    return operations.rename_group(call, id, body)


@router.delete("/{id}", status_code=204)
def delete(id: str, call: Called) -> None:
    """Delete a group; what its members could do through it ends."""
    operations.delete_group(call, id)


@router.put("/{id}/members/{user}", status_code=204)
def add(id: str, user: str, call: Called) -> None:
    """Take a user into a group."""
    operations.add_member(call, id, user)


@router.delete("/{id}/members/{user}", status_code=204)
def remove(id: str, user: str, call: Called) -> None:
    """Take a user out of a group."""
    operations.remove_member(call, id, user)
