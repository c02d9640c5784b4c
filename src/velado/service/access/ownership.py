"""Uploads, connections and sources: whose they are, and what a caller may do with them.

They belong to a user. A source is seen by the members of projects that name it and of which its owner is a member,
too, as their roles there allow. To everybody else none of them exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service.access.allowed_references import naming
from velado.service.access.caller import Caller
from velado.service.access.permissions import scope_actions
from velado.service.errors import Forbidden, NotFound
from velado.service.files import ID
from velado.service.projects.document import Document
from velado.service.store.tables import Connection, Project, Source, Upload

Own = TypeVar("Own", Upload, Connection, Source)
CHANGE = "project.edit"
"""Who may do this with a project of theirs may do it with a thing of theirs: tokens that only read may not."""
OF_MEMBERS = frozenset({"profile.read", "records.read"})
OWNERS = OF_MEMBERS | {CHANGE, "jobs.analyse"}


def own(db: Db, caller: Caller, kind: type[Own], id: str, action: str) -> Own:
    """A thing of the caller's own."""
    thing = db.get(kind, id) if ID.fullmatch(id) else None
    if thing is None or thing.user_id != caller.id:
        raise NotFound()
    if action not in scope_actions(caller.scopes):
        raise Forbidden(action)
    return thing


def actions_on(db: Db, caller: Caller, source: Source) -> frozenset[str]:
    """What is allowed with a source."""
    if source.user_id == caller.id:
        return OWNERS & scope_actions(caller.scopes)
    roles = (caller.actions_in(db, project.id) for project in naming(db, caller, source))
    return frozenset(action for allowed in roles for action in allowed & OF_MEMBERS)


def source_for(db: Db, caller: Caller, id: str, action: str) -> tuple[Source, frozenset[str]]:
    """A source with which an action is allowed, and all that is."""
    source = db.get(Source, id) if ID.fullmatch(id) else None
    if source is None or not (source.user_id == caller.id or any(naming(db, caller, source))):
        raise NotFound()
    allowed = actions_on(db, caller, source)
    if action not in allowed:
        raise Forbidden(action)
    return source, allowed


def sources_with(db: Db, thing: Upload | Connection) -> list[Source]:
    """The sources that are made from an upload or a connection."""
    column = Source.upload_id if isinstance(thing, Upload) else Source.connection_id
    return list(db.scalars(select(Source).where(column == thing.id).order_by(Source.created, Source.id)))


def roles_in(projects: Iterable[Project]) -> dict[str, set[str]]:
    """The roles that projects give to columns, by name."""
    return roles_of(project.document for project in projects)


def roles_of(documents: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """The roles that documents give to columns and attributes, by name; where there are several tables, all that a name has."""
    found: dict[str, set[str]] = {}
    for document in map(Document, map(dict, documents)):
        for part in (document, *document.tables.values()):
            # An attribute need not say it, a column without a role is not shown.
            for name, said in (*part.columns.items(), *((n, a) for n, a in part.attributes.items() if a.role)):
                found.setdefault(name, set()).add(said.own_role)
    return found
