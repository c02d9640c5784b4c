"""The quasi-identifier groups of a table, with or without appointments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from velado.appointments.anonymity_vectors import AnonymityVector
from velado.appointments.planning import VectorDocument
from velado.errors import InputError
from velado.frequency.table import distinct_rows
from velado.progress import Progress
from velado.results import Discreet, Result
from velado.tables import Counts, Session, open_table, unknown_column
from velado.values import Text


@dataclass(frozen=True, repr=False)
class GroupSizes(Result):
    """How large the groups of a table are: its anonymity vector, k, and the rank where it is given."""

    SCHEMA: ClassVar[str] = "velado-group-sizes-1"
    table: str
    people: int
    groups: int
    k: int
    vector: dict[int, int]
    rank: str | None

    def summary(self) -> dict[str, Any]:
        """How many people and groups there are, and the smallest group."""
        return {"table": self.table, "people": self.people, "groups": self.groups, "k": self.k}


@dataclass(frozen=True, repr=False)
class AnonymityOfTables(Result):
    """How large the groups of several tables are, and the mean, smallest and largest k."""

    SCHEMA: ClassVar[str] = "velado-anonymity-1"
    ALSO: ClassVar[tuple[str, ...]] = ("k",)
    tables: tuple[GroupSizes, ...]

    @property
    def k(self) -> dict[str, float]:
        """Mean, smallest and largest k."""
        found = [t.k for t in self.tables]
        return {"mean": sum(found) / len(found), "min": min(found), "max": max(found)}


@dataclass(frozen=True, repr=False)
class Groups(Discreet):
    """People who share all quasi-identifiers, and the columns of the appointment where these are named."""

    name: str
    quasi_identifiers: tuple[str, ...]
    appointment: tuple[str, ...]
    counts: Counts

    @cached_property
    def vector(self) -> AnonymityVector:
        """The anonymity vector."""
        return AnonymityVector.of_sizes(self.counts.counts)

    @cached_property
    def base(self) -> AnonymityVector:
        """The vector without the appointment."""
        return AnonymityVector.of_sizes(np.bincount(self._number, weights=self.counts.counts).astype(np.int64))

    @cached_property
    def _number(self) -> np.ndarray:
        """Which quasi-identifier group each line belongs to."""
        columns = range(len(self.quasi_identifiers))
        codes = np.array([self.counts.codes[i] for i in columns], dtype=np.int64)
        return distinct_rows(codes, [len(self.counts.dictionaries[i]) for i in columns])[1]

    def smallest(self, most: int) -> list[tuple[int, tuple[Text, ...], int]]:
        """The smallest groups: a number that groups with equal quasi-identifiers share, the values, the people.

        Those with equal quasi-identifiers stand together, the group with the smallest part first; equal ones by their
        values, whatever the order in which they were counted.
        """
        counts, number = self.counts.counts, self._number
        least = np.full(int(number.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, number, counts)
        ranks = [_ranks(d)[c] for d, c in zip(self.counts.dictionaries, self.counts.codes, strict=True)]
        own = len(self.quasi_identifiers)
        order = np.lexsort((*ranks[: own - 1 : -1], counts, *ranks[own - 1 :: -1], least[number]))[:most]
        shown = {n: i for i, n in enumerate(dict.fromkeys(number[order].tolist()), 1)}
        pairs = list(zip(self.counts.dictionaries, self.counts.codes, strict=True))
        return [(shown[int(number[i])], tuple(d[c[i]] for d, c in pairs), int(counts[i])) for i in order]

    def sizes(self) -> GroupSizes:
        """How large the groups are, without what they show."""
        shown = VectorDocument.of(self.vector)
        people = int(self.counts.counts.sum())
        return GroupSizes(self.name, people, len(self.counts.counts), shown.k, shown.vector, shown.rank)

    def summary(self) -> dict[str, Any]:
        """How many people and groups there are, and the smallest group."""
        return self.sizes().summary()


def _ranks(values: Sequence[Text]) -> np.ndarray:
    """The place of each value among all of them, a missing one last."""
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[sorted(range(len(values)), key=lambda i: (values[i] is None, values[i] or ""))] = np.arange(len(values))
    return ranks


def anonymity_groups(
    data: Any, quasi_identifiers: Sequence[str], appointment: Sequence[str] = (), progress: Progress | None = None
) -> Groups:
    """Count the quasi-identifier groups of a table; with ``appointment`` columns, those of people in one slot.

    >>> import pyarrow as pa
    >>> table = pa.table({"sex": ["f", "f", "f", "m"], "hour": [9, 9, 10, 9]})
    >>> groups = anonymity_groups(table, ["sex"], ["hour"])
    >>> groups.base.counts, groups.vector.counts
    ((1, 0, 1), (2, 1))
    """
    if not quasi_identifiers:
        raise InputError("no-quasi-identifier", "name at least one quasi-identifier", hint="--qi age,sex")
    columns = list(dict.fromkeys([*quasi_identifiers, *appointment]))
    follow = (progress or Progress()).through(open=1, count=3)
    with open_table(data, session=Session(follow("open"))) as table:
        follow("count")
        for name in columns:
            if name not in table.header:
                raise unknown_column(name, table.header, columns, table.name)
        counts = table.count(columns)
        if not counts.counts.sum():
            raise InputError("no-rows", "the table has no rows", file=table.name)
        own = tuple(dict.fromkeys(quasi_identifiers))
        return Groups(table.name, own, tuple(c for c in columns if c not in own), counts)
