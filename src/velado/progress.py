"""How far a call has come, and how it is ended.

Every public call that may take a second takes a `Progress`. It says which stage has begun (a key, translated in
``i18n``), the share of the whole call that is done, which never goes back, and within a stage how many of how many things.
Cancelling it ends the call with `Cancelled`: statements of engines are interrupted, kernels and planners come back between
two pieces of their work, and nothing is published.

>>> seen = []
>>> progress = Progress(seen.append)
>>> follow = progress.through(count=1, search=3)
>>> follow("count").at(1, 2)
>>> follow("search").at(5, 10)
>>> [(step.stage, step.share) for step in seen]
[('count', 0.0), ('count', 0.125), ('search', 0.25), ('search', 0.625)]
>>> seen[-1].text("es")
'buscando'
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from velado.errors import Cancelled
from velado.i18n import language


@dataclass(frozen=True)
class Step:
    """Where a call is: its stage, the share of the whole that is done, and ``done`` of ``total`` things of the stage."""

    stage: str
    share: float
    done: int | None = None
    total: int | None = None

    def text(self, code: str = "en") -> str:
        """The stage in words."""
        return language(code).label("stage", self.stage)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"stage": self.stage, "share": self.share, "done": self.done, "total": self.total}


AGAIN = 0.1
"""Seconds after which work that goes on is interrupted again."""

Watch = Callable[[Step], None]
Interrupt = Callable[[], Any]


@dataclass
class _Call:
    """What all parts of a call share."""

    watch: Watch | None
    telling: threading.RLock = field(default_factory=threading.RLock)
    """Held while the watcher is told; who cancels does not wait for it."""
    stopping: threading.Condition = field(default_factory=threading.Condition)
    insisting: threading.Thread | None = None
    cancelled: bool = False
    interrupts: list[Interrupt] = field(default_factory=list)
    step: Step = field(default_factory=lambda: Step("start", 0.0))
    going_on: Progress | None = None


class Progress:
    """Follow a call: ``watch`` is called with every `Step`, from whatever thread is at work. ``cancel`` may be called from
    any thread, also by the watcher.

    Inside, work hands parts of it down: a part reports its own 0…1, and the whole is told as much of it as the part is.
    """

    def __init__(self, watch: Watch | None = None) -> None:
        self._call = _Call(watch)
        self._low, self._high, self._stage = 0.0, 1.0, "start"

    @property
    def step(self) -> Step:
        """The latest step."""
        return self._call.step

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked the call to end."""
        return self._call.cancelled

    def cancel(self) -> None:
        """End the call as soon as possible."""
        call = self._call
        call.cancelled = True
        with call.stopping:
            for interrupt in list(call.interrupts):
                interrupt()
            if call.interrupts and call.insisting is None:
                call.insisting = threading.Thread(target=self._insist, name="cancel", daemon=True)
                call.insisting.start()

    def _insist(self) -> None:
        """Work may have been just about to begin, and have missed the interruption."""
        with self._call.stopping:
            while self._call.interrupts:
                self._call.stopping.wait(AGAIN)
                for interrupt in list(self._call.interrupts):
                    interrupt()

    def check(self) -> None:
        """Raise `Cancelled` if somebody asked the call to end."""
        if self._call.cancelled:
            raise Cancelled()

    @contextmanager
    def interrupting(self, interrupt: Interrupt) -> Iterator[None]:
        """Call ``interrupt`` if the call is cancelled meanwhile: work that takes long in one piece is ended by it."""
        with self._call.stopping:
            self.check()
            self._call.interrupts.append(interrupt)
        try:
            yield
        finally:
            with self._call.stopping:
                self._call.interrupts.remove(interrupt)
                self._call.stopping.notify_all()
                over = None if self._call.interrupts else self._call.insisting
            if over is not None:
                over.join()

    def at(self, done: float, total: float = 1.0) -> None:
        """So much of this part is done; raises `Cancelled` where that was asked for."""
        self.check()
        share = self._low + (self._high - self._low) * min(max(done / total if total else 1.0, 0.0), 1.0)
        counted = total != 1.0
        with self._call.telling:
            # The whole never goes back, whatever a part says of itself.
            share = max(share, self._call.step.share)
            step = Step(self._stage, share, int(done) if counted else None, int(total) if counted else None)
            self._call.step = step
            if self._call.watch is not None:
                self._call.watch(step)
        self.check()

    def within(self) -> Progress:
        """A part for work that does not know how much of its stage it is, such as a statement of an engine: half of what is
        left of the stage that is going on."""
        stage = self._call.going_on or self
        part = stage.part(0.0, 1.0)
        part._low = min(max(part._low, self._call.step.share), part._high)
        part._high = (part._low + part._high) / 2
        return part

    def part(self, low: float, high: float, stage: str | None = None) -> Progress:
        """The part of this one from one share to another, under the same stage or one of its own."""
        part = Progress.__new__(Progress)
        part._call = self._call
        width = self._high - self._low
        part._low, part._high = self._low + width * low, self._low + width * high
        part._stage = stage or self._stage
        return part

    def of(self, number: int, total: int, stage: str | None = None) -> Progress:
        """The part of thing ``number`` (from 0) of ``total`` alike, begun."""
        part = self.part(number / max(total, 1), (number + 1) / max(total, 1), stage)
        part.at(0.0)
        return part

    def through(self, **weights: float) -> Callable[[str], Progress]:
        """Stages one after the other, each with its share of the work. The result begins one by its key."""
        total, before, ranges = sum(weights.values()), 0.0, {}
        for stage, weight in weights.items():
            ranges[stage] = (before / total, (before + weight) / total)
            before += weight

        def begin(stage: str) -> Progress:
            part = self._call.going_on = self.part(*ranges[stage], stage)
            part.at(0.0)
            return part

        return begin
