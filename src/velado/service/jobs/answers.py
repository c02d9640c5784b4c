"""What is told of a job, and to whom: all of it to its people, its state to who keeps the service running."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import or_, select
from sqlalchemy.orm import Session as Db

from velado.i18n.language import language
from velado.sentences import Sentence
from velado.service.access.allowed_references import member_projects
from velado.service.access.caller import Caller
from velado.service.access.ownership import actions_on
from velado.service.access.permissions import PROJECT, scope_actions
from velado.service.access.redaction import redact_error
from velado.service.errors import Forbidden, NotFound
from velado.service.jobs import failure_messages
from velado.service.store.tables import Job, JobLine, Member, Source
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.problems import ProblemPart

READ = "jobs.read"


class StepAnswer(BaseModel):
    """Where a job is: its stage, in words, the share of the whole that is done, ``done`` of ``total`` things of the stage."""

    stage: str
    text: str
    share: float
    done: int | None = None
    total: int | None = None


class JobProblem(ProblemPart):
    """Why a job failed. ``fields.nearest`` of ``no-solution`` are the nearest settings that have one."""

    others: list[ProblemPart] = Field(default_factory=list)


class JobAnswer(BaseModel):
    """A job. ``state``: queued, running, done, failed, cancelled; ``cancelling``: somebody asked it to end.

    To who may only see that there is a job, ``parameters``, ``step`` and ``error`` are null.
    """

    id: str
    kind: str
    state: str
    cancelling: bool = False
    project: str | None = None
    version: int | None = None
    source: str | None = None
    release: str | None = None
    user: str | None = None
    attempt: int
    created: datetime
    started: datetime | None = None
    finished: datetime | None = None
    parameters: dict[str, Any] | None = None
    step: StepAnswer | None = None
    error: JobProblem | None = None


class LineAnswer(BaseModel):
    """A line of the log of a job."""

    number: int
    created: datetime
    event: str
    text: str
    detail: dict[str, Any] = Field(default_factory=dict)


def sees(db: Db, caller: Caller, job: Job) -> bool | None:
    """Whether the caller sees all of a job, or only that it is there; None: nothing."""
    mine = job.user_id == caller.id
    whole = mine if job.project_id is None else READ in caller.actions_by_role(db, job.project_id)
    return whole if whole or mine or caller.may("jobs.manage") else None


def find(db: Db, caller: Caller, id: str) -> tuple[Job, bool]:
    """A job that the caller may see, and whether all of it."""
    job = db.get(Job, id)
    whole = None if job is None else sees(db, caller, job)
    if job is None or whole is None:
        raise NotFound()
    scope = READ in scope_actions(caller.scopes)
    if not scope and not caller.may("jobs.manage"):
        raise Forbidden(READ)
    return job, whole and scope


def visible(caller: Caller) -> Any:
    """The jobs that the caller may see, without questions."""
    query = select(Job).where(Job.quick.is_(False))
    if caller.may("jobs.manage"):
        return query
    if READ not in scope_actions(caller.scopes):
        raise Forbidden(READ)
    projects = member_projects(caller).where(Member.role.in_(PROJECT[READ]))
    return query.where(or_(Job.user_id == caller.id, Job.project_id.in_(projects)))


def values_too(db: Db, caller: Caller, job: Job) -> bool:
    """Whether the caller may see values of the table that a job is about."""
    if job.project_id is not None:
        return "records.read" in caller.actions_in(db, job.project_id)
    source = db.get(Source, job.source_id) if job.source_id else None
    if source is not None:
        return "records.read" in actions_on(db, caller, source)
    return job.user_id == caller.id


def answer(db: Db, work: UnitOfWork, job: Job, whole: bool) -> JobAnswer:
    """A job in the language of who asks."""
    told = JobAnswer(
        id=job.id,
        kind=job.kind,
        state=job.state,
        cancelling=job.asked and job.state == "running",
        project=job.project_id,
        version=job.version,
        source=job.source_id,
        release=job.release_id,
        user=job.user_id,
        attempt=job.attempt,
        created=job.created,
        started=job.started,
        finished=job.finished,
    )
    if whole:
        values = values_too(db, work.caller, job)
        # What a question is about may be values of the table: those of a hierarchy that is tried.
        told.parameters = job.parameters if values or not job.quick or job.user_id == work.caller.id else None
        told.step = _step(job, work.language)
        told.error = None if job.error is None else _error(job.error, work.language, values)
    return told


def _step(job: Job, code: str) -> StepAnswer | None:
    if not job.step:
        return None
    return StepAnswer(**job.step, text=language(code).label("stage", job.step["stage"]))


def _error(kept: dict[str, Any], code: str, values: bool) -> JobProblem:
    said = failure_messages.translate_error(kept if values else redact_error(kept), code)
    return JobProblem(**_part(said), others=[ProblemPart(**_part(other)) for other in said.get("others", [])])


def _part(said: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {key: said[key] for key in ("code", "message", "hint", "column", "fields") if key in said}
    if "values" in said:
        kept["fields"] = {**kept.get("fields", {}), "values": said["values"]}
    return kept


EVENTS = {
    "submitted": Sentence("submitted"),
    "started": Sentence("started"),
    "done": Sentence("done"),
    "failed": Sentence("failed"),
    "cancelled": Sentence("cancelled"),
    "lost": Sentence("broken off"),
    "retried": Sentence("to be tried again"),
}


def line(one: JobLine, code: str) -> LineAnswer:
    """A line of a log in a language."""
    if one.event == "stage":
        text = language(code).label("stage", str(one.detail.get("stage", "")))
    else:
        text = EVENTS[one.event].into(code)
    return LineAnswer(number=one.number, created=one.created, event=one.event, text=text, detail=one.detail)
