"""Projects: made, changed, undone, deleted. Every change is a version, no version is ever changed, and many are kept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, TypeVar

import yaml
from sqlalchemy import delete as delete_rows
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.errors import way_to
from velado.project.yaml_file import DEEPEST, MOST_NODES
from velado.sentences import Sentence
from velado.service.accounts.caller import Caller
from velado.service.documents import check_document, plain_name, references, to_file
from velado.service.errors import Conflict, Invalid, NotFound
from velado.service.files import Files
from velado.service.permissions import OWNER
from velado.service.store.tables import Connection, GroupMember, Job, Member, Project, Source, Upload, Version, now
from velado.service.usable import check_use, only_samples

Document = Mapping[str, Any]
MOST_VERSIONS = 1000
"""Versions of a project that are kept; older ones go with the next change."""


def runnable(project: Project) -> dict[str, Any]:
    """The document of a project as its jobs get it: what says no name is called as the project is."""
    return {"name": project.name, **project.document}


def create(db: Db, caller: Caller, name: str, document: Document) -> Project:
    """A new project, whose owner is the caller."""
    kept = _checked(db, caller, document, None)
    project = Project(name=name, document=kept, samples_only=only_samples(db, kept))
    db.add(project)
    db.flush()
    db.add(Member(project_id=project.id, user_id=caller.id, role=OWNER))
    db.add(Version(project_id=project.id, number=1, document=kept, user_id=caller.id))
    db.flush()
    return project


def change(db: Db, caller: Caller, project: Project, document: Document, name: str | None = None) -> None:
    """A new version of a project that is `locked`; none if nothing is different."""
    kept = _checked(db, caller, document, project)
    if kept == project.document and name in (None, project.name):
        return
    project.name = name or project.name
    _next(db, caller, project, kept)


def undo(db: Db, caller: Caller, project: Project) -> int:
    """A new version with the content before the last change that stands; the number of that change.

    An undo that is undone goes further back: changes are taken back one by one.
    """
    changed = _standing(db, project.id, project.version)
    if changed == 1:
        raise Conflict("nothing-to-undo", "the project is as it was made")
    former = db.get(Version, (project.id, changed - 1))
    if former is None:
        raise Conflict("nothing-to-undo", "what the project was before is not kept any more")
    _next(db, caller, project, _checked(db, caller, former.document, project), undoes=changed)
    return changed


def locked(db: Db, project: Project) -> Project:
    """The project as it is now, held until the end of the transaction: two changes come one after the other."""
    db.refresh(project, with_for_update=True)
    return project


def version(db: Db, project_id: str, number: int) -> Version:
    """A project as it was."""
    found = db.get(Version, (project_id, number))
    if found is None:
        raise NotFound()
    return found


def delete(db: Db, files: Files, project: Project) -> list[Any]:
    """Delete a project with its jobs and releases; the folders to be removed once this is committed."""
    jobs = set(db.scalars(select(Job.id).where(Job.project_id == project.id)))
    folders = [path for job, _, path in files.attempts() if job in jobs]
    db.delete(project)
    db.flush()
    return folders


def check_owned(db: Db, project_id: str) -> None:
    """Raise unless somebody is left who owns the project."""
    owners = select(Member).where(Member.project_id == project_id, Member.role == OWNER)
    for member in db.scalars(owners):
        users = select(GroupMember.user_id).where(GroupMember.group_id == member.group_id).limit(1)
        if member.user_id is not None or db.scalar(users) is not None:
            return
    raise Conflict("last-owner", "a project has an owner", hint="Make somebody else its owner first.")


def as_file(db: Db, caller: Caller, project: Project, format: str) -> str:
    """The project file for people, YAML or JSON; names of what the caller may not see are placeholders."""
    found = to_file(project.document, _names(db, caller, project))
    found = {"velado": found.get("velado", 1), "name": project.name, **found}
    if format == "json":
        return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True)


def _names(db: Db, caller: Caller, project: Project) -> dict[str, Any]:
    """What the things that a project names are called; addresses of databases are for their owners only."""
    named, seen = references(project.document), "profile.read" in caller.actions_in(db, project.id)
    connections = {c.id: c.address for c in _those(db, Connection, named["connections"]) if c.user_id == caller.id}
    sources: dict[str, Any] = {}
    for source in _those(db, Source, named["sources"]):
        own = db.get(Connection, source.connection_id) if source.connection_id else None
        if own is not None and own.user_id == caller.id:
            sources[source.id] = {"address": own.address, "place": source.place}
        elif seen and own is None:
            sources[source.id] = {"name": plain_name(source.name), "options": source.options}
    uploads = {u.id: plain_name(u.name) for u in _those(db, Upload, named["uploads"]) if seen}
    return {"sources": sources, "uploads": uploads, "connections": connections}


Thing = TypeVar("Thing", Connection, Source, Upload)


def _those(db: Db, kind: type[Thing], ids: set[str]) -> list[Thing]:
    return list(db.scalars(select(kind).where(kind.id.in_(ids))))


def _checked(db: Db, caller: Caller, document: Document, project: Project | None) -> dict[str, Any]:
    """A document that can be kept, and names nothing that the caller may not use."""
    kept: dict[str, Any] = plain(document)
    check_document(kept)
    if project is None:
        check_use(db, caller, kept)
    else:
        check_use(db, caller, kept, project.document)
    return kept


def _next(db: Db, caller: Caller, project: Project, document: dict[str, Any], undoes: int | None = None) -> None:
    project.document, project.version, project.changed = document, project.version + 1, now()
    # What it named once may be in its results for ever.
    project.samples_only = project.samples_only and only_samples(db, document)
    made = Version(
        project_id=project.id, number=project.version, document=document, user_id=caller.id, undoes=undoes
    )  # fmt: skip
    db.add(made)
    old = (Version.project_id == project.id, Version.number <= project.version - MOST_VERSIONS)
    db.execute(delete_rows(Version).where(*old))
    db.flush()


def _standing(db: Db, project_id: str, number: int) -> int:
    """The last change that stands at a version: an undo is at the one before what it took back."""
    rows = db.execute(select(Version.number, Version.undoes).where(Version.project_id == project_id))
    undone = {row.number: row.undoes for row in rows}
    while (undoes := undone.get(number)) is not None:
        number = undoes - 1
    return number


def plain(value: Any) -> Any:
    """A document as JSON that every store and every reader takes: whole texts, finite numbers, of bearable size."""
    count = [0]
    return _plain(value, (), count)


def _plain(value: Any, steps: tuple[str | int, ...], count: list[int]) -> Any:
    count[0] += 1
    if len(steps) > DEEPEST or count[0] > MOST_NODES:
        raise _unfit(steps[:5], Sentence("the document is too large or nested too deep"))
    if isinstance(value, Mapping):
        return {_text(str(k), steps): _plain(v, (*steps, str(k)), count) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_plain(v, (*steps, i), count) for i, v in enumerate(value)]
    if isinstance(value, str):
        return _text(value, steps)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, date):
        return value.isoformat()
    raise _unfit(steps, Sentence("this value cannot stand in a document"))


def _text(text: str, steps: tuple[str | int, ...]) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _unfit(steps, Sentence("the text holds half a character")) from None
    if "\0" in text:
        raise _unfit(steps, Sentence("the text holds a null character"))
    return text


def _unfit(steps: Sequence[str | int], message: Sentence) -> Invalid:
    # The names on the way may be what cannot be shown.
    safe = [step if isinstance(step, int) else step.encode(errors="replace").decode() for step in steps]
    return Invalid("bad-document", message, fields={"path": way_to(*safe)})
