"""How much memory a project needs, and so how it is solved: in memory or in parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from velado.models import smallest_class
from velado.parameters import bytes_of
from velado.project import Project
from velado.release.fit import Fitted
from velado.results import Result
from velado.schema import Schema
from velado.sentences import Sentence
from velado.tables import MEMORY, Table
from velado.tables.files import free_memory

ROW, COLUMN = 60, 40
"""Bytes that a distinct row needs at the peak, and those of each of its quasi-identifiers; measured."""


@dataclass(frozen=True, repr=False)
class Estimate(Result):
    """What is known of a run beforehand.

    ``distinct`` quasi-identifier rows (about), ``needed`` bytes for them (for all records where a method may part equal
    ones), ``memory`` that may be used, ``how``: in memory
    or in parts. ``thesis_levels`` = log2(records/k) + 1 and ``thesis_size`` = size of the data times that are formulas
    (6) and (7) of the Anonylitics thesis: the worst case of an algorithm that copies its parts at every level.
    """

    SCHEMA: ClassVar[str] = "velado-estimate-1"
    NAMES: ClassVar[tuple[str, ...]] = ("how", "method")
    rows: int
    distinct: int
    needed: int
    memory: int
    how: str
    method: str
    thesis_levels: float | None
    thesis_size: int | None


def estimate_table(project: Project, table: Table, schema: Schema) -> Estimate:
    """The estimate of a table that is open."""
    quasi = schema.names("quasi-identifier")
    rows = table.rows()
    distinct = min(rows, math.ceil(table.distinct(quasi) * 1.05)) if quasi and rows else 0
    needed = (rows if project.method.divides else distinct) * (ROW + COLUMN * len(quasi))
    splits = "memory" in project.method.parameters
    limit = bytes_of(getattr(project.method, "memory", None)) or free_memory() // 2
    k = smallest_class(project.models)
    levels = math.log2(rows / k) + 1 if rows >= k else None
    size = table.size()
    return Estimate(
        rows=rows,
        distinct=distinct,
        needed=needed,
        memory=limit,
        how=Sentence("in parts") if splits and needed > limit else Sentence("in memory"),
        method=project.method.name,
        thesis_levels=levels,
        thesis_size=None if size is None or levels is None else round(size * levels),
    )


def too_large(fitted: Fitted) -> Estimate | None:
    """The estimate of a table that is too large for the memory that its method may use; if it is not, the engine gets more."""
    project, table = fitted.project, fitted.table
    if project.output.in_memory or "memory" not in project.method.parameters:
        return None
    expected = estimate_table(project, table, fitted.schema)
    if expected.how != "in memory":
        return expected
    table.limit(max(MEMORY, (expected.memory - expected.needed) // 2))
    return None
