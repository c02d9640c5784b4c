"""Jobs that callers submit: what each kind is about, whether the caller may, and whether its parameters are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ValidationError
from sqlalchemy.orm import Session as Db

from velado.errors import suggest
from velado.results import Discreet
from velado.sentences import Sentence
from velado.service.access.allowed_references import check_use
from velado.service.access.ownership import own, source_for
from velado.service.access.permissions import scope_actions
from velado.service.errors import Conflict, Forbidden, Invalid, NotFound
from velado.service.explorations.nodes import with_method
from velado.service.jobs import queue
from velado.service.jobs.kinds import KINDS, Kind
from velado.service.projects.document_checks import check_document
from velado.service.projects.versions import runnable
from velado.service.store.tables import Connection, Job, Release
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.validation import invalid

SUBJECTS = ("project", "source", "release", "connection")


@dataclass(repr=False)
class Subject(Discreet):
    """What a job is about."""

    NAMES: ClassVar[tuple[str, ...]] = ("project_id", "source_id", "release_id")
    project_id: str | None = None
    version: int | None = None
    document: Mapping[str, Any] | None = None
    source_id: str | None = None
    release_id: str | None = None
    connection_id: str | None = None


def submit(db: Db, work: UnitOfWork, name: str, about: Mapping[str, str | None], parameters: Mapping[str, Any]) -> Job:
    """Put a job into the queue."""
    kind = _kind(name)
    subject = _subject(db, work, kind, about)
    given = check_parameters(kind, {**parameters, **({"connection": subject.connection_id} if subject.connection_id else {})})
    check_probing(db, work, kind, subject.project_id, given)
    if kind.name == "explore" and given.get("method") is not None:
        # The document of the job is what was explored: nodes are looked at, and released, by it.
        subject.document = with_method(subject.document or {}, given.get("table"), given["method"])
        check_document(subject.document)
    return queue.submit(
        db,
        work.settings(db),
        kind.name,
        work.caller.id,
        given,
        project_id=subject.project_id,
        version=subject.version,
        document=subject.document,
        source_id=subject.source_id,
        release_id=subject.release_id,
        quick=kind.quick,
    )


def check_probing(db: Db, work: UnitOfWork, kind: Kind, project_id: str | None, parameters: Mapping[str, Any]) -> None:
    """Raise if a question asks about values of the caller's own choice in a project whose records they may not read."""
    asked = any(parameters.get(name) is not None for name in kind.probing)
    if asked and project_id is not None and "records.read" not in work.caller.actions_in(db, project_id):
        raise Forbidden("records.read")


def _kind(name: str) -> Kind:
    kind = KINDS.get(name)
    if kind is None:
        message = Sentence("there is no kind of job '{kind}'", kind=name[:60])
        raise Invalid("unknown-kind", message, hint=suggest(name, KINDS), fields={"path": "kind"})
    return kind


def _subject(db: Db, work: UnitOfWork, kind: Kind, about: Mapping[str, str | None]) -> Subject:
    given = {name for name in SUBJECTS if about.get(name) is not None}
    wanted = set() if kind.about == "nothing" else {kind.about}
    for name in sorted(given ^ wanted):
        message = (
            Sentence("a job of the kind '{kind}' needs the id of a {subject}", kind=kind.name, subject=name)
            if name in wanted
            else Sentence("a job of the kind '{kind}' is not about a {subject}", kind=kind.name, subject=name)
        )
        raise Invalid("bad-request", message, fields={"path": name})
    return _FOUND[kind.about](db, work, kind, about.get(kind.about) or "")


def check_retry(db: Db, work: UnitOfWork, job: Job) -> None:
    """Raise unless the caller may submit a job like this one."""
    kind = _kind(job.kind)
    if job.project_id is not None:
        project = work.caller.project(db, job.project_id, kind.action)
        check_probing(db, work, kind, project.id, job.parameters)
        # What the project names no more must not come back through an old job.
        check_use(db, work.caller, job.document or {}, project.document)
    elif job.user_id != work.caller.id:
        raise Forbidden(kind.action)
    elif job.source_id is not None:
        source_for(db, work.caller, job.source_id, kind.action)
    elif kind.about == "nothing":
        work.caller.require(kind.action)
    elif kind.action not in scope_actions(work.caller.scopes):
        raise Forbidden(kind.action)


def _of_project(db: Db, work: UnitOfWork, kind: Kind, id: str) -> Subject:
    project = work.caller.project(db, id, kind.action)
    check_document(project.document)
    return Subject(project.id, project.version, runnable(project))


def _of_release(db: Db, work: UnitOfWork, kind: Kind, id: str) -> Subject:
    release = db.get(Release, id)
    if release is None:
        raise NotFound()
    work.caller.project(db, release.project_id, kind.action)
    if release.state == "withdrawn":
        raise Conflict("release-withdrawn", "the release was withdrawn")
    made = db.get(Job, release.job_id)
    return Subject(release.project_id, release.version, None if made is None else made.document, release_id=release.id)


def _of_source(db: Db, work: UnitOfWork, kind: Kind, id: str) -> Subject:
    source, _ = source_for(db, work.caller, id, kind.action)
    if source.state == "deleted":
        raise NotFound()
    return Subject(source_id=source.id)


def _of_connection(db: Db, work: UnitOfWork, kind: Kind, id: str) -> Subject:
    return Subject(connection_id=own(db, work.caller, Connection, id, kind.action).id)


def _of_nothing(db: Db, work: UnitOfWork, kind: Kind, id: str) -> Subject:
    work.caller.require(kind.action)
    return Subject()


_FOUND = {
    "project": _of_project,
    "release": _of_release,
    "source": _of_source,
    "connection": _of_connection,
    "nothing": _of_nothing,
}


def check_parameters(kind: Kind, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as the kind describes them, with its defaults; all that is wrong is told with its path, without values."""
    try:
        return kind.parameters.model_validate(dict(parameters)).model_dump(mode="json", exclude_unset=True)
    except ValidationError as error:
        raise invalid(error.errors(include_url=False, include_input=False), "parameters") from None
