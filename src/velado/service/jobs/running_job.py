"""A job that a worker has taken: its process, what it said, and why it was killed, if it was."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from velado.errors import InputError
from velado.results import Discreet
from velado.service.jobs import failure_messages, limits
from velado.service.jobs.child import Child
from velado.service.jobs.kinds import Kind
from velado.service.jobs.task import Task

GRACE = 5.0
"""Seconds in which a job that is cancelled may end by itself."""
QUESTION_SECONDS = 60
"""Seconds that a question may take."""
TELLING = 0.5
"""Seconds between two steps that are written down."""


@dataclass(repr=False)
class Running(Discreet):
    """One attempt of a job. ``child`` is None while a question waits for its process."""

    NAMES: ClassVar[tuple[str, ...]] = ("job",)
    job: str
    attempt: int
    kind: Kind
    task: Task | None
    child: Child | None = None
    began: float = field(default_factory=time.monotonic)
    asked: float | None = None
    outcome: dict[str, Any] | None = None
    step: dict[str, Any] = field(default_factory=dict)
    stages: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    written: float = 0.0
    unwritten: bool = False

    def begin(self, child: Child) -> None:
        """Hand the task to a process."""
        assert self.task is not None
        self.child, self.began = child, time.monotonic()
        child.send({"task": self.task.as_dict()})
        if self.asked is not None:
            child.send({"cancel": True})

    def listen(self) -> None:
        """Take in what the process said."""
        assert self.child is not None
        for message in self.child.hear():
            if "step" in message:
                self._at(message["step"])
            elif self.outcome is None:
                self.outcome = message

    def _at(self, step: dict[str, Any]) -> None:
        # Work that repeats itself goes through the same stages again and again; the log has each once.
        if step["stage"] not in self.seen:
            self.seen.add(step["stage"])
            self.stages.append(step["stage"])
        self.step, self.unwritten = step, True

    def due(self) -> bool:
        """Whether its step should be written down now."""
        return self.unwritten and (bool(self.stages) or time.monotonic() - self.written >= TELLING)

    def mark_reported(self) -> None:
        """Its step was written down."""
        self.written, self.unwritten = time.monotonic(), False
        self.stages.clear()

    def cancel(self) -> None:
        """Ask it to end."""
        if self.asked is None:
            self.asked = time.monotonic()
            if self.child is not None:
                self.child.send({"cancel": True})

    @property
    def overdue(self) -> bool:
        """Whether it was asked to end, and did not."""
        return self.asked is not None and (self.child is None or time.monotonic() - self.asked > GRACE)

    def broken_limit(self) -> InputError | None:
        """The limit that it is beyond, if there is one."""
        if self.child is None or self.task is None:
            return None
        most: Mapping[str, int] = self.task.limits
        if time.monotonic() - self.began > most["seconds"]:
            return (failure_messages.too_late if self.kind.quick else failure_messages.too_long)(most["seconds"])
        if limits.memory(self.child.pid) > most["memory"]:
            return failure_messages.too_large(most["memory"])
        if sum(limits.size(folder) for folder in {self.task.folder, self.child.folder}) > most["bytes"]:
            return failure_messages.too_much_disk(most["bytes"])
        return None
