"""Values that a recoding has not seen, placed by the hierarchies that it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from velado.errors import InputError
from velado.recoding import ColumnRecoding, Recoding
from velado.release.fit import Fitted
from velado.schema import Column
from velado.schema.values import column_hierarchy, values_of
from velado.values import Text


def extend_recoding(recoding: Recoding, fitted: Fitted) -> Recoding:
    """The recoding with the values of new rows that the project's hierarchies have a place for, on the same levels.

    Dates, intervals, masks and paths say of every value where it belongs; lists and files only of those that they list. A
    description that gives known values other labels than they have, because it depends on all values, places none. Local
    recodings stay as they are: they know classes, not values.
    """
    columns = []
    for c in recoding.columns:
        values = values_of([fitted.table.count([c.name])], c.name)
        strange = {v: n for v, n in values.items() if v not in set(c.values)}
        columns.append(_extend_column(c, fitted.schema[c.name], strange, fitted.project.folder) if strange else c)
    return replace(recoding, columns=tuple(columns))


def _extend_column(c: ColumnRecoding, column: Column, strange: Mapping[Text, int], folder: Path) -> ColumnRecoding:
    if c.level is None:
        return c
    together = {v: strange.get(v, 1) for v in sorted({*c.values, *strange}, key=lambda v: (v is None, v or ""))}
    try:
        hierarchy = column_hierarchy(column, together, folder)
    except InputError:
        return c
    if hierarchy.listed or c.level > hierarchy.height:
        return c
    labels = hierarchy.labels[c.level]
    label = {v: labels[hierarchy.maps[c.level][hierarchy.code[v]]] for v in together}
    if any(label[v] != c.labels[code] for v, code in zip(c.values, c.codes.tolist(), strict=True)):
        return c
    place = {text: i for i, text in enumerate(dict.fromkeys([*c.labels, *(label[v] for v in strange)]))}
    codes = np.concatenate([c.codes, np.array([place[label[v]] for v in strange], dtype=np.int64)])
    return replace(c, values=(*c.values, *strange), codes=codes, labels=tuple(place))
