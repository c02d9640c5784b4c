"""Jobs that resources submit themselves: questions whose answer they wait for, and releases of a chosen node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Db

from velado.service.errors import Conflict, NotFound
from velado.service.jobs import queue
from velado.service.projects.document_checks import references
from velado.service.projects.versions import runnable
from velado.service.store.tables import Job, Project, Secret, Source
from velado.service.unit_of_work import UnitOfWork


class JobBegun(BaseModel):
    """A job that was submitted; its state is at ``/api/v1/jobs/{job}``."""

    job: str
    kind: str
    state: str


def of_project(
    db: Db,
    work: UnitOfWork,
    kind: str,
    project: Project,
    parameters: Mapping[str, Any] | None = None,
    *,
    document: Mapping[str, Any] | None = None,
    version: int | None = None,
    release: str | None = None,
    quick: bool = False,
) -> Job:
    """Submit a job about a project as it is, or about another document of it; a question that is being answered is not asked again."""
    asked = _being_answered(db, work, kind, project, parameters or {}) if quick and document is None else None
    if asked is not None:
        return asked
    return queue.submit(
        db,
        work.settings(db),
        kind,
        work.caller.id,
        parameters or {},
        project_id=project.id,
        version=version or project.version,
        document=document or runnable(project),
        release_id=release,
        quick=quick,
    )


def _being_answered(db: Db, work: UnitOfWork, kind: str, project: Project, parameters: Mapping[str, Any]) -> Job | None:
    """The caller's own question of this kind about this version that waits or is worked at."""
    same = (Job.user_id == work.caller.id, Job.project_id == project.id, Job.version == project.version, Job.kind == kind)
    asked = db.scalars(select(Job).where(Job.state.in_(("queued", "running")), Job.quick, ~Job.asked, *same))
    return next((one for one in asked if one.parameters == parameters), None)


def earlier_answer(db: Db, project: Project, kind: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    """The answer to the same question about this version, unless a secret or a table of it is newer."""
    done = select(Job).where(Job.project_id == project.id, Job.kind == kind, Job.version == project.version)
    found = db.scalars(done.where(Job.state == "done").order_by(Job.created.desc()).limit(20))
    job = next((one for one in found if one.parameters == (parameters or {})), None)
    if job is None:
        return None
    sources = references(project.document)["sources"]
    there = set(db.scalars(select(Source.id).where(Source.id.in_(sources), Source.state != "deleted")))
    secret = db.scalar(select(func.max(Secret.created)).where(Secret.project_id == project.id))
    inspected = db.scalar(select(func.max(Job.created)).where(Job.source_id.in_(sources), Job.kind == "inspect"))
    newer = [moment for moment in (secret, inspected) if moment is not None and moment > job.created]
    return None if newer or there != sources else job.result


def job_of(db: Db, work: UnitOfWork, id: str, kinds: Sequence[str], action: str) -> Job:
    """A job of one of these kinds that is done, in a project where an action is allowed."""
    job = db.get(Job, id)
    if job is None or job.kind not in kinds or job.project_id is None:
        raise NotFound()
    work.caller.project(db, job.project_id, action)
    return require_result(job)


def require_result(job: Job) -> Job:
    """Raise unless a job has a result."""
    if job.state != "done":
        raise Conflict(
            "job-not-done",
            "the job is not done",
            hint="GET /api/v1/jobs/ID tells its state, and why it failed.",
            fields={"state": job.state},
        )
    return job


def job_receipt(job: Job) -> JobBegun:
    """What is answered at once."""
    return JobBegun(job=job.id, kind=job.kind, state=job.state)
