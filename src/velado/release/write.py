"""Fifth step: the table is written where nobody else sees it yet."""

from __future__ import annotations

from velado.progress import Progress
from velado.release.plan import Planned
from velado.tables import Capability, Slot


def write(planned: Planned, slot: Slot, progress: Progress) -> None:
    """Write what was planned; a source that changed meanwhile was described wrongly."""
    progress.check()
    if slot.sink.order == "keep":
        planned.table.engine.require(Capability.ORDERED)
    if planned.plan.noise:
        planned.table.engine.require(Capability.ROW_NOISE)
    planned.table.write(planned.plan, slot)
    planned.table.check_unchanged()
