"""Frequency tables whose records with equal values come into different classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from velado.frequency.classes import Classes
from velado.frequency.table import FrequencyTable, sparse
from velado.results import Discreet


@dataclass(frozen=True, repr=False)
class SingleRecords(Discreet):
    """The records of a frequency table one by one: rows in their order, a row's records by sensitive value.

    ``table`` has one row for each record, ``row_of`` tells which row of ``whole`` it comes from. Records are only told
    apart by one sensitive column: with several, counts do not say which values belong to one person.
    """

    whole: FrequencyTable
    table: FrequencyTable
    row_of: np.ndarray

    @classmethod
    def of(cls, frequency: FrequencyTable) -> SingleRecords:
        """Repeat every row as often as it occurs."""
        assert len(frequency.sensitive) <= 1
        n = frequency.records
        row_of = np.repeat(np.arange(frequency.rows), frequency.counts)
        values = np.repeat(frequency.values, frequency.value_counts)
        codes, counts = frequency.codes[row_of], np.ones(n, dtype=np.int64)
        start = np.arange(n + 1) if frequency.sensitive else frequency.start
        single = replace(frequency, codes=codes, counts=counts, start=start, values=values, value_counts=counts[: len(values)])
        return cls(frequency, single, row_of)

    def divide(self, class_of: np.ndarray) -> Classes:
        """Classes of records: a table with a row for each class that a row's records are in."""
        count = int(class_of.max(initial=-1)) + 1
        portions, portion = np.unique(self.row_of * count + class_of, return_inverse=True)
        start, values, value_counts = self.whole.start, self.whole.values, self.whole.value_counts
        if self.whole.sensitive:
            start, values, value_counts = sparse(
                len(portions), self.whole.histogram_domain, [portion], [self.table.values], [self.table.counts]
            )
        table = replace(
            self.whole,
            codes=self.whole.codes[portions // count],
            counts=np.bincount(portion).astype(np.int64),
            start=start,
            values=values,
            value_counts=value_counts,
            undivided=self.whole,
        )
        return Classes.from_ids(table, portions % count, count)


@dataclass(frozen=True, repr=False)
class Portions(Discreet):
    """The records of a divided table by row and sensitive value: which of those that are alike belong to which class.

    Of the records with the values of row ``rows[i]`` and the sensitive value ``values[i]`` (−1 without a sensitive
    column), counted from 1, the ones from ``first[i]`` to ``last[i]``.
    """

    rows: np.ndarray
    values: np.ndarray
    first: np.ndarray
    last: np.ndarray

    @classmethod
    def of(cls, divided: FrequencyTable) -> Portions:
        """Number the records that are alike through all classes."""
        rows, values, records = np.arange(divided.rows), np.full(divided.rows, -1), divided.counts
        if divided.sensitive:
            rows = np.repeat(rows, np.diff(divided.start))
            values, records = divided.values.astype(np.int64), divided.value_counts
        changes = (divided.codes[1:] != divided.codes[:-1]).any(axis=1)
        whole_row = np.concatenate([[0], np.cumsum(changes)])[rows]
        order = np.lexsort((rows, values, whole_row))
        ends = np.cumsum(records[order])
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(whole_row[order]) != 0) | (np.diff(values[order]) != 0)
        before = (ends - records[order])[new][np.cumsum(new) - 1]
        last = np.empty(len(order), dtype=np.int64)
        last[order] = ends - before
        return cls(rows, values, last - records + 1, last)
