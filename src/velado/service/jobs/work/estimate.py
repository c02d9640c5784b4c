"""How much memory a run needs, before it is begun."""

from __future__ import annotations

from typing import Any

import velado
from velado.service.documents.opening import entered
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import as_json


def perform(work: Work) -> dict[str, Any]:
    """The estimate of a project."""
    with entered(work) as room:
        return dict(as_json(velado.estimate(room.project(), work.progress)))
