"""From a job of the queue to the task of its process: what the job may use, and nothing else.

What the saved project names may be used by its jobs, since whoever put it there was allowed to. What only the job's own
document or parameters name must be the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service.access.allowed_references import is_usable_in
from velado.service.access.caller import Caller
from velado.service.access.ownership import actions_on
from velado.service.errors import Forbidden, NotFound
from velado.service.files import Files
from velado.service.jobs.kinds import Kind
from velado.service.jobs.running_job import QUESTION_SECONDS
from velado.service.jobs.task import Task
from velado.service.projects.document_checks import outputs, references
from velado.service.settings import Settings
from velado.service.store.tables import Connection, Job, Project, Release, Secret, Source, Upload, User, Version, now

COPY = "copy.parquet"
"""The copy of a source to page through, in the folder of the job that makes it."""
NAMED = re.compile(r"(?:upload:)?([0-9a-f]{24})")


def build(db: Db, files: Files, settings: Settings, job: Job, kind: Kind) -> Task:
    """The task of a job that was claimed; what it uses is marked as used."""
    caller = _caller(db, job)
    things = _Things(db, files, job, caller, _saved_document(db, job, kind, caller))
    return Task(
        job.id,
        job.attempt,
        job.kind,
        files.attempt(job.id, job.attempt),
        job.parameters,
        job.document,
        things.collect(),
        limits(settings, kind),
        kind.work,
        job.project_id,
        job.source_id,
        key(job),
    )


def take_copy(db: Db, files: Files, task: Task) -> None:
    """Put the copy of a source that a job made to where pages are read from, unless the source was deleted meanwhile."""
    made = task.folder / COPY
    source = db.get(Source, task.source) if task.source else None
    if source is not None and source.state != "deleted" and made.is_file():
        made.replace(files.copy(source.id))


def limits(settings: Settings, kind: Kind) -> dict[str, int]:
    """What a job of a kind may use."""
    return {
        "memory": settings.job_memory,
        "seconds": QUESTION_SECONDS if kind.quick else settings.job_seconds,
        "bytes": settings.job_bytes,
        "expanded_bytes": settings.expanded_bytes,
    }


def key(job: Job) -> str:
    """What a warm process remembers things for: a version of a project, a source or a connection."""
    if job.project_id is not None:
        return f"project:{job.project_id}:{job.version}"
    if job.source_id is not None:
        return f"source:{job.source_id}"
    return f"connection:{job.parameters.get('connection', job.id)}"


def _caller(db: Db, job: Job) -> Caller:
    """Who submitted a job; raises if they may not sign in any more."""
    user = db.get(User, job.user_id) if job.user_id else None
    if user is None or not user.active:
        raise NotFound()
    return Caller(user.id, user.name, tuple(user.roles))


def _saved_document(db: Db, job: Job, kind: Kind, caller: Caller) -> Mapping[str, Any]:
    """The project of a job as it was saved; raises if the caller may not submit such a job there any more."""
    if job.project_id is None:
        return {}
    project = db.get(Project, job.project_id)
    granted = frozenset[str]() if project is None else caller.actions_by_role(db, project.id)
    if project is None or not granted:
        raise NotFound()
    if kind.action not in granted:
        raise Forbidden(kind.action)
    version = db.get(Version, (project.id, job.version)) if job.version else None
    return project.document if version is None else version.document


class _Things:
    """What a job may use, looked up."""

    def __init__(self, db: Db, files: Files, job: Job, caller: Caller, saved: Mapping[str, Any]) -> None:
        self.db, self.files, self.job, self.caller = db, files, job, caller
        self.trusted = references(saved)
        self.written = outputs(saved)
        self.named = references(job.document or {})
        self.parameters = set(_ids(job.parameters))

    def collect(self) -> dict[str, Any]:
        """All of it, as the task says it."""
        sources = self.named["sources"] | self.parameters | ({self.job.source_id} if self.job.source_id else set())
        return {
            "sources": {id: thing for id in sorted(sources) if (thing := self._source(id))},
            "uploads": {id: thing for id in sorted(self.named["uploads"] | self.parameters) if (thing := self._upload(id))},
            "connections": {
                id: thing for id in sorted(self.named["connections"] | self.parameters) if (thing := self._connection(id))
            },
            "secrets": self._secrets(),
            "jobs": {id: thing for id in sorted(self.parameters) if (thing := self._job(id))},
            "release": self._release(),
            "copy": self._copy(),
        }

    def _copy(self) -> str | None:
        """Where to make a copy of the job's source; tables of databases are read where they are."""
        source = self.db.get(Source, self.job.source_id) if self.job.source_id else None
        if source is None or source.kind == "connection":
            return None
        return str(self.files.attempt(self.job.id, self.job.attempt) / COPY)

    def _source(self, id: str) -> dict[str, Any] | None:
        source = self.db.get(Source, id)
        if source is None or source.state == "deleted":
            return None
        about = id == self.job.source_id and bool(actions_on(self.db, self.caller, source))
        if not (source.user_id == self.caller.id or self._is_shared(source) or about):
            return None
        source.used = now()
        thing: dict[str, Any] = {
            "kind": source.kind,
            "name": source.name,
            "options": source.options,
            "place": source.place,
            "copied": source.copied,
            "copy": str(self.files.copy(id)),
        }
        upload = self.db.get(Upload, source.upload_id) if source.upload_id else None
        if upload is not None:
            upload.used = now()
            thing |= {"path": str(self.files.upload(upload.id)), "name": upload.name, "upload": upload.id}
        connection = self.db.get(Connection, source.connection_id) if source.connection_id else None
        if connection is not None:
            thing |= {"connection": connection.id, **_use_connection(connection)}
        return thing

    def _is_shared(self, source: Source) -> bool:
        """Whether the saved project names a source, and its owner is there."""
        named = source.id in self.trusted["sources"] and self.job.project_id is not None
        return named and is_usable_in(self.db, source, str(self.job.project_id))

    def _upload(self, id: str) -> dict[str, Any] | None:
        upload = self.db.get(Upload, id)
        if upload is None or upload.state != "complete":
            return None
        if not (upload.user_id == self.job.user_id or id in self.trusted["uploads"]):
            return None
        upload.used = now()
        return {"path": str(self.files.upload(id)), "name": upload.name}

    def _connection(self, id: str) -> dict[str, Any] | None:
        """A connection of the user's own, or one into which the saved project writes the very same table."""
        connection = self.db.get(Connection, id)
        if connection is None:
            return None
        said = [one for one in outputs(self.job.document or {}) if one.get("connection") == id]
        kept = id in self.trusted["connections"] and id not in self.parameters and all(o in self.written for o in said)
        if connection.user_id != self.job.user_id and not kept:
            return None
        return _use_connection(connection)

    def _secrets(self) -> dict[str, str]:
        names = self.named["secrets"]
        if self.job.project_id is None or not names:
            return {}
        of = (Secret.project_id == self.job.project_id, Secret.name.in_(sorted(names)))
        return {secret.name: secret.sealed for secret in self.db.scalars(select(Secret).where(*of))}

    def _job(self, id: str) -> dict[str, Any] | None:
        """An earlier job of the same project (or, without one, of the same user), with the files of its result."""
        job = self.db.get(Job, id)
        if job is None or job.state != "done" or job.project_id != self.job.project_id:
            return None
        return None if job.project_id is None and job.user_id != self.job.user_id else self._files_of(job)

    def _release(self) -> dict[str, Any] | None:
        release = self.db.get(Release, self.job.release_id) if self.job.release_id else None
        made = None if release is None else self.db.get(Job, release.job_id)
        if release is None or made is None or release.project_id != self.job.project_id:
            return None
        more = {"id": release.id, "summary": release.summary, "manifest": release.manifest, "place": release.place}
        return {**self._files_of(made), **more}

    def _files_of(self, job: Job) -> dict[str, Any]:
        return {
            "job": job.id,
            "kind": job.kind,
            "folder": str(self.files.attempt(job.id, job.attempt)),
            "result": job.result,
            "document": job.document,
            "version": job.version,
        }


def _use_connection(connection: Connection) -> dict[str, Any]:
    connection.used = now()
    return {"address": connection.address, "sealed": connection.secret}


def _ids(value: Any) -> Iterator[str]:
    """All ids that stand somewhere in parameters."""
    if isinstance(value, str):
        found = NAMED.fullmatch(value)
        if found:
            yield found[1]
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _ids(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _ids(inner)
