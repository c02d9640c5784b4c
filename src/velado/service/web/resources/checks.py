"""What is wrong with a project: all of it at once, in the language of who asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Db

from velado.service import masking
from velado.service.documents import references
from velado.service.jobs import failures
from velado.service.store.tables import Job, Project, Secret, Source
from velado.service.web.asking import of_project
from velado.service.web.call import Call, Called
from velado.service.web.problems import ProblemPart
from velado.service.web.waiting import wait_for

router = APIRouter(tags=["projects"])
KIND = "checks"
SECONDS = 60.0


class ChecksAnswer(BaseModel):
    """The problems of a version. ``fields.path`` says where in the document each is; none: the project can run."""

    version: int
    ready: bool
    problems: list[ProblemPart]
    notes: list[ProblemPart] = Field(default_factory=list)


@router.get("/projects/{id}/checks")
def check_project(call: Called, id: str) -> ChecksAnswer:
    """Everything that is wrong with a project, its table included."""
    with call.reading() as db:
        project = call.caller.project(db, id, "profile.read")
        values = "records.read" in call.caller.actions_in(db, id)
        version, result = project.version, _known(db, project)
    if result is None:
        with call.writing() as db:
            project = call.caller.project(db, id, "profile.read")
            version = project.version
            job = of_project(db, call, KIND, project, quick=True)
        result = wait_for(call, job.id, SECONDS, values=values)
    return _answer(call, version, result, values)


def _known(db: Db, project: Project) -> dict[str, Any] | None:
    """The result for this version, unless a secret or a table of it is newer."""
    done = select(Job).where(Job.project_id == project.id, Job.kind == KIND, Job.version == project.version)
    job = db.scalars(done.where(Job.state == "done").order_by(Job.created.desc()).limit(1)).first()
    if job is None:
        return None
    sources = references(project.document)["sources"]
    there = set(db.scalars(select(Source.id).where(Source.id.in_(sources), Source.state != "deleted")))
    secret = db.scalar(select(func.max(Secret.created)).where(Secret.project_id == project.id))
    inspected = db.scalar(select(func.max(Job.created)).where(Job.source_id.in_(sources), Job.kind == "inspect"))
    newer = [moment for moment in (secret, inspected) if moment is not None and moment > job.created]
    return None if newer or there != sources else job.result


def _answer(call: Call, version: int, result: Mapping[str, Any], values: bool) -> ChecksAnswer:
    told = result if values else masking.masked(result, KIND)
    found = [_part(one, call.language) for one in told.get("problems", [])]
    return ChecksAnswer(version=version, ready=not found, problems=found)


def _part(kept: Mapping[str, Any], language: str) -> ProblemPart:
    said = failures.said(kept, language)
    if "values" in said:
        said["fields"] = {**said.get("fields", {}), "values": said.pop("values")}
    return ProblemPart(**{key: said[key] for key in ("code", "message", "hint", "column", "fields") if key in said})
