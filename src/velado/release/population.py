"""Populations that models compare with: another table of people, generalized by the hierarchies of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from velado.errors import InputError
from velado.frequency import Population
from velado.hierarchies import Hierarchy, build
from velado.schema import Column, Schema
from velado.tables import open_table
from velado.values import Text


def read_population(
    path: str, schema: Schema, hierarchies: Sequence[Hierarchy], records: Sequence[Mapping[Text, int]], folder: Path | None
) -> Population:
    """The population in a file, relative to ``folder``; ``records`` are those of each value of the table itself."""
    names = [h.column for h in hierarchies]
    with open_table(path, folder) as table:
        for name in names:
            if name not in table.header:
                raise InputError(
                    "unknown-column",
                    "the population lacks a quasi-identifier of the table",
                    file=table.name,
                    column=name,
                    hint="Give the population all quasi-identifiers of the table, under the same names.",
                )
        counts = table.count(names)
        file, digest = table.name, table.fingerprint()
    codes = np.array(counts.codes, dtype=np.int64).reshape(len(names), len(counts.counts)).T
    chains = tuple(
        _chains(schema[h.column], h, counts.dictionaries[j], own, folder, file)
        for j, (h, own) in enumerate(zip(hierarchies, records, strict=True))
    )
    return Population(tuple(names), chains, codes, counts.counts.astype(np.int64), digest)


def _chains(
    column: Column, hierarchy: Hierarchy, values: Sequence[Text], records: Mapping[Text, int], folder: Path | None, file: str
) -> tuple[tuple[Text, ...], ...]:
    """The labels of each value of the population, from itself upwards.

    Values that the table does not have get theirs from the same description. Where it lists its leaves itself they belong
    nowhere, as do labels that come out differently: the population is then counted too small, never too large.
    """
    strange = [v for v in values if v not in hierarchy.code]
    wider = hierarchy
    if strange and not hierarchy.listed:
        together = {**records, **dict.fromkeys(strange, 0)}
        try:
            wider = build(column.name, column.hierarchy, together, format=column.format, folder=folder)
        except InputError as error:
            raise InputError(
                error.code, error.message, file=file, column=column.name, values=error.values, hint=error.hint
            ) from None
    return tuple(_chain(hierarchy, v) if v in hierarchy.code else _chain(wider, v) if v in wider.code else (v,) for v in values)


def _chain(hierarchy: Hierarchy, value: Text) -> tuple[Text, ...]:
    code = hierarchy.code[value]
    return tuple(hierarchy.labels[level][hierarchy.maps[level][code]] for level in range(hierarchy.levels))
