"""Uploads, connections and sources: whose they are, and what a caller may do with them.

They belong to a user. A source is seen by the members of projects that name it and of which its owner is a member,
too, as their roles there allow. To everybody else none of them exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service.accounts.caller import Caller
from velado.service.errors import Forbidden, NotFound
from velado.service.files import ID
from velado.service.permissions import scoped
from velado.service.store.tables import Connection, Project, Source, Upload
from velado.service.usable import naming

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
    if action not in scoped(caller.scopes):
        raise Forbidden(action)
    return thing


def actions_on(db: Db, caller: Caller, source: Source) -> frozenset[str]:
    """What is allowed with a source."""
    if source.user_id == caller.id:
        return OWNERS & scoped(caller.scopes)
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
    """The roles that projects give to columns, by name; in a project of several tables, all that a name has."""
    found: dict[str, set[str]] = {}
    for project in projects:
        tables = project.document.get("tables")
        for place in (project.document, *(tables.values() if isinstance(tables, Mapping) else ())):
            columns = place.get("columns") if isinstance(place, Mapping) else None
            for name, said in columns.items() if isinstance(columns, Mapping) else ():
                found.setdefault(str(name), set()).add(str(said.get("role") if isinstance(said, Mapping) else said))
    return found
