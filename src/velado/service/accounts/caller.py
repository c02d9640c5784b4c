"""Who asks, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy import or_, select
from sqlalchemy.orm import Session as Db

from velado.results import Discreet
from velado.service.errors import Forbidden, NotFound
from velado.service.permissions import instance_actions, project_actions, scoped
from velado.service.store.tables import GroupMember, Member, Project


@dataclass(frozen=True, repr=False)
class Caller(Discreet):
    """A user behind a request. ``scopes`` are those of a token, None in a session of a browser."""

    NAMES: ClassVar[tuple[str, ...]] = ("id",)
    id: str
    name: str
    roles: tuple[str, ...]
    language: str = ""
    scopes: tuple[str, ...] | None = None
    token: str | None = None
    """The id of the token, if there is one."""

    def may(self, action: str) -> bool:
        """Whether an action of the instance is allowed."""
        return action in instance_actions(self.roles) & scoped(self.scopes)

    def require(self, action: str) -> None:
        """Raise unless an action of the instance is allowed."""
        if not self.may(action):
            raise Forbidden(action)

    def project_roles(self, db: Db, project_id: str) -> frozenset[str]:
        """The roles in a project, of the user and of the user's groups."""
        groups = select(GroupMember.group_id).where(GroupMember.user_id == self.id)
        mine = or_(Member.user_id == self.id, Member.group_id.in_(groups))
        return frozenset(db.scalars(select(Member.role).where(Member.project_id == project_id, mine)))

    def actions_in(self, db: Db, project_id: str) -> frozenset[str]:
        """What is allowed in a project. Learners and administrators never see records of others' tables.

        An auditor reads the evidence of every release.
        """
        allowed = project_actions(self.project_roles(db, project_id))
        if self.may("evidence.read"):
            allowed |= {"release.read"}
        return allowed & scoped(self.scopes)

    def project(self, db: Db, project_id: str, action: str) -> Project:
        """A project in which an action is allowed; to who may not even read it, it does not exist."""
        project = db.get(Project, project_id)
        allowed = frozenset[str]() if project is None else self.actions_in(db, project_id)
        if project is None or not allowed & {"project.read", "release.read"}:
            raise NotFound()
        if action not in allowed:
            raise Forbidden(action)
        return project
