"""What administrators do with groups: several users under one name, to share projects with."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import delete as delete_from
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service.accounts.throttle import one_by_one
from velado.service.errors import Conflict, NotFound
from velado.service.store.tables import Group, GroupMember, User
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.schemas import Body, Listed, Name


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


def list_groups(work: UnitOfWork, limit: int = 100, after: str | None = None) -> Listed[GroupShown]:
    """All groups, by name."""
    work.caller.require("groups.manage")
    size = select(func.count()).where(GroupMember.group_id == Group.id).scalar_subquery()
    wanted = select(Group, size).where(Group.name > (after or "")).order_by(Group.name).limit(limit + 1)
    with work.reading() as db:
        found = [_describe_group(group, count) for group, count in db.execute(wanted)]
    return Listed(items=found[:limit], next=found[limit - 1].name if len(found) > limit else None)


def open_groups(work: UnitOfWork, limit: int = 100) -> list[GroupOpened]:
    """The first groups by name, with their members."""
    work.caller.require("groups.manage")
    with work.reading() as db:
        groups = list(db.scalars(select(Group).order_by(Group.name).limit(limit)))
        inside = select(GroupMember.group_id, User).join(User, GroupMember.user_id == User.id).order_by(User.name)
        people: dict[str, list[User]] = {group.id: [] for group in groups}
        for group_id, user in db.execute(inside.where(GroupMember.group_id.in_(people))):
            people[group_id].append(user)
        return [_group_with_members(group, people[group.id]) for group in groups]


def create_group(work: UnitOfWork, body: GroupNamed) -> GroupOpened:
    """Make a group, empty at first."""
    work.caller.require("groups.manage")
    with work.writing() as db:
        _check_free(db, body.name)
        group = Group(name=body.name)
        db.add(group)
        db.flush()
        work.audit(db, "group.made", group.id)
        return _group_with_members(group, _people(db, group))


def read_group(work: UnitOfWork, id: str) -> GroupOpened:
    """A group with its members."""
    work.caller.require("groups.manage")
    with work.reading() as db:
        group = _group(db, id)
        return _group_with_members(group, _people(db, group))


def rename_group(work: UnitOfWork, id: str, body: GroupNamed) -> GroupOpened:
    """Give a group another name."""
    work.caller.require("groups.manage")
    with work.writing() as db:
        group = _group(db, id)
        if body.name != group.name:
            _check_free(db, body.name)
            group.name = body.name
            work.audit(db, "group.renamed", id)
        return _group_with_members(group, _people(db, group))


def delete_group(work: UnitOfWork, id: str) -> None:
    """Delete a group; what its members could do through it ends."""
    work.caller.require("groups.manage")
    with work.writing() as db:
        db.delete(_group(db, id))
        work.audit(db, "group.deleted", id)


def add_member(work: UnitOfWork, id: str, user: str) -> None:
    """Take a user into a group."""
    work.caller.require("groups.manage")
    with work.writing() as db:
        one_by_one(db)
        _group(db, id)
        if db.get(User, user) is None:
            raise NotFound()
        if db.get(GroupMember, (id, user)) is None:
            db.add(GroupMember(group_id=id, user_id=user))
            work.audit(db, "group.joined", id, user=user)


def remove_member(work: UnitOfWork, id: str, user: str) -> None:
    """Take a user out of a group."""
    work.caller.require("groups.manage")
    with work.writing() as db:
        gone = delete_from(GroupMember).where(GroupMember.group_id == id, GroupMember.user_id == user)
        if not list(db.scalars(gone.returning(GroupMember.user_id))):
            raise NotFound()
        work.audit(db, "group.left", id, user=user)


def _group(db: Db, id: str) -> Group:
    group = db.get(Group, id)
    if group is None:
        raise NotFound()
    return group


def _check_free(db: Db, name: str) -> None:
    one_by_one(db)
    if db.scalars(select(Group.id).where(Group.name == name)).first() is not None:
        raise Conflict("name-taken", Sentence("there is a group of this name already"), fields={"path": "name"})


def _describe_group(group: Group, size: int) -> GroupShown:
    return GroupShown(id=group.id, name=group.name, created=group.created, size=size)


def _people(db: Db, group: Group) -> Iterable[User]:
    inside = select(User).join(GroupMember, GroupMember.user_id == User.id).where(GroupMember.group_id == group.id)
    return db.scalars(inside.order_by(User.name))


def _group_with_members(group: Group, people: Iterable[User]) -> GroupOpened:
    members = [MemberShown.model_validate(user, from_attributes=True) for user in people]
    return GroupOpened(**_describe_group(group, len(members)).model_dump(), members=members)
