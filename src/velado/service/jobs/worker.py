"""The worker: it takes jobs from the queue and does each in a process of its own, which it watches, limits and ends.

One thread does it all, so that no job waits for another's: it looks at the queue, listens to the processes, renews leases
and writes down how far the jobs are. A store that does not answer for a while stops none of the processes.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session as Db

from velado.errors import Cancelled, InternalError, VeladoError
from velado.service.admin import retention
from velado.service.jobs import clean_up, failure_messages, limits, make_task, process_identity, queue
from velado.service.jobs.child import COMMAND, Child
from velado.service.jobs.kinds import KINDS, Kind
from velado.service.jobs.running_job import Running
from velado.service.jobs.warm_processes import WarmProcesses
from velado.service.service import Service
from velado.service.settings import Settings, load
from velado.service.store.tables import Job, new_id, now
from velado.service.store.tables import WorkerRow as Row

log = logging.getLogger("velado.service.worker")

LOOK = 0.05
"""Seconds between two looks at the queue."""
LOOK_IDLE = 0.1
"""The same after `IDLE` seconds without a job."""
IDLE = 60.0
ASK = 0.5
"""Seconds between two looks at who wants a job to end, and at limits."""
AGAIN = 2.0
"""Seconds until a store that did not answer is asked again."""
CLEAN = 3600.0
"""Seconds between two looks for what is past its time."""


class Worker:
    """A worker of a service. ``run`` works until it is told to stop. ``command`` starts the process of a job."""

    def __init__(self, service: Service, command: Sequence[str] = COMMAND) -> None:
        self.id = new_id()
        self.service = service
        self.command = command
        self.running: dict[str, Running] = {}
        self.explorers = WarmProcesses(service, self.id, command)
        self._due: dict[str, float] = {}
        self._busy = time.monotonic()
        self._mute = 0.0

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set; then give back what is not done, and leave nothing behind."""
        try:
            while not stop.is_set():
                self.turn()
        finally:
            self.leave()

    def turn(self) -> None:
        """Listen for a moment, then do what is due."""
        self._listen(LOOK if time.monotonic() - self._busy < IDLE else LOOK_IDLE)
        self._every("limits", ASK, self._limit)
        if time.monotonic() < self._mute:
            return
        try:
            self._every("lease", self.service.settings.lease_seconds / 3, self._renew)
            self._every("asked", ASK, self._hear_askers)
            self._end_all()
            self._report()
            self._every("sweep", min(60.0, self.service.settings.lease_seconds), self._sweep)
            self._every("clean", CLEAN, self._clean)
            self._take()
        except (OperationalError, InterfaceError) as error:
            # The text of the driver may name users and hosts.
            log.error("the store does not answer: %s", type(error.orig).__name__)
            self._mute = time.monotonic() + AGAIN
        except Exception as error:
            log.error("%s", InternalError.of(error))
            self._mute = time.monotonic() + AGAIN

    def leave(self) -> None:
        """Kill all processes, give their jobs back, and forget this worker."""
        held = list(self.running.values())
        for run in held:
            self._drop(run)
        self.explorers.close()
        try:
            with self.service.store.writing() as db:
                for run in held:
                    queue.give_back(db, self.id, run.job, run.attempt, spent=False)
                row = db.get(Row, self.id)
                if row is not None:
                    db.delete(row)
        except (OperationalError, InterfaceError) as error:
            log.error("the store does not answer: %s", type(error.orig).__name__)

    def kill(self) -> None:
        """Kill all processes at once; their jobs are found again when their leases have expired."""
        for child in self._children():
            child.kill()

    # What it does again and again

    def _every(self, name: str, seconds: float, do: Callable[[], None]) -> None:
        moment = time.monotonic()
        if moment >= self._due.get(name, 0.0):
            do()
            self._due[name] = moment + seconds

    def _children(self) -> list[Child]:
        own = [run.child for run in self.running.values() if run.child is not None and not run.kind.quick]
        return own + self.explorers.children()

    def _listen(self, seconds: float) -> None:
        children = [child for child in self._children() if not child.ended]
        select.select([child.out for child in children], [], [], seconds)
        for child in children:
            child.flush()
        for run in self.running.values():
            if run.child is not None:
                run.listen()
        self.explorers.listen()

    def _limit(self) -> None:
        for run in list(self.running.values()):
            if run.outcome is None and (error := run.broken_limit()) is not None:
                self._stop(run, error)
            elif run.outcome is None and run.overdue:
                self._stop(run, Cancelled())
        self.explorers.end_idle()

    @staticmethod
    def _stop(run: Running, error: VeladoError) -> None:
        if run.child is not None:
            run.child.kill()
        run.outcome = {"error": failure_messages.describe_error(error), "cancelled": isinstance(error, Cancelled)}

    def _renew(self) -> None:
        with self.service.store.writing() as db:
            queue.renew(db, self.service.settings, self.id, self.running)
            row = db.get(Row, self.id) or Row(id=self.id)
            row.seen, row.detail = now(), {**process_identity.describe_process(), "jobs": len(self.running)}
            db.add(row)

    def _hear_askers(self) -> None:
        if not self.running:
            return
        with self.service.store.reading() as db:
            held = queue.held_jobs(db, self.id, self.running)
        for run in list(self.running.values()):
            attempt, asked = held.get(run.job, (None, False))
            if attempt != run.attempt:
                # Another worker has it now, or it was deleted: what this one does does not count.
                del self.running[run.job]
                self._drop(run)
            elif asked:
                run.cancel()

    def _sweep(self) -> None:
        clean_up.sweep(self.service)
        self.explorers.forget()

    def _clean(self) -> None:
        # Large files may take long to delete, and leases do not wait.
        threading.Thread(target=_clean_storage, args=(self.service,), name="clean", daemon=True).start()

    def _report(self) -> None:
        due = [run for run in self.running.values() if run.due()]
        if due:
            with self.service.store.writing() as db:
                for run in due:
                    queue.report(db, self.id, run.job, run.step, run.stages)
            for run in due:
                run.mark_reported()

    # Jobs

    def _take(self) -> None:
        with self.service.store.reading() as db:
            empty = queue.empty(db)
        for quick, brief in () if empty else ((True, False), (False, False), (False, True)):
            while self._room(quick, brief) and (job := self._claim(quick, brief)) is not None:
                self._busy = time.monotonic()
                self._start(*job)
        self.explorers.hand_out()

    def _room(self, quick: bool, brief: bool) -> bool:
        """Whether another job can be taken; one place more is for brief jobs only."""
        taken = sum(run.kind.quick == quick for run in self.running.values())
        return taken < (self.explorers.most_taken if quick else self.service.settings.jobs_at_once + brief)

    def _claim(self, quick: bool, brief: bool) -> tuple[Job, Kind, Settings] | None:
        store = self.service.store
        with store.reading() as db:
            settings = store.live(db)
            if not queue.waiting(db, settings, quick=quick, brief=brief):
                return None
        with store.writing() as db:
            job = queue.claim(db, settings, self.id, quick=quick, brief=brief)
            if job is None:
                return None
            kind = KINDS.get(job.kind)
            if kind is None:
                # Another version of Velado has submitted it.
                queue.finish(
                    db,
                    self.id,
                    job.id,
                    job.attempt,
                    "failed",
                    error=failure_messages.describe_error(failure_messages.unknown(job.kind)),
                )
                return None
        return job, kind, settings

    def _start(self, job: Job, kind: Kind, settings: Settings) -> None:
        run = Running(job.id, job.attempt, kind, None)
        self.running[job.id] = run
        try:
            # It may have been submitted before approval was asked for.
            queue.check_approval(settings, job.kind, job.document)
            with self.service.store.writing() as db:
                run.task = make_task.build(db, self.service.files, settings, job, kind)
            run.task.folder.mkdir(mode=0o700)
            if kind.quick:
                self.explorers.ask(run)
            else:
                run.begin(Child(settings, run.task.folder, self.command))
        except (OperationalError, InterfaceError):
            # It has not begun: as if its process had died.
            del self.running[job.id]
            raise
        except VeladoError as error:
            run.outcome = {"error": failure_messages.describe_error(error), "cancelled": False}
        except Exception as error:
            self._fault(run, error)

    def _fault(self, run: Running, error: Exception) -> None:
        told = InternalError.of(error)
        log.error("%s", told)
        run.outcome = {"error": failure_messages.describe_error(told), "cancelled": False}

    def _end_all(self) -> None:
        for run in list(self.running.values()):
            if run.outcome is not None:
                self._end(run)
            elif run.child is not None and run.child.ended:
                self._give_back(run)

    def _end(self, run: Running) -> None:
        """Write down how a job ended, and what follows from it, at once. What does not count is removed before."""
        assert run.outcome is not None
        self._let_go(run)
        if "result" not in run.outcome or run.kind.quick:
            self._discard(run)
        elif run.task is not None:
            clean_up.tidy(run.task.folder)
        try:
            with self.service.store.writing() as db:
                counts = self._finish(db, run, run.outcome)
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            if "result" not in run.outcome:
                del self.running[run.job]
            # What follows from the result could not be written down: the result does not count either.
            self._fault(run, error)
            return
        del self.running[run.job]
        if not counts:
            self._discard(run)
        elif run.task is not None and run.task.folder.is_dir() and not any(run.task.folder.iterdir()):
            run.task.folder.rmdir()

    def _finish(self, db: Db, run: Running, outcome: dict[str, Any]) -> bool:
        if run.unwritten:
            queue.report(db, self.id, run.job, run.step, run.stages)
        if "result" not in outcome:
            state = "cancelled" if outcome.get("cancelled") else "failed"
            return queue.finish(db, self.id, run.job, run.attempt, state, error=outcome["error"]) is not None
        job = queue.finish(db, self.id, run.job, run.attempt, "done", result=outcome["result"])
        if job is not None and run.kind.finish is not None:
            run.kind.finish(db, job, outcome["result"])
        if job is not None and run.task is not None:
            make_task.take_copy(db, self.service.files, run.task)
        return job is not None

    def _give_back(self, run: Running) -> None:
        """The process is gone, and nobody knows why: the job is tried again."""
        self._drop(run)
        with self.service.store.writing() as db:
            queue.give_back(db, self.id, run.job, run.attempt)
        del self.running[run.job]

    def _drop(self, run: Running) -> None:
        self._let_go(run)
        self._discard(run)

    def _let_go(self, run: Running) -> None:
        """A process of a job ends with it; one for questions goes on, unless it was still at this one."""
        if run.kind.quick:
            self.explorers.finish(run)
        elif run.child is not None:
            run.child.kill()

    def _discard(self, run: Running) -> None:
        if run.task is not None:
            self.service.files.remove(run.task.folder)


def _clean_storage(service: Service) -> None:
    try:
        retention.clean(service)
    except Exception as error:
        log.error("%s", InternalError.of(error))


def run(service: Service) -> None:
    """Work in the main thread until a signal says to stop; the second one ends everything at once."""
    worker, stop = Worker(service), threading.Event()

    def handle_signal(number: int, frame: object) -> None:
        if stop.is_set():
            worker.kill()
            os._exit(128 + number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle_signal)
    worker.run(stop)


def main() -> None:
    """``python -m velado.service.jobs.worker``: a worker with the settings of its environment, which ends with its parent."""
    limits.die_with_parent(signal.SIGTERM)
    service = Service.open(load())
    run(service)
    service.close()


if __name__ == "__main__":
    main()
