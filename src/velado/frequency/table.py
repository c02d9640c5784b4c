"""The frequency table: distinct quasi-identifier rows, their counts and sensitive histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from velado.errors import InputError
from velado.frequency.population import Population
from velado.frequency.sensitive import Sensitive
from velado.hierarchies import Hierarchy
from velado.results import Discreet
from velado.tables.counts import Counts


@dataclass(frozen=True, repr=False)
class FrequencyTable(Discreet):
    """Distinct quasi-identifier rows in lexicographic order of their leaf codes.

    ``codes[r, j]`` is the leaf code of row r in column j and ``counts[r]`` its number of records.
    The sensitive values of row r are the entries ``start[r] … start[r+1]`` of ``values`` and
    ``value_counts``, ascending. All arrays are independent of the engine that counted. Where the records of a row come
    into different classes it stands here once for each of them, and ``undivided`` is the table without repetition.
    ``people`` describes the last value of the histograms where people are counted, not only records. ``populations`` are
    other tables of people that models compare with, by the path that they name.
    """

    hierarchies: tuple[Hierarchy, ...]
    codes: np.ndarray
    counts: np.ndarray
    sensitive: tuple[Sensitive, ...] = ()
    start: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    values: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    value_counts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    undivided: FrequencyTable | None = None
    people: Sensitive | None = None
    populations: Mapping[str, Population] = field(default_factory=dict)

    @classmethod
    def build(
        cls, hierarchies: Sequence[Hierarchy], counted: Sequence[Counts], sensitive: Sequence[Sensitive] = ()
    ) -> FrequencyTable:
        """Put the engine's counts together: one `Counts` per sensitive attribute, or one alone."""
        tables = [
            np.array([c.encode_column(h.column, h.encode) for h in hierarchies], dtype=np.int32).reshape(
                len(hierarchies), len(c.counts)
            )
            for c in counted
        ]
        placed, values, first = [], [], 0
        for attribute, c in zip(sensitive, counted, strict=False):
            known = replace(attribute, first=first)
            values.append(known.encode(c) - first)
            own = np.bincount(values[-1] % known.width, weights=c.counts, minlength=known.width)
            placed.append(known if len(known.expected) else replace(known, expected=own / max(own.sum(), 1)))
            first += known.width * known.segments
        return cls.of_codes(hierarchies, tables, [c.counts for c in counted], values, placed)

    @classmethod
    def of_codes(
        cls,
        hierarchies: Sequence[Hierarchy],
        tables: Sequence[np.ndarray],
        counted: Sequence[np.ndarray],
        values: Sequence[np.ndarray],
        sensitive: Sequence[Sensitive],
    ) -> FrequencyTable:
        """The same from leaf codes (one row per column), counts and sensitive codes, one each per sensitive attribute."""
        codes, row_of = distinct_rows(np.concatenate(tables, axis=1), [len(h.leaves) for h in hierarchies])
        rows = len(codes)
        parts = np.split(row_of, np.cumsum([t.shape[1] for t in tables])[:-1])
        counts = np.bincount(parts[0], weights=counted[0], minlength=rows).astype(np.int64)
        if not sensitive:
            return cls(tuple(hierarchies), codes, counts)
        placed = [s.first + v for s, v in zip(sensitive, values, strict=True)]
        domain = sum(s.width * s.segments for s in sensitive)
        start, entries, entry_counts = sparse(rows, domain, parts, placed, list(counted))
        return cls(tuple(hierarchies), codes, counts, tuple(sensitive), start, entries, entry_counts)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return tuple(h.column for h in self.hierarchies)

    def summary(self) -> dict[str, Any]:
        """The quasi-identifiers, how many different rows they have, and how many records."""
        columns = tuple(h.column for h in self.hierarchies)
        return {"columns": columns, "rows": self.rows, "records": self.records, "sensitive": len(self.sensitive)}

    @property
    def rows(self) -> int:
        """Number of distinct quasi-identifier rows."""
        return len(self.codes)

    @cached_property
    def records(self) -> int:
        """Number of records N."""
        return int(self.counts.sum())

    @property
    def size(self) -> int:
        """How many people there are, or records if every record is a person."""
        people = self.people
        if people is None:
            return self.records
        return int(-(-self.value_counts[self.values == people.first].sum() // people.unit))

    @property
    def judged_columns(self) -> tuple[Sensitive, ...]:
        """What models are judged on: the sensitive columns, and the people where they are counted."""
        return self.sensitive if self.people is None else (*self.sensitive, self.people)

    @property
    def histogram_domain(self) -> int:
        """Exclusive upper bound of the histogram values."""
        return sum(s.width * s.segments for s in self.judged_columns)

    def with_people(self, person: str, people: np.ndarray, unit: int = 1) -> FrequencyTable:
        """The table with the people of each row, in units, behind its sensitive values."""
        start, values, counts = add_people(self.start, self.values, self.value_counts, self.sensitive_domain, people)
        return replace(self, people=self.people_at(person, unit), start=start, values=values, value_counts=counts)

    @property
    def sensitive_domain(self) -> int:
        """The histogram values of sensitive columns are below this, that of people is this."""
        return sum(s.width * s.segments for s in self.sensitive)

    def people_at(self, person: str, unit: int) -> Sensitive:
        """How people are described in the histograms."""
        return Sensitive(person, (None,), first=self.sensitive_domain, expected=np.ones(1), unit=unit)

    def sensitive_column(self, name: str, others: Sequence[str] = ()) -> Sensitive:
        """The histogram description of a sensitive column."""
        for attribute in self.sensitive:
            if attribute.column == name and attribute.others == tuple(others):
                return attribute
        raise InputError(
            "not-sensitive",
            "a model protects this column, but its role is not sensitive",
            column=name,
            hint="Give the column the role 'sensitive', or name another column in the model.",
        )

    @cached_property
    def leaf_records(self) -> tuple[np.ndarray, ...]:
        """Per column, the records of each leaf."""
        return tuple(
            np.bincount(self.codes[:, j], weights=self.counts, minlength=len(h.leaves)).astype(np.int64)
            for j, h in enumerate(self.hierarchies)
        )

    @property
    def singled_out(self) -> int:
        """Records that are alone with their quasi-identifier values."""
        return int((self.counts == 1).sum())


def distinct_rows(codes: np.ndarray, radices: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of a matrix given by its columns, in lexicographic order, and which one each row is."""
    keys = np.zeros(codes.shape[1], dtype=np.int64)
    domain, whole = 1, True
    for row, radix in zip(codes, radices, strict=True):
        if domain > (1 << 62) // max(radix, 1):
            # Renumbering keeps the order, so the final order is still lexicographic.
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            domain, whole = len(keys), False
        keys = keys * radix + row
        domain *= max(radix, 1)
    order, first = _runs(keys)
    row_of = np.empty(len(keys), dtype=np.int64)
    row_of[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(keys)))
    if not whole:
        return np.ascontiguousarray(codes[:, order[first]].T), row_of
    # Taking the sorted keys apart reads memory in order; looking the codes up again would not.
    left, rows = keys[order[first]], np.empty((len(first), len(radices)), dtype=codes.dtype)
    for j in reversed(range(len(radices))):
        left, rows[:, j] = np.divmod(left, max(radices[j], 1))
    return rows, row_of


def _runs(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order that sorts the keys, and where each different key begins in it; NumPy's ``unique`` sorts stably, slower."""
    order = np.argsort(keys)
    ordered = keys[order]
    return order, np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(keys)])


def add_people(
    start: np.ndarray, values: np.ndarray, counts: np.ndarray, place: int, people: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Histograms with the people of each row or class under the value ``place``, in the place of others that were there."""
    entries = np.repeat(np.arange(len(people)), np.diff(start)) if len(values) else np.zeros(0, dtype=np.int64)
    kept = values < place
    # Kernels take a count of 0 for a value that is not there.
    rows = np.flatnonzero(people)
    return sparse(
        len(people),
        place + 1,
        [entries[kept], rows],
        [values[kept].astype(np.int64), np.full(len(rows), place)],
        [counts[kept], people[rows].astype(np.int64)],
    )


def sparse(
    rows: int, domain: int, entry_rows: list[np.ndarray], entry_values: list[np.ndarray], entry_counts: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries (row, value, count) as histograms by row, equal ones added up."""
    keys = np.concatenate(entry_rows).astype(np.int64) * domain + np.concatenate(entry_values)
    order, first = _runs(keys)
    unique = keys[order[first]]
    counts = np.add.reduceat(np.concatenate(entry_counts)[order], first, dtype=np.int64)
    start = np.searchsorted(unique, np.arange(rows + 1, dtype=np.int64) * domain)
    return start.astype(np.int64), (unique % domain).astype(np.int32), counts
