"""Jobs whose result is kept: comparisons, balances, plans of appointments."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy.orm import Session as Db

from velado.service.store.tables import Job
from velado.service.web import paging
from velado.service.web.schemas import Listed


class ResultEntry(BaseModel):
    """A job whose result is kept."""

    id: str
    kind: str
    state: str
    project: str | None
    source: str | None
    version: int | None
    created: datetime
    finished: datetime | None
    parameters: dict[str, Any]


class ResultAnswer(ResultEntry):
    """A job with its result."""

    result: dict[str, Any]


def page_of(db: Db, query: Any, limit: int, after: str | None) -> Listed[ResultEntry]:
    """A page of jobs, the newest first."""
    found, following = paging.newest(db, query, Job.created, Job.id, limit, after)
    return Listed(items=[ResultEntry(**_entry(job)) for job in found], next=following)


def answer(job: Job) -> ResultAnswer:
    """A job with its whole result."""
    return ResultAnswer(**_entry(job), result=dict(job.result or {}))


def _entry(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "project": job.project_id,
        "source": job.source_id,
        "version": job.version,
        "created": job.created,
        "finished": job.finished,
        "parameters": job.parameters,
    }
