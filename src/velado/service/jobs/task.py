"""What the process of a job is told, and what its work needs. No store and no session are within its reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from velado.progress import Progress
from velado.results import Discreet

if TYPE_CHECKING:
    from velado.service.secrets import Secrets

LASTING = "of tables"
"""What a warm process remembers longer than a version of a project: figures, by what they were counted from."""


@dataclass(frozen=True, repr=False)
class Task(Discreet):
    """One attempt of a job, as JSON on the standard input of its process.

    ``document``: the project as the service has it, with ids instead of paths. ``things`` are what it or the parameters may
    name, by id: ``{"sources": {id: {"kind": "upload", "path": …, "name": …, "options": {…}} | {"kind": "connection", "address": …,
    "sealed": …, "connection": id, "place": {"table": …}} | {"kind": "sample", "place": {"sample": …}}},
    "uploads": {id: {"path", "name"}}, "connections": {id: {"address", "sealed"}}, "secrets": {name: sealed},
    "jobs": {id: {"kind", "folder", "result", "document", "version"}}, "release": {…}}``. Whatever is not in there does not
    exist for the job. ``folder`` is its own, empty at its begin; what it leaves there is its result's files. ``work`` is the
    module that does it, ``project`` and ``source`` what it is about, ``key`` for what a warm process may remember things.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("kind",)
    job: str
    attempt: int
    kind: str
    folder: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    document: Mapping[str, Any] | None = None
    things: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    work: str = ""
    project: str | None = None
    source: str | None = None
    key: str | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Task:
        """A task from its JSON."""
        return cls(**{**data, "folder": Path(data["folder"])})

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "job": self.job,
            "attempt": self.attempt,
            "kind": self.kind,
            "folder": str(self.folder),
            "parameters": dict(self.parameters),
            "document": self.document,
            "things": self.things,
            "limits": dict(self.limits),
            "work": self.work,
            "project": self.project,
            "source": self.source,
            "key": self.key,
        }


@dataclass(repr=False)
class Work(Discreet):
    """What the work of a job is given: its task, its progress, and what a warm process remembers between questions."""

    task: Task
    progress: Progress
    memory: dict[str, Any] = field(default_factory=dict)

    def open_secret(self, sealed: str, owner: str) -> str:
        """A secret of the task, opened under the key of the service: ``owner`` is the thing that it was sealed for."""
        return _secrets().open(sealed, owner)


@cache
def _secrets() -> Secrets:
    from velado.service.secrets import Secrets
    from velado.service.settings import load

    return Secrets.of(load())
