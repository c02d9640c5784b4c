"""The jobs of a statement: how far they are, and how they are ended."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from velado.errors import Cancelled
from velado.progress import Progress
from velado.tables.spark.session import is_connect

LOOK = 0.5
"""Seconds between two looks at the jobs."""
GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


def jobs_of(spark: Any, new_name: Callable[[], str]) -> Jobs:
    """The jobs of a session; each statement has a name of its own."""
    return ConnectJobs(spark, new_name) if is_connect(spark) else ClassicJobs(spark, new_name)


class Jobs(ABC):
    """One statement at a time."""

    def __init__(self, spark: Any, new_name: Callable[[], str]) -> None:
        self._spark, self._new_name = spark, new_name
        self._name: str | None = None
        self._ended: str | None = None
        """The statement that somebody asked to end: it may not have a job yet."""

    @abstractmethod
    def follow_jobs(self, progress: Progress) -> Any:
        """What runs meanwhile belongs to one statement."""

    @abstractmethod
    def cancel(self) -> None:
        """End the statement that is running."""

    @abstractmethod
    def close(self) -> None:
        """Nothing runs any more."""


class ClassicJobs(Jobs):
    """A group of jobs in the process of the driver."""

    @contextmanager
    def follow_jobs(self, progress: Progress) -> Iterator[None]:
        """A group of its own, and a look at its tasks every now and then; afterwards the session's own group again."""
        if self._name is not None:
            yield
            return
        context = self._spark.sparkContext
        before = {key: context.getLocalProperty(key) for key in GROUP}
        name = self._name = self._new_name()
        context.setJobGroup(name, "velado", True)
        over = threading.Event()
        looking = threading.Thread(target=self._look, args=(name, progress.within(), over), name="jobs", daemon=True)
        looking.start()
        try:
            yield
        finally:
            self._name = None
            over.set()
            looking.join()
            with suppress(Exception):
                for key, value in before.items():
                    context.setLocalProperty(key, value)

    def _look(self, group: str, progress: Progress, over: threading.Event) -> None:
        tracker = None
        while not over.wait(LOOK):
            # An error here is one of the statement, too, which tells it.
            with suppress(Exception):
                if self._ended == group:
                    self._spark.sparkContext.cancelJobGroup(group)
                tracker = tracker or self._spark.sparkContext.statusTracker()
                stages = [
                    tracker.getStageInfo(stage)
                    for job in tracker.getJobIdsForGroup(group)
                    if (info := tracker.getJobInfo(job)) is not None
                    for stage in info.stageIds
                ]
                told = [s for s in stages if s is not None]
                with suppress(Cancelled):
                    _tell(progress, sum(s.numCompletedTasks for s in told), sum(s.numTasks for s in told))

    def cancel(self) -> None:
        """End the jobs of the group, also those that it is about to begin."""
        name = self._ended = self._name
        if name is not None:
            with suppress(Exception):
                self._spark.sparkContext.cancelJobGroup(name)

    def close(self) -> None:
        """Nothing is kept."""


class ConnectJobs(Jobs):
    """Operations with a tag, on a server elsewhere that tells of its stages."""

    def __init__(self, spark: Any, new_name: Callable[[], str]) -> None:
        super().__init__(spark, new_name)
        self._progress: Progress | None = None
        spark.registerProgressHandler(self._report_tasks)

    def _report_tasks(self, stages: Any, *rest: Any, **more: Any) -> None:
        progress = self._progress
        if progress is not None and stages:
            with suppress(Cancelled):
                _tell(progress, sum(s.num_completed_tasks for s in stages), sum(s.num_tasks for s in stages))

    @contextmanager
    def follow_jobs(self, progress: Progress) -> Iterator[None]:
        """A tag of its own."""
        if self._name is not None:
            yield
            return
        name = self._name = self._new_name()
        self._progress = progress.within()
        self._spark.addTag(name)
        try:
            yield
        finally:
            self._name = self._progress = None
            with suppress(Exception):
                self._spark.removeTag(name)

    def cancel(self) -> None:
        """End the operations with the tag."""
        if self._name is not None:
            with suppress(Exception):
                self._spark.interruptTag(self._name)

    def close(self) -> None:
        """Tell nobody any more."""
        with suppress(Exception):
            self._spark.removeProgressHandler(self._report_tasks)


def _tell(progress: Progress, done: int, total: int) -> None:
    if total:
        progress.at(done, total)
