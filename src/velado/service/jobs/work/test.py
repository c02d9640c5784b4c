"""Whether a connection works."""

from __future__ import annotations

from typing import Any

from velado.service.documents.opening import entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import given
from velado.tables import Session, Source, open_table
from velado.tables.source import SIMPLEST


def perform(work: Work) -> dict[str, Any]:
    """Ask the database the simplest question; what goes wrong says why."""
    wanted = given(work, of.OnConnection)
    with entered(work) as room:
        address = room.database(wanted.connection)
        with open_table(Source(database=address, query=SIMPLEST), session=Session(work.progress)) as table:
            return {"works": table.rows() == 1, "engine": address.engine}
