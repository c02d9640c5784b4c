"""How much memory a project needs, and so how it is solved: in memory or in parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from velado.errors import InputError
from velado.models import smallest_class
from velado.parameters import bytes_of
from velado.project import Project
from velado.release.fit import Fitted
from velado.results import Result
from velado.schema import Schema
from velado.sentences import Sentence
from velado.tables import MEMORY, Capability, Table
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
        how=_how(table, splits, needed > limit),
        method=project.method.name,
        thesis_levels=levels,
        thesis_size=None if size is None or levels is None else round(size * levels),
    )


def _how(table: Table, splits: bool, large: bool) -> Sentence:
    """In memory, in parts, or not at all."""
    spread = Capability.SPREAD in table.engine.capabilities
    if not large or not (splits or spread):
        return Sentence("in memory")
    if not splits:
        return Sentence("not here: the frequency table does not fit the memory of the driver")
    return Sentence("in parts, on the cluster") if spread else Sentence("in parts")


def too_large(fitted: Fitted) -> Estimate | None:
    """The estimate of a table that is too large for the memory that its method may use; if it is not, the engine gets more."""
    project, table = fitted.project, fitted.table
    splits, spread = "memory" in project.method.parameters, Capability.SPREAD in table.engine.capabilities
    if project.output.in_memory or not (splits or spread):
        return None
    expected = estimate_table(project, table, fitted.schema)
    if expected.needed > expected.memory and not splits:
        raise _no_room(expected)
    if expected.how != "in memory":
        return expected
    table.limit(max(MEMORY, (expected.memory - expected.needed) // 2))
    return None


def _no_room(expected: Estimate) -> InputError:
    """The error for a frequency table that a method needs whole, and that the driver cannot hold."""
    fits = round(expected.distinct * expected.memory / max(expected.needed, 1))
    return InputError(
        "engine-cannot",
        Sentence(
            "the method {method} needs the frequency table in the memory of the driver: about {distinct:,} distinct rows, "
            "{needed:,} MB; {memory:,} MB may be used, so that about {fits:,} distinct rows would fit",
            method=expected.method,
            distinct=expected.distinct,
            needed=round(expected.needed / 1e6),
            memory=round(expected.memory / 1e6),
            fits=fits,
        ),
        hint="Take method: mondrian, which the cluster solves in parts; start from coarser columns, by a query; or give the driver more memory.",
    )
