"""A worker in a thread of the test, with kinds of jobs of the tests' own (see ``job_kinds``)."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from servers.studio import until
from velado.service.jobs import queue
from velado.service.jobs.kinds import KINDS, Kind
from velado.service.jobs.worker import Worker
from velado.service.service import Service
from velado.service.store.tables import Job, User

COMMAND = (sys.executable, "-P", "-c", "from velado.service.jobs.process import main; main('service.job_kinds')")
LONG = 600.0
"""Seconds that a job sleeps which is ended before."""


class Anything(BaseModel):
    """Parameters of all kinds."""

    model_config = ConfigDict(extra="allow")


class Strict(BaseModel):
    """Parameters that can be wrong."""

    model_config = ConfigDict(extra="forbid")
    sleep: float = 0.0
    deep: dict[str, int] = {}


TEST_KINDS = (
    Kind("labour", "nothing", "studies.run", Anything, "any"),
    Kind("strict", "nothing", "studies.run", Strict, "any"),
    Kind("labour-here", "project", "jobs.analyse", Anything, "any"),
    Kind("labour-table", "source", "profile.read", Anything, "any"),
    Kind("question", "nothing", "studies.run", Anything, "any", quick=True),
    Kind("glance", "nothing", "studies.run", Anything, "any", brief=True),
)


class Bench:
    """A user, a worker that can be started and stopped, and jobs."""

    def __init__(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        self.service = service
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
        for kind in TEST_KINDS:
            monkeypatch.setitem(KINDS, kind.name, kind)
        monkeypatch.setattr(queue, "BRIEF", (*queue.BRIEF, "glance"))
        with service.store.writing() as db:
            user = User(name="bench", roles=["steward"])
            db.add(user)
        self.user = user.id
        self.worker: Worker | None = None

    def start(self) -> Worker:
        """Start a worker."""
        self._stop = threading.Event()
        self.worker = Worker(self.service, COMMAND)
        self._thread = threading.Thread(target=self.worker.run, args=(self._stop,))
        self._thread.start()
        return self.worker

    def stop(self) -> None:
        """Stop it in good order."""
        if self.worker is not None:
            self._stop.set()
            self._thread.join()
            self.worker = None

    def submit(self, kind: str = "labour", about: dict[str, Any] | None = None, user: str | None = None, **parameters: Any) -> str:
        """A new job, of the user of the bench or another one."""
        with self.service.store.writing() as db:
            settings, whose, quick = self.service.settings, user or self.user, KINDS[kind].quick
            return queue.submit(db, settings, kind, whose, parameters, quick=quick, **(about or {})).id

    def job(self, id: str) -> Job:
        """A job as it is now."""
        with self.service.store.reading() as db:
            return db.get_one(Job, id)

    def ended(self, id: str) -> Job:
        """A job at its end."""
        found: Job = until(lambda: (job := self.job(id)).state in queue.ENDED and job)
        return found

    def at(self, id: str, stage: str) -> Job:
        """A job at a stage."""
        found: Job = until(lambda: (job := self.job(id)).step.get("stage") == stage and job)
        return found

    def cancel(self, id: str) -> None:
        """Ask a job to end."""
        with self.service.store.writing() as db:
            queue.cancel(db, db.get_one(Job, id))

    def folders(self) -> set[str]:
        """The folders of attempts, and those of warm processes."""
        warm = self.service.settings.folder / "warm"
        return {path.name for _, _, path in self.service.files.attempts()} | set(os.listdir(warm) if warm.is_dir() else ())


def alive(pid: int) -> bool:
    """Whether a process is there."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
