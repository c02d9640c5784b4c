"""Comparisons of settings, and plans of appointments."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.evaluation import Comparison
from velado.report.formats.comparison import table_of
from velado.service.belongings import source_for
from velado.service.errors import NotFound
from velado.service.masking import masked
from velado.service.store.tables import Job
from velado.service.web import downloads, paged
from velado.service.web.asking import done, job_of
from velado.service.web.call import Call, Called
from velado.service.web.shapes import After, Limit, Listed

router = APIRouter(tags=["results"])
COMPARISONS = ("compare", "balance")
PLANS = ("appointments",)


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


@router.get("/projects/{id}/comparisons")
def list_comparisons(call: Called, id: str, limit: Limit = 100, after: After = None) -> Listed[ResultEntry]:
    """The comparisons and balances of a project, the newest first."""
    with call.reading() as db:
        call.caller.project(db, id, "results.read")
        query = select(Job).where(Job.project_id == id, Job.kind.in_(COMPARISONS))
        return _page(db, query, limit, after)


@router.get("/comparisons/{id}")
def read_comparison(call: Called, id: str) -> ResultAnswer:
    """What a comparison or a balance found."""
    with call.reading() as db:
        job = job_of(db, call, id, COMPARISONS, "results.read")
        seen = "records.read" in call.caller.actions_in(db, str(job.project_id))
    answer = _answer(job)
    return answer if seen else answer.model_copy(update={"result": masked(answer.result, job.kind)})


@router.get("/comparisons/{id}/table", response_class=Response, responses=downloads.answers("text/csv"))
def download_comparison(call: Called, id: str) -> Response:
    """The main figures of every setting as a file, one line each."""
    with call.writing() as db:
        job = job_of(db, call, id, COMPARISONS, "results.read")
        seen = "records.read" in call.caller.actions_in(db, str(job.project_id))
        call.audit(db, "result.read", job.id, kind=job.kind, masked=not seen)
        result = dict(job.result or {})
    found = Comparison.from_dict(result.get("comparison") or result)
    rows = [setting.figures() for setting in found.settings]
    if not seen:
        rows = masked({"evidence": rows, "comparison": {"parameters": list(found.parameters)}}, "balance")["evidence"]
    header, cells = table_of(rows)
    text = io.StringIO()
    csv.writer(text).writerows([header, *cells])
    return Response(text.getvalue().encode(), media_type="text/csv", headers=downloads.headers("comparison.csv"))


@router.get("/plans")
def list_plans(call: Called, limit: Limit = 100, after: After = None) -> Listed[ResultEntry]:
    """The plans of appointments of who asks, the newest first."""
    call.caller.require("account.use")
    with call.reading() as db:
        query = select(Job).where(Job.user_id == call.caller.id, Job.kind.in_(PLANS))
        return _page(db, query, limit, after)


@router.get("/plans/{id}")
def read_plan(call: Called, id: str) -> ResultAnswer:
    """A plan of appointments: its figures, without the people."""
    with call.reading() as db:
        return _answer(_plan(db, call, id, "profile.read"))


@router.get("/plans/{id}/appointments", response_class=Response, responses=downloads.answers("text/csv"))
def download_plan(call: Called, id: str) -> Response:
    """Who has which appointment, as a file."""
    with call.writing() as db:
        job = _plan(db, call, id, "records.read")
        name = (job.result or {}).get("file")
        if not isinstance(name, str) or Path(name).name != name:
            # Planners were compared, and nothing was given out.
            raise NotFound()
        path = call.service.files.attempt(job.id, job.attempt) / name
        if not path.is_file():
            raise NotFound()
        call.audit(db, "plan.download", job.id, bytes=path.stat().st_size)
    return downloads.stream(path, name)


def _plan(db: Db, call: Call, id: str, action: str) -> Job:
    """A plan of the caller's own, on a source that may still be used so."""
    job = db.get(Job, id)
    if job is None or job.kind not in PLANS or job.user_id != call.caller.id or job.source_id is None:
        raise NotFound()
    source_for(db, call.caller, job.source_id, action)
    return done(job)


def _page(db: Db, query: Any, limit: int, after: str | None) -> Listed[ResultEntry]:
    found, following = paged.newest(db, query, Job.created, Job.id, limit, after)
    return Listed(items=[ResultEntry(**_entry(job)) for job in found], next=following)


def _entry(job: Job) -> dict[str, Any]:
    return {
        "id": job.id, "kind": job.kind, "state": job.state, "project": job.project_id, "source": job.source_id,
        "version": job.version, "created": job.created, "finished": job.finished, "parameters": job.parameters,
    }  # fmt: skip


def _answer(job: Job) -> ResultAnswer:
    return ResultAnswer(**_entry(job), result=dict(job.result or {}))
