"""The strongest setting that keeps what the data are needed for."""

from __future__ import annotations

from typing import Any

import velado
from velado.service.documents.opening import entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import as_json, given, one_table


def perform(work: Work) -> dict[str, Any]:
    """The balance of a project."""
    wanted = given(work, of.Balance)
    with entered(work) as room:
        found = velado.balance(
            one_table(room.project(), wanted.table), wanted.conditions, wanted.grid, progress=work.progress
        )
    return dict(as_json(found))
