"""The privacy of a table as it is."""

from __future__ import annotations

from typing import Any

import velado
from velado.service.documents.opening import entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.figures import save_classes
from velado.service.jobs.work.shared import as_json, given

CLASSES = "classes.parquet"


def perform(work: Work) -> dict[str, Any]:
    """All privacy measures of a source; the figures of its classes are in a file."""
    wanted = given(work, of.Check)
    with entered(work) as room:
        found = velado.check(
            room.opened(work.task.source), wanted.quasi_identifiers, wanted.sensitive, l=wanted.l,
            models=room.models(wanted.models), person=wanted.person, twins=wanted.twins, classes=True,
            progress=work.progress,
        )  # fmt: skip
    figures = found.class_figures
    data: dict[str, Any] = as_json(found)
    data.pop("class_figures", None)
    if figures is not None:
        data["file"] = save_classes(figures, work.task.folder / CLASSES)
    return data
