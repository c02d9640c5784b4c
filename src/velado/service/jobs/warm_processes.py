"""Warm processes: they answer questions that somebody waits for, and remember what they have read for the next one.

Each is for one project, source or connection. There are so many at once; the one that was not used for the longest time
makes room. A question goes to the process that knows its subject, one at a time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from sqlalchemy.orm import Session as Db

from velado.results import Discreet
from velado.service.jobs.child import COMMAND, Child
from velado.service.jobs.running_job import Running
from velado.service.projects.document_checks import references
from velado.service.service import Service
from velado.service.store.tables import Project, Source

FOLDER = "warm"
"""Where warm processes keep temporary files: ``warm/WORKER-NUMBER``."""


@dataclass(repr=False)
class WarmProcess(Discreet):
    """A warm process, what it knows, and the question that it is at."""

    NAMES: ClassVar[tuple[str, ...]] = ("key",)
    key: str
    child: Child
    used: float = field(default_factory=time.monotonic)
    run: Running | None = None


class WarmProcesses:
    """The warm processes of a worker."""

    def __init__(self, service: Service, worker: str, command: Sequence[str] = COMMAND) -> None:
        self.service = service
        self.worker = worker
        self.command = command
        self.most = max(1, service.settings.explorers)
        self.most_taken = 2 * self.most
        self._all: list[WarmProcess] = []
        self._waiting: list[Running] = []
        self._number = 0

    def children(self) -> list[Child]:
        """The processes."""
        return [one.child for one in self._all]

    def ask(self, run: Running) -> None:
        """A question, to be handed out."""
        self._waiting.append(run)

    def hand_out(self) -> None:
        """Give questions to processes that are free, the oldest first."""
        for run in list(self._waiting):
            assert run.task is not None
            one = self._for(run.task.key or run.job)
            if one is not None:
                self._waiting.remove(run)
                one.run, one.used = run, time.monotonic()
                run.begin(one.child)

    def finish(self, run: Running) -> None:
        """A question has ended: its process is free, unless it never answered, and then it goes."""
        if run in self._waiting:
            self._waiting.remove(run)
        for one in [one for one in self._all if one.run is run]:
            one.run, one.used = None, time.monotonic()
            if run.child is None or run.child.ended or run.outcome is None:
                self._end(one)

    def listen(self) -> None:
        """Notice the end of processes that are at no question."""
        for one in self._all:
            if one.run is None:
                one.child.hear()

    def end_idle(self) -> None:
        """Let go of processes that nobody has used for long, and of those that died."""
        before = time.monotonic() - self.service.settings.explorer_idle_seconds
        for one in list(self._all):
            if one.run is None and (one.used < before or one.child.ended):
                self._end(one)

    def forget(self) -> None:
        """Let go of processes that know a table which was deleted meanwhile."""
        if not self._all:
            return
        with self.service.store.reading() as db:
            gone = [one for one in self._all if one.run is None and not _exists(db, one.key)]
        for one in gone:
            self._end(one)

    def close(self) -> None:
        """End all of them."""
        for one in list(self._all):
            self._end(one)

    def _for(self, key: str) -> WarmProcess | None:
        """The process of a subject, if it is free; a new one, if there is room or one is idle."""
        same = [one for one in self._all if one.key == key]
        if same and same[0].child.ended and same[0].run is None:
            self._end(same.pop())
        if same:
            return same[0] if same[0].run is None else None
        idle = sorted((one for one in self._all if one.run is None), key=lambda one: one.used)
        earlier = [one for one in idle if _subject(one.key) == _subject(key)]
        if earlier:
            # Another version of the same project: its process has loaded everything, and forgets what it knew.
            earlier[0].key = key
            return earlier[0]
        if len(self._all) >= self.most:
            if not idle:
                return None
            self._end(idle[0])
        return self._start(key)

    def _start(self, key: str) -> WarmProcess:
        self._number += 1
        folder = self.service.settings.folder / FOLDER / f"{self.worker}-{self._number}"
        Path(folder).mkdir(parents=True, mode=0o700)
        one = WarmProcess(key, Child(self.service.settings, folder, self.command))
        self._all.append(one)
        return one

    def _end(self, one: WarmProcess) -> None:
        self._all.remove(one)
        one.child.kill()
        self.service.files.remove(one.child.folder)


def _subject(key: str) -> tuple[str, ...]:
    return tuple(key.split(":")[:2])


def _exists(db: Db, key: str) -> bool:
    """Whether what a process knows is still there: the source, or the project with all of its sources."""
    kind, id = _subject(key)
    if kind == "source":
        source = db.get(Source, id)
        return source is not None and source.state != "deleted"
    if kind == "project":
        project = db.get(Project, id)
        return project is not None and all(_exists(db, f"source:{one}") for one in references(project.document)["sources"])
    return True
