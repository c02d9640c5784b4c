"""People who have several rows: k and risk are about people, not about rows.

A class of three rows of one person hides nobody. Where a column says which rows belong to one person (or household), the
search counts each row as 1/(rows of its person): the sum over a class is never more than its different people, and can be
added up as methods do. What was written is then judged on the different people themselves. Rows that do not say whose they
are count as nobody, for they may belong to anybody in their class; a class of such rows alone has one person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from velado.errors import InputError
from velado.evaluation import Pair, People
from velado.frequency import FrequencyTable
from velado.frequency.table import distinct_rows
from velado.results import Discreet
from velado.tables import NOBODY, Table
from velado.values import Text

Shown = Mapping[tuple[Text, ...], int]
"""Different people by the labels of their class."""


def with_shares(table: Table, frequency: FrequencyTable, person: str | None) -> FrequencyTable:
    """The frequency table with people shared out over their rows, for searches."""
    if person is None:
        return frequency
    counts, unit = table.shares(frequency.columns, person)
    shares = FrequencyTable.build(frequency.hierarchies, [counts]).counts
    return frequency.with_people(person, shares, unit)


@dataclass(frozen=True, repr=False)
class Membership(Discreet):
    """Each distinct row of a frequency table with each person in it, both as numbers."""

    NAMES: ClassVar[tuple[str, ...]] = ("person",)
    person: str
    rows: np.ndarray
    people: np.ndarray

    @classmethod
    def of(cls, table: Table, frequency: FrequencyTable, person: str) -> Membership:
        """Counted in the table where it lives."""
        counts, people = table.members(frequency.columns, person)
        codes = np.array([counts.encode_column(h.column, h.encode) for h in frequency.hierarchies], dtype=np.int32)
        together = np.concatenate([frequency.codes.T.astype(np.int32), codes], axis=1)
        _, row_of = distinct_rows(together, [len(h.leaves) for h in frequency.hierarchies])
        return cls(person, row_of[frequency.rows :], people)

    def with_people(self, pair: Pair) -> Pair:
        """The pair with its different people."""
        if pair.class_of is None:
            raise InputError(
                "not-on-people",
                "people cannot be counted: the release does not tell which class each record went to",
                column=self.person,
            )
        classes = np.where(pair.class_of >= 0, pair.shown_as[pair.class_of], -1)[self.rows]
        kept = classes >= 0
        found = People(
            self.person,
            before=different(self.rows, self.people, pair.original.rows),
            classes=different(classes[kept], self.people[kept], len(pair.shown_sizes)),
            released=int(different(np.zeros(kept.sum(), dtype=np.int64), self.people[kept], 1)[0]),
        )
        return replace(pair, people=found)


def count_people(table: Table, pair: Pair, person: str | None) -> Pair:
    """The pair with its different people, if people may have several rows."""
    return pair if person is None else Membership.of(table, pair.original, person).with_people(pair)


def different(groups: np.ndarray, people: np.ndarray, count: int) -> np.ndarray:
    """How many different people each of some groups has; one, where nobody in it is known.

    >>> different(np.array([0, 0, 1, 1, 1, 2]), np.array([7, 7, 7, 8, NOBODY, NOBODY]), 3).tolist()
    [1, 2, 1]
    """
    order = np.lexsort((people, groups))
    groups, people = groups[order], people[order]
    first = np.ones(len(groups), dtype=bool)
    first[1:] = (groups[1:] != groups[:-1]) | (people[1:] != people[:-1])
    anybody = np.bincount(groups, minlength=count) > 0
    return np.maximum(np.bincount(groups[first & (people != NOBODY)], minlength=len(anybody)), anybody)


def number_of(people: np.ndarray) -> int:
    """How many different people there are at most: each row that does not say whose it is may be another one's."""
    known = people[people != NOBODY]
    return len(np.unique(known)) + len(people) - len(known)


def shown_people(pair: Pair) -> Shown | None:
    """The people of each class by its labels, as verification finds them."""
    if pair.people is None:
        return None
    return {
        texts: int(pair.people.classes[shown])
        for texts, shown in zip(pair.texts(range(pair.released.count)), pair.shown_as, strict=True)
    }
