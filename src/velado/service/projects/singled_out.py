"""Who is alone in the table of a project, before anything is recoded."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from velado.service.jobs.localize import translate_result
from velado.service.projects.questions import ask_project
from velado.service.unit_of_work import UnitOfWork

Count = int | str
"""A number, or "fewer than 3" for who may not read records."""


class ColumnSet(BaseModel):
    """Columns, and how many they single out together."""

    columns: list[str]
    singled_out: Count


class SingledOutAnswer(BaseModel):
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


def read_singled_out(work: UnitOfWork, id: str, table: str | None = None) -> SingledOutAnswer:
    """How many are unique on the quasi-identifiers of a project, and which published columns single people out."""
    version, found = ask_project(work, id, "singled-out", {} if table is None else {"table": table})
    return SingledOutAnswer(version=version, **translate_result(found, work.language))
