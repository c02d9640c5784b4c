"""Plans of appointments: each is of who made it, on a source that may still be used so."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.service.access.ownership import source_for
from velado.service.comparisons.kept_results import ResultAnswer, ResultEntry, answer, page_of
from velado.service.errors import NotFound
from velado.service.jobs.quick_jobs import require_result
from velado.service.store.tables import Job
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.schemas import Listed

KIND = "appointments"


def list_plans(work: UnitOfWork, limit: int = 100, after: str | None = None) -> Listed[ResultEntry]:
    """The plans of appointments of who asks, the newest first."""
    work.caller.require("account.use")
    with work.reading() as db:
        return page_of(db, select(Job).where(Job.user_id == work.caller.id, Job.kind == KIND), limit, after)


def read_plan(work: UnitOfWork, id: str) -> ResultAnswer:
    """A plan of appointments: its figures, without the people."""
    with work.reading() as db:
        return answer(_plan(db, work, id, "profile.read"))


def download_plan(work: UnitOfWork, id: str) -> Path:
    """The file that says who has which appointment; that it is handed out is written down."""
    with work.disclosing() as db:
        job = _plan(db, work, id, "records.read")
        name = (job.result or {}).get("file")
        if not isinstance(name, str) or Path(name).name != name:
            # Planners were compared, and nothing was given out.
            raise NotFound()
        path = work.service.files.attempt(job.id, job.attempt) / name
        if not path.is_file():
            raise NotFound()
        work.audit(db, "plan.download", job.id, bytes=path.stat().st_size)
    return path


def _plan(db: Db, work: UnitOfWork, id: str, action: str) -> Job:
    job = db.get(Job, id)
    if job is None or job.kind != KIND or job.user_id != work.caller.id or job.source_id is None:
        raise NotFound()
    source_for(db, work.caller, job.source_id, action)
    return require_result(job)
