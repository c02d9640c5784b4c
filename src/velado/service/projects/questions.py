"""Questions about a project that a quick job answers: its problems, its hierarchies, who is alone in its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.service.access.ownership import roles_in
from velado.service.access.redaction import redact_result
from velado.service.jobs.quick_jobs import earlier_answer, of_project
from velado.service.jobs.waiting import wait_for
from velado.service.unit_of_work import UnitOfWork

SECONDS = 60.0
"""How long a request waits for an answer."""


def ask_project(work: UnitOfWork, id: str, kind: str, parameters: Mapping[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    """The newest version of a project, and what is answered about it, by an earlier job or by one that is waited for.

    It is without values for who may not read records.
    """
    with work.reading() as db:
        project = work.caller.project(db, id, "profile.read")
        values = "records.read" in work.caller.actions_in(db, id)
        found = earlier_answer(db, project, kind, parameters)
    if found is None:
        with work.asking() as db:
            project = work.caller.project(db, id, "profile.read")
            job = of_project(db, work, kind, project, parameters, quick=True)
        found = wait_for(work, job.id, SECONDS, values=values)
    return project.version, found if values else redact_result(found, kind, roles_in([project]))
