"""Who asks, and what they may do; learners see records of samples only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy import or_, select
from sqlalchemy.orm import Session as Db

from velado.results import Discreet
from velado.service.access.permissions import LEARNER, OF_RECORDS, SEEN, STEWARD, instance_actions, project_actions, scope_actions
from velado.service.errors import Forbidden, NotFound, SessionOnly
from velado.service.store.store import remember
from velado.service.store.tables import GroupMember, Member, Project

SAMPLE = "sample"
"""The kind of sources that tell of nobody."""


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
        return action in instance_actions(self.roles) & scope_actions(self.scopes)

    def require(self, action: str) -> None:
        """Raise unless an action of the instance is allowed."""
        if not self.may(action):
            raise Forbidden(action)

    def require_session(self) -> None:
        """Raise if a token asks: a lost one must not make others, nor lock its owner out."""
        if self.scopes is not None:
            raise SessionOnly()

    def project_roles(self, db: Db, project_id: str) -> frozenset[str]:
        """The roles in a project, of the user and of the user's groups."""
        return remember(db, ("roles", self.id, project_id), lambda: self._find_roles(db, project_id))

    def _find_roles(self, db: Db, project_id: str) -> frozenset[str]:
        groups = select(GroupMember.group_id).where(GroupMember.user_id == self.id)
        mine = or_(Member.user_id == self.id, Member.group_id.in_(groups))
        return frozenset(db.scalars(select(Member.role).where(Member.project_id == project_id, mine)))

    def actions_in(self, db: Db, project_id: str) -> frozenset[str]:
        """What is allowed in a project. Only stewards see records, and learners those of samples.

        An auditor reads the evidence of every release.
        """
        return self.actions_by_role(db, project_id) & scope_actions(self.scopes)

    def project(self, db: Db, project_id: str, action: str) -> Project:
        """A project in which an action is allowed; to who may not even read it, it does not exist.

        A token with too few scopes does not hide it from its owner, who is told what it lacks.
        """
        project = db.get(Project, project_id)
        allowed = frozenset[str]() if project is None else self.actions_by_role(db, project_id)
        if project is None or not allowed & SEEN:
            raise NotFound()
        if action not in allowed & scope_actions(self.scopes):
            raise Forbidden(action)
        return project

    def actions_by_role(self, db: Db, project_id: str) -> frozenset[str]:
        """What the roles of the user allow in a project, whatever the scopes of a token."""
        allowed = project_actions(self.project_roles(db, project_id))
        if allowed & OF_RECORDS and not self._may_see_records(db, project_id):
            allowed -= OF_RECORDS
        if "evidence.read" in instance_actions(self.roles):
            allowed |= {"release.read"}
        return allowed

    def _may_see_records(self, db: Db, project_id: str) -> bool:
        if STEWARD in self.roles:
            return True
        project = db.get(Project, project_id)
        return LEARNER in self.roles and project is not None and project.samples_only
