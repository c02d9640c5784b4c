"""The values of a column against its description: their type, and the hierarchy that covers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from velado.errors import InputError, Problems
from velado.hierarchies import Hierarchy, build
from velado.hierarchies.calendar import date_scale, parse_dates
from velado.hierarchies.labels import numbers_of
from velado.hierarchies.scale import Scale
from velado.numbers import column_notation, notation_of, parse_all
from velado.schema.columns import Column
from velado.tables import Counts
from velado.values import Text


def values_of(counted: Sequence[Counts], name: str) -> dict[Text, int]:
    """The different values of a column with their records, sorted, a missing one last; all counts are of one table."""
    found: dict[Text, int] = {}
    for c in counted:
        place = c.names.index(name)
        values = c.dictionaries[place]
        found.update(zip(values, np.bincount(c.codes[place], c.counts, len(values)).astype(np.int64).tolist(), strict=True))
    return {v: found[v] for v in sorted(found, key=lambda v: (v is None, v or ""))}


def column_hierarchy(column: Column, values: Mapping[Text, int], folder: Path | None) -> Hierarchy:
    """The hierarchy of a column for the values that occur, with their numbers of records."""
    problems = Problems(column.name)
    with problems.at("columns", column.name, "type"):
        _check_type(column, [v for v in values if v is not None])
    problems.raise_if_any()
    with problems.at("columns", column.name, "hierarchy"):
        hierarchy = build(column.name, column.hierarchy, values, format=column.format, missing=column.missing, folder=folder)
    problems.raise_if_any()
    return hierarchy if hierarchy.scale is not None else replace(hierarchy, scale=_scale(column, hierarchy))


def _scale(column: Column, hierarchy: Hierarchy) -> Scale | None:
    """Order and distances of a column's values: of its type, or of numbers where all values are numbers.

    A hierarchy from a file may have leaves that are no values of the type: then there is none.
    """
    present = [v for v in hierarchy.leaves if v is not None]
    try:
        if column.type == "date":
            known = date_scale(parse_dates(column.name, present, column.format), column.format)
        elif column.type in ("integer", "number"):
            numbers = np.array(parse_all(column.name, present))
            known = Scale(numbers, notation=column_notation(column.name, present))
        else:
            found, notation = numbers_of(present), notation_of([v for v in present if v is not None])
            if found is None or notation is None:
                return None
            known = Scale(found, notation=notation)
    except InputError:
        return None
    numbers = np.full(len(hierarchy.leaves), np.nan)
    numbers[[i for i, v in enumerate(hierarchy.leaves) if v is not None]] = known.numbers
    return replace(known, numbers=numbers)


def _check_type(column: Column, values: Sequence[str]) -> None:
    """The values are of the type that the project says."""
    if column.type in ("integer", "number"):
        numbers = parse_all(column.name, values)
        broken = [v for v, x in zip(values, numbers, strict=True) if column.type == "integer" and not x.is_integer()]
        if broken:
            raise InputError("not-an-integer", "values are not whole numbers", column=column.name, values=broken)
    elif column.type == "date":
        parse_dates(column.name, values, column.format)
