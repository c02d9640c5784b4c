"""The fuzzy classes of a table: which rows belong to them, and to which degree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from velado.errors import InputError
from velado.frequency import FrequencyTable
from velado.fuzzy.cardinality import FuzzyCardinality, value_cardinality
from velado.fuzzy.coding import Coding
from velado.fuzzy.histograms import column_histograms
from velado.fuzzy.measures import closeness, distributions, surest_belief
from velado.fuzzy.memberships import product, public_memberships
from velado.results import Discreet

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, repr=False)
class FuzzyClasses(Discreet):
    """Rows × classes of memberships, the records of each row, and its sensitive values by column.

    ``expected`` is the distribution of each sensitive column in the whole input; ``disorder`` says of some why their
    values have no order.
    """

    memberships: np.ndarray
    counts: np.ndarray
    histograms: Mapping[str, csr_array] = field(default_factory=dict)
    expected: Mapping[str, np.ndarray] = field(default_factory=dict)
    disorder: Mapping[str, InputError] = field(default_factory=dict)

    @classmethod
    def of(cls, frequency: FrequencyTable, memberships: np.ndarray, kept: np.ndarray) -> FuzzyClasses:
        """The classes of the kept rows of a frequency table; sets to which none of them belongs at all are no classes."""
        columns = [s.column for s in frequency.sensitive if not s.others]
        released = memberships[kept]
        return cls(
            released[:, (released > 0).any(axis=0)],
            frequency.counts[kept],
            {name: column_histograms(frequency, name)[np.flatnonzero(kept)] for name in columns},
            {name: frequency.sensitive_column(name).expected for name in columns},
            {s.column: s.disorder for s in frequency.sensitive if s.disorder is not None},
        )

    @cached_property
    def cardinality(self) -> FuzzyCardinality:
        """The possible numbers of records of each class."""
        return FuzzyCardinality.of(self.memberships, self.counts)

    def histogram(self, column: str) -> csr_array:
        """The sensitive values of each row."""
        if column not in self.histograms:
            raise InputError(
                "not-sensitive",
                "a model protects this column, but its role is not sensitive",
                column=column,
                hint="Give the column the role 'sensitive', or name another column in the model.",
            )
        return self.histograms[column]

    def values(self, column: str) -> np.ndarray:
        """#(Q_i ∩ s) of each class i and sensitive value s."""
        return value_cardinality(self.memberships, self.histogram(column))

    def closeness(self, column: str, ordered: bool) -> np.ndarray:
        """How far the sensitive values that a row's classes let one expect are from those of the whole table, per row."""
        if ordered and column in self.disorder:
            raise self.disorder[column]
        return closeness(self.memberships, distributions(self.values(column)), self.expected[column], ordered)

    def belief(self, column: str) -> np.ndarray:
        """The surest posterior belief about a row's sensitive value of somebody who knows the whole table's distribution."""
        return surest_belief(self.memberships, self.histogram(column), self.expected[column])


@dataclass(frozen=True, repr=False)
class Fuzzified(Discreet):
    """A released table in fuzzy sets: how its columns were partitioned, and the fuzzy classes.

    ``memberships`` are those of the released rows in the sets of each coding; ``names`` what the sets are called in each
    column, in the order of the sets; ``degrees`` how many decimals of the memberships the release shows, if any.
    """

    codings: tuple[Coding, ...]
    memberships: tuple[np.ndarray, ...]
    names: Mapping[str, tuple[str, ...]]
    classes: FuzzyClasses
    degrees: int | None = None

    def public_view(self, people: FrequencyTable) -> Fuzzified:
        """All that may be told beside suppressed people, given a table of the released ones alone.

        Learned sets, and so the memberships of everybody, were learned from suppressed people, too. They are told as the
        release itself shows them, and no further digit.
        """
        codings, memberships, names = [], [], dict(self.names)
        for coding, own in zip(self.codings, self.memberships, strict=True):
            order = np.argsort(coding.places[0])
            known = own if coding.corners is not None else public_memberships(own, self.degrees)
            memberships.append(known[:, order])
            points = [numbers_of(people, c) for c in coding.columns]
            codings.append(coding.public_view(memberships[-1], np.stack(points, axis=1), people.counts))
            names |= {c: tuple(self.names[c][i] for i in order) for c in coding.columns}
        crossed = memberships[0] if len(memberships) == 1 else product(memberships)
        classes = FuzzyClasses.of(people, crossed, np.ones(people.rows, dtype=bool))
        return Fuzzified(tuple(codings), tuple(memberships), names, classes, self.degrees)


def numbers_of(frequency: FrequencyTable, column: str) -> np.ndarray:
    """The numbers of a quasi-identifier, row by row."""
    j = frequency.columns.index(column)
    scale = frequency.hierarchies[j].scale
    assert scale is not None
    return np.asarray(scale.numbers[frequency.codes[:, j]])
