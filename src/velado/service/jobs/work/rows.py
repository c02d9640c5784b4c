"""Some rows of a source, where it lives."""

from __future__ import annotations

from typing import Any

from velado.service.documents.opening import entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import given
from velado.tables import Session, open_table, unknown_column


def perform(work: Work) -> dict[str, Any]:
    """A page of rows, all cells as texts."""
    wanted = given(work, of.Rows)
    with entered(work) as room, open_table(room.opened(work.task.source), session=Session(work.progress)) as table:
        for name in (*wanted.where, *([wanted.sort] if wanted.sort else [])):
            if name not in table.header:
                raise unknown_column(name, table.header, [name], table.name)
        page = table.page(wanted.offset, wanted.limit, wanted.sort, wanted.where or None, wanted.descending)
        return {
            "columns": list(page.column_names),
            "rows": [list(row) for row in zip(*(c.to_pylist() for c in page.columns), strict=True)],
        }
