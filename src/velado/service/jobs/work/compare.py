"""Many settings of a project side by side."""

from __future__ import annotations

from typing import Any

import velado
from velado.service.documents.opening import entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import as_json, given, one_table


def perform(work: Work) -> dict[str, Any]:
    """The comparison of all combinations of a grid."""
    wanted = given(work, of.Compare)
    with entered(work) as room:
        found = velado.compare(
            one_table(room.project(), wanted.table), wanted.grid, measures=wanted.measures, progress=work.progress
        )
    return dict(as_json(found))
