"""Published columns that are not quasi-identifiers, in several tables that everybody may put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from velado.evaluation.exposure import Exposure
from velado.evaluation.joint_exposure import JointExposure
from velado.release.column_exposure import look_among
from velado.release.count_joint_exposure import expose_rows
from velado.release.read_back import count_together, readable, showing, without
from velado.schema import Column
from velado.tables import Counts, Groups, Table
from velado.values import ROOT


def expose_together(
    tables: Sequence[Table], quasi: Sequence[str], columns: Sequence[Column], below: int, allowance: float = 0.0
) -> tuple[tuple[Exposure, ...], JointExposure]:
    """How far the columns single records of all tables out; rows of ``*`` do not count."""
    counts = _visible_counts([t for t in tables if all(name in t.header for name in quasi)], quasi)
    known = _groups(counts, quasi, below, lacking=True).few
    exposures = tuple(
        _column_exposure([t for t in tables if c.name in t.header], quasi, c, below, few_known=known, allowance=allowance)
        for c in columns
    )
    every = [t for t in tables if all(c.name in t.header for c in columns)]
    return exposures, expose_rows(
        _visible_counts(every, [*quasi, *(c.name for c in columns)]), None, quasi, exposures, below, allowance
    )


def _visible_counts(tables: Sequence[Table], columns: Sequence[str]) -> Counts:
    counts = count_together([readable(t.count(columns)) for t in tables])
    return without(counts, np.where(showing(counts, counts.names, (ROOT,)), 0, counts.counts))


def _column_exposure(tables: Sequence[Table], quasi: Sequence[str], column: Column, below: int, **more: Any) -> Exposure:
    counts = _visible_counts(tables, [*quasi, column.name])
    alone = _groups(counts, [column.name], below)
    together = _groups(counts, [*quasi, column.name], below)
    place = counts.names.index(column.name)
    values = counts.dictionaries[place]
    records = np.bincount(counts.codes[place], counts.counts, len(values)).astype(np.int64).tolist()
    present = {v: n for v, n in zip(values, records, strict=True) if v is not None and v != ROOT}
    seen = look_among(column, present, int(counts.counts.sum()))
    return Exposure.of(column.name, column.role, below, alone, together, **seen, **more)


def _groups(counts: Counts, columns: Sequence[str], below: int, lacking: bool = False) -> Groups:
    """The groups of records that are alike in all columns; of those with a value in the last one, or also ``lacking`` it."""
    places = [counts.names.index(name) for name in columns]
    values = counts.dictionaries[places[-1]]
    codes = np.array([counts.codes[j] for j in places], dtype=np.int64)
    there = np.array([lacking or v is not None for v in values], dtype=bool)[codes[-1]]
    if not there.any():
        return Groups(0, 0, 0, 0)
    _, group = np.unique(codes[:, there], axis=1, return_inverse=True)
    sizes = np.bincount(group.reshape(-1), counts.counts[there]).astype(np.int64)
    return Groups.of(sizes, below)
