"""What is wrong with a project: all of it at once, in the language of who asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from velado.service import masking
from velado.service.jobs import failures
from velado.service.web.asking import known, of_project
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
        version, result = project.version, known(db, project, KIND)
    if result is None:
        with call.writing() as db:
            project = call.caller.project(db, id, "profile.read")
            version = project.version
            job = of_project(db, call, KIND, project, quick=True)
        result = wait_for(call, job.id, SECONDS, values=values)
    return _answer(call, version, result, values)


def _answer(call: Call, version: int, result: Mapping[str, Any], values: bool) -> ChecksAnswer:
    told = result if values else masking.masked(result, KIND)
    found = [_part(one, call.language) for one in told.get("problems", [])]
    return ChecksAnswer(version=version, ready=not found, problems=found)


def _part(kept: Mapping[str, Any], language: str) -> ProblemPart:
    said = failures.said(kept, language)
    if "values" in said:
        said["fields"] = {**said.get("fields", {}), "values": said.pop("values")}
    return ProblemPart(**{key: said[key] for key in ("code", "message", "hint", "column", "fields") if key in said})
