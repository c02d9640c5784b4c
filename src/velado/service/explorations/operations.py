"""Explorations of the lattice of a project: all nodes, one node, paths, and the release of a chosen one."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.questions.exploration import Levels, path_between
from velado.results import Discreet
from velado.service.access.allowed_references import check_use
from velado.service.access.redaction import redact_result
from velado.service.errors import Forbidden
from velado.service.explorations import nodes
from velado.service.explorations.schemas import ExplorationAnswer, ExplorationEntry, NodeEntry, NodeList, PathAnswer
from velado.service.jobs.queue import ENDED
from velado.service.jobs.quick_jobs import JobBegun, job_of, job_receipt, of_project
from velado.service.jobs.waiting import wait_for
from velado.service.store.tables import Job
from velado.service.unit_of_work import UnitOfWork
from velado.service.web import paging
from velado.service.web.schemas import Listed

KIND = "explore"
SECONDS = 60.0
ABOUT = ("columns", "levels", "rows", "limit", "objective", "person", "models")


@dataclass(frozen=True, repr=False)
class Exploration(Discreet):
    """An exploration that is done; ``masked``: small counts are hidden from who asks."""

    job: Job
    head: dict[str, Any]
    folder: Path
    masked: bool

    def describe(self) -> ExplorationAnswer:
        """What it is about, without its nodes."""
        about = {key: self.head[key] for key in ABOUT} | {"method": self.head.get("method")}
        best = (self.head.get("optimal") or {}).get("levels")
        labels = self.head.get("labels", {})
        return ExplorationAnswer(**_entry(self.job), **about, labels=labels, optimal=best, masked=self.masked)

    def vector(self, text: str, path: str = "levels") -> Levels:
        """A level vector such as ``1,0,2`` of its lattice."""
        return nodes.vector(text, self.head, path)

    def list_nodes(
        self,
        wanted: nodes.Filter,
        sort: str = "levels",
        top: int | None = None,
        *,
        descending: bool = False,
        first: int = 0,
        limit: int = 100,
    ) -> NodeList:
        """The nodes that are wanted, in order, page by page."""
        seen = nodes.table_of(self.folder, masked=self.masked)
        table = nodes.select_nodes(seen, self.head, wanted, sort, top, descending=descending)
        items = [NodeEntry(**item) for item in nodes.rows(table.slice(first, limit), self.head)]
        following = str(first + limit) if first + limit < table.num_rows else None
        return NodeList(items=items, next=following, total=table.num_rows)

    def find_path(self, end: Levels, start: Levels | None = None) -> PathAnswer:
        """A shortest way from a node (else from the bottom of the lattice) to another, with their distance vector."""
        found = path_between((0,) * len(end) if start is None else start, end)
        return PathAnswer.model_validate(found, from_attributes=True)


def list_explorations(work: UnitOfWork, project: str, limit: int = 100, after: str | None = None) -> Listed[ExplorationEntry]:
    """The explorations of a project, the newest first."""
    with work.reading() as db:
        work.caller.project(db, project, "results.read")
        query = select(Job).where(Job.project_id == project, Job.kind == KIND)
        found, following = paging.newest(db, query, Job.created, Job.id, limit, after)
        return Listed(items=[ExplorationEntry(**_entry(job)) for job in found], next=following)


def open_exploration(work: UnitOfWork, id: str) -> Exploration:
    """An exploration that is done, to be looked at."""
    with work.reading() as db:
        return _exploration(db, work, id)


def read_node(
    work: UnitOfWork,
    id: str,
    levels: str,
    *,
    offset: int,
    limit: int,
    records: int,
    l: int,  # noqa: E741
) -> dict[str, Any]:
    """One node with its classes and their figures, and example rows for who may read records; a worker counts them."""
    with work.asking() as db:
        found = _exploration(db, work, id)
        job, at = found.job, found.vector(levels)
        project = work.caller.project(db, str(job.project_id), "results.read")
        table = {"table": found.head["table"]} if found.head.get("table") else {}
        parameters = {
            "exploration": job.id,
            "levels": list(at),
            "l": l,
            "offset": offset,
            "limit": limit,
            "records": records,
            **table,
        }
        if found.masked and records:
            raise Forbidden("records.read")
        # As for a release of it: what the project names no more is not looked at again.
        check_use(db, work.caller, job.document or {}, project.document)
        asked = of_project(db, work, "node", project, parameters, document=job.document, version=job.version, quick=True)
        if records:
            work.audit(db, "records.read", job.id, rows=records)
    result = wait_for(work, asked.id, SECONDS, values=not found.masked)
    return redact_result(result, "node") if found.masked else result


def release_node(work: UnitOfWork, id: str, levels: str) -> JobBegun:
    """Release the table at the levels of a node: a job that runs the explored project with them."""
    with work.writing() as db:
        found = _exploration(db, work, id, "jobs.release")
        at = found.vector(levels)
        project = work.caller.project(db, str(found.job.project_id), "jobs.release")
        document = nodes.with_fixed_levels(found.job.document or {}, found.head, at)
        # What the project names no more must not come back through an old exploration.
        check_use(db, work.caller, document, project.document)
        made = of_project(db, work, "run", project, document=document, version=found.job.version)
        work.audit(db, "job.submit", made.id, kind="run", project=project.id)
    return job_receipt(made)


def _exploration(db: Db, work: UnitOfWork, id: str, action: str = "results.read") -> Exploration:
    job = job_of(db, work, id, (KIND,), action)
    masked = "records.read" not in work.caller.actions_in(db, str(job.project_id))
    return Exploration(job, dict(job.result or {}), work.service.files.attempt(job.id, job.attempt), masked)


def _entry(job: Job) -> dict[str, Any]:
    result = job.result or {}
    return {
        "id": job.id,
        "version": job.version,
        "state": job.state,
        "created": job.created,
        "finished": job.finished,
        "table": job.parameters.get("table"),
        "nodes": prod(result.get("levels", ())) if job.state == "done" else None,
        "counts": result.get("counts", {}) if job.state in ENDED else {},
    }
