"""What is wrong with a project: all of it at once, in the language of who asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from velado.service.jobs import failure_messages
from velado.service.projects.questions import ask_project
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.problems import ProblemPart


class ChecksAnswer(BaseModel):
    """The problems of a version. ``fields.path`` says where in the document each is; none: the project can run."""

    version: int
    ready: bool
    problems: list[ProblemPart]
    notes: list[ProblemPart] = Field(default_factory=list)


def check_project(work: UnitOfWork, id: str) -> ChecksAnswer:
    """Everything that is wrong with a project, its table included."""
    version, told = ask_project(work, id, "checks")
    found = [_part(one, work.language) for one in told.get("problems", [])]
    return ChecksAnswer(version=version, ready=not found, problems=found)


def _part(kept: Mapping[str, Any], language: str) -> ProblemPart:
    said = failure_messages.translate_error(kept, language)
    if "values" in said:
        said["fields"] = {**said.get("fields", {}), "values": said.pop("values")}
    return ProblemPart(**{key: said[key] for key in ("code", "message", "hint", "column", "fields") if key in said})
