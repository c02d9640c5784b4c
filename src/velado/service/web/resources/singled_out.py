"""Who is alone in the table of a project, before anything is recoded."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from velado.service import masking
from velado.service.belongings import roles_in
from velado.service.web.asking import known, of_project
from velado.service.web.call import Called
from velado.service.web.spoken import spoken
from velado.service.web.waiting import wait_for

router = APIRouter(tags=["projects"])
KIND = "singled-out"
SECONDS = 60.0
Table = Annotated[str | None, Query(max_length=200, description="Of a project of several tables")]
Count = int | str
"""A number, or "fewer than 3" for who may not read records."""


class ColumnSet(BaseModel):
    """Columns, and how many they single out together."""

    columns: list[str]
    singled_out: Count


class SingledOut(BaseModel):
    """How many of the ``records`` (of the people, if ``people``) nobody else is like, by the quasi-identifiers (``columns``).

    ``few`` are in groups of fewer than ``k``, which is that of the models. ``without``: how many are left if one of the columns
    is taken away. ``combinations``: the pairs and triples of the columns that single out the most. ``published``: sensitive and
    insensitive columns as they would be published, with their ``dangers`` (``content``, ``alone``), and why in ``reason``.
    """

    version: int
    columns: list[str]
    k: int
    records: Count
    singled_out: Count
    few: Count
    people: bool = False
    without: dict[str, Count] = Field(default_factory=dict)
    combinations: list[ColumnSet] = Field(default_factory=list)
    published: list[dict[str, Any]] = Field(default_factory=list)


@router.get("/projects/{id}/singled-out")
def read_singled_out(call: Called, id: str, table: Table = None) -> SingledOut:
    """How many are unique on the quasi-identifiers of a project, and which published columns single people out.

    It is answered by a warm process, at once for small tables. The project need not be finished.
    """
    asked = {} if table is None else {"table": table}
    with call.reading() as db:
        project = call.caller.project(db, id, "profile.read")
        values = "records.read" in call.caller.actions_in(db, id)
        version, found = project.version, known(db, project, KIND, asked)
    if found is None:
        with call.writing() as db:
            project = call.caller.project(db, id, "profile.read")
            version = project.version
            job = of_project(db, call, KIND, project, asked, quick=True)
        found = wait_for(call, job.id, SECONDS, values=values)
    if not values:
        found = masking.masked(found, KIND, roles_in([project]))
    return SingledOut(version=version, **spoken(found, call.language))
