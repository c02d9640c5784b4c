"""Comparisons of settings, and balances: what was found, and for whom."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.evaluation import Comparison
from velado.report.formats.comparison import table_of
from velado.service.access.redaction import redact_result
from velado.service.comparisons.kept_results import ResultAnswer, ResultEntry, answer, page_of
from velado.service.jobs.quick_jobs import job_of
from velado.service.store.tables import Job
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.schemas import Listed

KINDS = ("compare", "balance")


def list_comparisons(work: UnitOfWork, project: str, limit: int = 100, after: str | None = None) -> Listed[ResultEntry]:
    """The comparisons and balances of a project, the newest first."""
    with work.reading() as db:
        work.caller.project(db, project, "results.read")
        return page_of(db, select(Job).where(Job.project_id == project, Job.kind.in_(KINDS)), limit, after)


def read_comparison(work: UnitOfWork, id: str) -> ResultAnswer:
    """What a comparison or a balance found."""
    with work.reading() as db:
        job, masked = _comparison(db, work, id)
    found = answer(job)
    return found.model_copy(update={"result": redact_result(found.result, job.kind)}) if masked else found


def download_comparison(work: UnitOfWork, id: str) -> list[list[str]]:
    """The main figures of every setting below their heads, one line each; that they are handed out is written down."""
    with work.disclosing() as db:
        job, masked = _comparison(db, work, id)
        work.audit(db, "result.read", job.id, kind=job.kind, masked=masked)
        result = dict(job.result or {})
    found = Comparison.from_dict(result.get("comparison") or result)
    rows = [setting.figures() for setting in found.settings]
    if masked:
        rows = redact_result({"evidence": rows, "comparison": {"parameters": list(found.parameters)}}, "balance")["evidence"]
    header, cells = table_of(rows)
    return [header, *cells]


def _comparison(db: Db, work: UnitOfWork, id: str) -> tuple[Job, bool]:
    """The job that compared, and whether small counts are hidden from who asks."""
    job = job_of(db, work, id, KINDS, "results.read")
    return job, "records.read" not in work.caller.actions_in(db, str(job.project_id))
