"""A worker within the process of the tests: jobs are done in a thread, one after the other, without processes of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy.orm import Session

from velado.errors import VeladoError
from velado.progress import Progress
from velado.service.jobs import failure_messages, make_task, queue
from velado.service.jobs.kinds import KINDS
from velado.service.jobs.process import outcome
from velado.service.jobs.task import _secrets
from velado.service.service import Service
from velado.service.store.tables import Job

WORKER = "inline"


class Inline:
    """Does the jobs of a service: all that wait at once, or in a thread while requests wait for them."""

    def __init__(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        self.service = service
        self._writing = service.store.writing
        self._written = threading.Event()
        self._stop = False
        monkeypatch.setattr(service.store, "writing", self._seen)
        monkeypatch.setenv("VELADO_STUDIO_FOLDER", str(service.settings.folder))
        _secrets.cache_clear()

    def work(self) -> int:
        """Do all jobs that wait; how many."""
        count = 0
        while self._one(False) or self._one(True):
            count += 1
        return count

    def __enter__(self) -> Inline:
        self._thread = threading.Thread(target=self._loop)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop = True
        self._written.set()
        self._thread.join()

    @contextmanager
    def _seen(self) -> Iterator[Session]:
        """There may be something to do when others have written: nobody has to look again and again."""
        with self._writing() as db:
            yield db
        self._written.set()

    def _loop(self) -> None:
        while not self._stop:
            self.work()
            self._written.wait()
            self._written.clear()

    def _one(self, quick: bool) -> bool:
        service = self.service
        with self._writing() as db:
            job = queue.claim(db, service.settings, WORKER, quick=quick)
        if job is None:
            return False
        try:
            with self._writing() as db:
                task = make_task.build(db, service.files, service.settings, job, KINDS[job.kind])
        except VeladoError as error:
            self._end(job, {"error": failure_messages.describe_error(error)}, None)
            return True
        task.folder.mkdir(mode=0o700)
        self._end(job, outcome(task, Progress(), {}), task)
        return True

    def _end(self, job: Job, said: dict[str, Any], task: Any) -> None:
        with self._writing() as db:
            if "result" not in said:
                queue.finish(db, WORKER, job.id, job.attempt, "failed", error=said["error"])
                return
            ended = queue.finish(db, WORKER, job.id, job.attempt, "done", result=said["result"])
            finish = KINDS[job.kind].finish
            if ended is not None and finish is not None:
                finish(db, ended, said["result"])
            if ended is not None:
                make_task.take_copy(db, self.service.files, task)
