"""The same level in all tables for quasi-identifiers that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from velado.errors import InputError
from velado.hierarchies import Hierarchy
from velado.methods import Found
from velado.methods.base import release_of
from velado.progress import Progress
from velado.project.document import Project
from velado.release.count import Counted
from velado.release.search import search
from velado.schema import Column
from velado.schema.values import column_hierarchy, values_of
from velado.sentences import Sentence
from velado.tables import Table
from velado.values import Text

Shared = Mapping[str, Sequence[tuple[str, Column]]]
"""Per attribute, its columns with their tables."""


def with_shared_hierarchies(
    projects: Mapping[str, Project], tables: Mapping[str, Table], shared: Shared
) -> dict[str, tuple[Column, ...]]:
    """The columns of every table; those that share an attribute get one hierarchy, of the values of all."""
    columns = {name: {c.name: c for c in project.columns} for name, project in projects.items()}
    for places in shared.values():
        values: Counter[Text] = Counter()
        for table, column in places:
            if column.name in tables[table].header:
                values.update(values_of([tables[table].count([column.name])], column.name))
        table, column = places[0]
        ordered = {v: values[v] for v in sorted(values, key=lambda v: (v is None, v or ""))}
        hierarchy = column_hierarchy(column, ordered, projects[table].folder)
        for table, column in places:
            own = replace(hierarchy, column=column.name)
            columns[table][column.name] = replace(column, hierarchy=own)
    return {name: tuple(found.values()) for name, found in columns.items()}


def align(counted: Mapping[str, Counted], shared: Shared, progress: Progress) -> dict[str, Found]:
    """Search every table; raise shared columns to the highest level found, search again, until all levels agree.

    Levels only rise, so it ends, at the latest where every shared column is at its highest level. A table that had to
    follow another is optimal for the levels it was given, which proves nothing about all tables together.
    Local recodings have no levels and stay as they are.
    """
    found = {name: search(c, progress.of(i, len(counted))) for i, (name, c) in enumerate(counted.items())}
    while True:
        wanted = _highest(counted, found, shared)
        behind = [name for name, floors in wanted.items() if _levels(counted[name], found[name], floors) != floors]
        if not behind:
            return found
        for name in behind:
            if "levels" in counted[name].project.method.parameters:
                raise InputError(
                    "attribute-differs",
                    Sentence("table '{table}': the levels of attributes that tables share must be the same", table=name),
                    hint=Sentence("Give them the same levels: {levels}.", levels=[f"{c}: {x}" for c, x in wanted[name].items()]),
                )
            found[name] = _search_from(counted[name], wanted[name], progress)


def _levels(counted: Counted, found: Found, columns: Mapping[str, int]) -> dict[str, int]:
    assert found.levels is not None
    levels = dict(zip(counted.frequency.columns, found.levels, strict=True))
    return {name: levels[name] for name in columns}


def _highest(counted: Mapping[str, Counted], found: Mapping[str, Found], shared: Shared) -> dict[str, dict[str, int]]:
    """Per table, the level that each of its shared columns must have at least."""
    wanted: dict[str, dict[str, int]] = {name: {} for name, f in found.items() if f.levels is not None}
    for places in shared.values():
        here = [(table, column.name) for table, column in places if table in wanted]
        highest = max((_levels(counted[t], found[t], {c: 0})[c] for t, c in here), default=0)
        for table, column in here:
            wanted[table][column] = highest
    return wanted


@dataclass(frozen=True, repr=False)
class Coarsened(Hierarchy):
    """A hierarchy from a level on. Its leaves stay those of the whole, so that losses stay what they are."""

    values: tuple[Text, ...] = ()

    @classmethod
    def of(cls, whole: Hierarchy, level: int) -> Coarsened:
        """Leave out the levels below one."""
        return cls(whole.column, whole.labels[level:], whole.maps[level:], whole.scale, whole.listed, whole.leaves)

    @property
    def leaves(self) -> tuple[Text, ...]:
        """The values of the whole hierarchy."""
        return self.values


def _search_from(counted: Counted, floors: Mapping[str, int], progress: Progress) -> Found:
    """What the method finds when no column goes below its floor."""
    frequency, models = counted.frequency, counted.project.models
    lowest = [floors.get(name, 0) for name in frequency.columns]
    coarse = [Coarsened.of(h, x) for h, x in zip(frequency.hierarchies, lowest, strict=True)]
    found = search(replace(counted, frequency=replace(frequency, hierarchies=tuple(coarse))), progress)
    assert found.levels is not None

    def whole(levels: Sequence[int]) -> tuple[int, ...]:
        return tuple(x + y for x, y in zip(levels, lowest, strict=True))

    followed = replace(found.search, proven_optimal=False, gap=None)
    return release_of(frequency, models, whole(found.levels), followed, minimal=tuple(map(whole, found.minimal)))
