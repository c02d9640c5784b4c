"""How the store keeps projects: every change is a version, no version is ever changed, and many are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete as delete_rows
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service.access.allowed_references import check_use, only_samples
from velado.service.access.caller import Caller
from velado.service.access.permissions import OWNER
from velado.service.access.redaction import redact_document
from velado.service.errors import Conflict
from velado.service.projects.document_checks import check_document, check_size
from velado.service.projects.plain_document import plain
from velado.service.store.tables import Member, Project, Version, now

Document = Mapping[str, Any]
MASKED = Sentence("Values that you may not see are left out: those that hierarchies and substitutions list.")
MOST_VERSIONS = 1000
"""Versions of a project that are kept; older ones go with the next change."""


def runnable(project: Project) -> dict[str, Any]:
    """The document of a project as its jobs get it: what says no name is called as the project is."""
    return {"name": project.name, **project.document}


WHOLE = frozenset(("records.read", "project.edit"))
"""Who may do one of these is shown documents as they are: values of the table may stand in them, and who changes one must see
it. Whoever is shown a masked one can therefore not save it over the whole one."""


def visible_document(db: Db, caller: Caller, project: Project, document: Document | None = None) -> tuple[dict[str, Any], bool]:
    """The document of a project, or an earlier one, as the caller may see it, and whether anything is left out of it."""
    found = dict(project.document if document is None else document)
    if caller.actions_in(db, project.id) & WHOLE:
        return found, False
    told = redact_document(found)
    return told, told != found


def create(db: Db, caller: Caller, name: str, document: Document) -> Project:
    """A new project, whose owner is the caller."""
    kept = _validate(db, caller, document, None)
    project = Project(name=name, document=kept, samples_only=only_samples(db, kept))
    db.add(project)
    db.flush()
    db.add(Member(project_id=project.id, user_id=caller.id, role=OWNER))
    db.add(Version(project_id=project.id, number=1, document=kept, user_id=caller.id, bytes=size_of(kept)))
    db.flush()
    return project


def change(db: Db, caller: Caller, project: Project, document: Document, name: str | None = None) -> bool:
    """A new version of a project that `lock_project` returned; False: nothing is different, and none is made."""
    kept = _validate(db, caller, document, project)
    if kept == project.document and name in (None, project.name):
        return False
    project.name = name or project.name
    _next(db, caller, project, kept)
    return True


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
    _next(db, caller, project, _validate(db, caller, former.document, project), undoes=changed)
    return changed


def lock_project(db: Db, project: Project) -> Project:
    """The project as it is now, held until the end of the transaction: two changes come one after the other."""
    db.refresh(project, with_for_update=True)
    return project


def _validate(db: Db, caller: Caller, document: Document, project: Project | None) -> dict[str, Any]:
    """A document that can be kept, and names nothing that the caller may not use."""
    kept: dict[str, Any] = plain(document)
    check_document(kept)
    check_size(kept)
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
        project_id=project.id, number=project.version, document=document, user_id=caller.id, undoes=undoes, bytes=size_of(document)
    )
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


def size_of(document: Any) -> int:
    """The bytes that a document takes in the store."""
    return len(json.dumps(document))
