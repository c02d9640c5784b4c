"""All problems of a project at once."""

from __future__ import annotations

from typing import Any

from velado.errors import InputError
from velado.service.documents.discretion import discreet
from velado.service.documents.opening import entered
from velado.service.jobs import failures
from velado.service.jobs.task import Work


def perform(work: Work) -> dict[str, Any]:
    """Every problem with its path in the document; an empty list if the project can run."""
    with entered(work) as room:
        try:
            found = room.project().check()
        except InputError as error:
            found = [error, *error.others]
            error.others = ()
        return {"problems": [failures.told(discreet(error, room.folder)) for error in found]}
