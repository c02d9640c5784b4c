"""Groups: several users under one name, to share projects with. For administrators."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter, Response
from pydantic import BaseModel
from sqlalchemy import delete as delete_from
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service.accounts.throttle import one_by_one
from velado.service.errors import Conflict, NotFound
from velado.service.store.tables import Group, GroupMember, User
from velado.service.web.call import Called
from velado.service.web.shapes import After, Body, Limit, Listed, Name

router = APIRouter(prefix="/groups", tags=["groups"])


class GroupNamed(Body):
    """The name of a group."""

    name: Name


class GroupShown(BaseModel):
    """A group, and how many are in it."""

    id: str
    name: str
    created: datetime
    size: int


class MemberShown(BaseModel):
    """A user of a group."""

    id: str
    name: str
    full_name: str
    active: bool


class GroupOpened(GroupShown):
    """A group with its members."""

    members: list[MemberShown]


@router.get("")
def list_groups(call: Called, limit: Limit = 100, after: After = None) -> Listed[GroupShown]:
    """All groups, by name."""
    call.caller.require("groups.manage")
    size = select(func.count()).where(GroupMember.group_id == Group.id).scalar_subquery()
    wanted = select(Group, size).where(Group.name > (after or "")).order_by(Group.name).limit(limit + 1)
    with call.reading() as db:
        found = [_shown(group, count) for group, count in db.execute(wanted)]
    return Listed(items=found[:limit], next=found[limit - 1].name if len(found) > limit else None)


@router.post("", status_code=201)
def create(body: GroupNamed, call: Called, response: Response) -> GroupOpened:
    """Make a group, empty at first."""
    call.caller.require("groups.manage")
    with call.writing() as db:
        _check_free(db, body.name)
        group = Group(name=body.name)
        db.add(group)
        db.flush()
        call.audit(db, "group.made", group.id)
        response.headers["Location"] = f"/api/v1/groups/{group.id}"
        return _opened(db, group)


@router.get("/{id}")
def read(id: str, call: Called) -> GroupOpened:
    """A group with its members."""
    call.caller.require("groups.manage")
    with call.reading() as db:
        return _opened(db, _group(db, id))


@router.patch("/{id}")
def change(id: str, body: GroupNamed, call: Called) -> GroupOpened:
    """Give a group another name."""
    call.caller.require("groups.manage")
    with call.writing() as db:
        group = _group(db, id)
        if body.name != group.name:
            _check_free(db, body.name)
            group.name = body.name
            call.audit(db, "group.renamed", id)
        return _opened(db, group)


@router.delete("/{id}", status_code=204)
def delete(id: str, call: Called) -> None:
    """Delete a group; what its members could do through it ends."""
    call.caller.require("groups.manage")
    with call.writing() as db:
        db.delete(_group(db, id))
        call.audit(db, "group.deleted", id)


@router.put("/{id}/members/{user}", status_code=204)
def add(id: str, user: str, call: Called) -> None:
    """Take a user into a group."""
    call.caller.require("groups.manage")
    with call.writing() as db:
        one_by_one(db)
        _group(db, id)
        if db.get(User, user) is None:
            raise NotFound()
        if db.get(GroupMember, (id, user)) is None:
            db.add(GroupMember(group_id=id, user_id=user))
            call.audit(db, "group.joined", id, user=user)


@router.delete("/{id}/members/{user}", status_code=204)
def remove(id: str, user: str, call: Called) -> None:
    """Take a user out of a group."""
    call.caller.require("groups.manage")
    with call.writing() as db:
        gone = delete_from(GroupMember).where(GroupMember.group_id == id, GroupMember.user_id == user)
        if not list(db.scalars(gone.returning(GroupMember.user_id))):
            raise NotFound()
        call.audit(db, "group.left", id, user=user)


def _group(db: Db, id: str) -> Group:
    group = db.get(Group, id)
    if group is None:
        raise NotFound()
    return group


def _check_free(db: Db, name: str) -> None:
    one_by_one(db)
    if db.scalars(select(Group.id).where(Group.name == name)).first() is not None:
        raise Conflict("name-taken", Sentence("there is a group of this name already"), fields={"path": "name"})


def _shown(group: Group, size: int) -> GroupShown:
    return GroupShown(id=group.id, name=group.name, created=group.created, size=size)


def _opened(db: Db, group: Group) -> GroupOpened:
    inside = select(User).join(GroupMember, GroupMember.user_id == User.id).where(GroupMember.group_id == group.id)
    members = [MemberShown.model_validate(u, from_attributes=True) for u in db.scalars(inside.order_by(User.name))]
    return GroupOpened(**_shown(group, len(members)).model_dump(), members=members)
