"""Published columns that are not quasi-identifiers, in several tables that everybody may put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from velado.evaluation.exposure import Exposure
from velado.release.published import content_among, value_size
from velado.release.read_back import counted_together, readable, showing, without
from velado.schema import Column
from velado.tables import Counts, Groups, Table
from velado.values import ROOT


def expose_together(
    tables: Sequence[Table], quasi: Sequence[str], columns: Sequence[Column], below: int
) -> tuple[Exposure, ...]:
    """How far the columns single records of all tables out; rows of ``*`` do not count."""
    return tuple(_exposed([t for t in tables if c.name in t.header], quasi, c, below) for c in columns)


def _exposed(tables: Sequence[Table], quasi: Sequence[str], column: Column, below: int) -> Exposure:
    counts = counted_together([readable(t.count([*quasi, column.name])) for t in tables])
    counts = without(counts, np.where(showing(counts, counts.names, (ROOT,)), 0, counts.counts))
    alone = _groups(counts, [column.name], value_size(below))
    together = _groups(counts, [*quasi, column.name], below)
    content = None if column.published else _content(counts, column.name)
    return Exposure.of(
        column.name, column.role, below, alone, together, content=content, knowingly=bool(column.published)
    )


def _content(counts: Counts, name: str) -> str | None:
    place = counts.names.index(name)
    values = counts.dictionaries[place]
    records = np.bincount(counts.codes[place], counts.counts, len(values)).astype(np.int64).tolist()
    present = {v: n for v, n in zip(values, records, strict=True) if v is not None and v != ROOT}
    return content_among(name, present, int(counts.counts.sum()))


def _groups(counts: Counts, columns: Sequence[str], below: int) -> Groups:
    """The groups of records with a value in the last column that are alike in all of them."""
    places = [counts.names.index(name) for name in columns]
    values = counts.dictionaries[places[-1]]
    codes = np.array([counts.codes[j] for j in places], dtype=np.int64)
    there = np.array([v is not None for v in values], dtype=bool)[codes[-1]]
    if not there.any():
        return Groups(0, 0, 0, 0)
    _, group = np.unique(codes[:, there], axis=1, return_inverse=True)
    sizes = np.bincount(group.reshape(-1), counts.counts[there]).astype(np.int64)
    return Groups.of(sizes, below)
