"""What the database of a connection holds."""

from __future__ import annotations

from typing import Any

from velado.questions.tables import list_tables
from velado.results import encoded
from velado.service.documents.opening import entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import given

MOST = 5000
"""Tables that are listed."""


def perform(work: Work) -> dict[str, Any]:
    """Schemas, tables and views, their columns and types, and about how many rows."""
    wanted = given(work, of.OnConnection)
    with entered(work) as room:
        found = list_tables(room.database(wanted.connection).written, work.progress).tables
    listed = [{**encoded(table), "full_name": table.full_name} for table in found[:MOST]]
    return {"tables": listed, "left_out": max(0, len(found) - MOST)}
