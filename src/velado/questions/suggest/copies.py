"""Rows that are copies of one another: k counts rows, and copies of a row are one person's, unless the owner knows better."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from velado.errors import NoSolution
from velado.evaluation import Pair
from velado.frequency.table import distinct_rows
from velado.questions.inspect import Inspection
from velado.questions.suggest.probe import Probe
from velado.questions.suggest.result import Suggestion
from velado.sentences import Sentence
from velado.tables import Counts, Source, Table, open_table

MOST_ROWS = 200_000
"""Of larger tables copies are not looked for."""
SEED = 27
BY_CHANCE = 1.5
"""Where so many times as many rows are alike without one of the columns, people are alike, and rows are no copies."""
FEWEST = 0.005
"""Fewer copies, as a share of the rows, are chance."""


@dataclass(frozen=True, repr=False)
class Copies:
    """Distinct rows of a table with their numbers of copies."""

    counts: Counts
    rows: int

    @property
    def number(self) -> int:
        """Rows that repeat another."""
        return self.rows - len(self.counts.counts)

    @classmethod
    def of(cls, table: Table, seen: Inspection) -> Copies | None:
        """The copies of a table in which no column tells all rows apart; None if there are hardly any, or by chance."""
        columns = [c for c in seen.columns if c.distinct]
        if seen.rows > MOST_ROWS or seen.unit is not None or any(c.distinct == seen.rows for c in columns):
            return None
        counts = table.count([c.name for c in columns])
        found = cls(counts, int(counts.counts.sum()))
        if found.number <= FEWEST * found.rows or _without_one(counts) > BY_CHANCE * found.number:
            return None
        return found

    def smallest(self, pair: Pair) -> int:
        """The fewest different rows in a released class."""
        classes = self._classes(pair)
        sizes = np.bincount(classes[classes >= 0])
        return int(sizes[sizes > 0].min(initial=self.rows))

    def below(self, pair: Pair, k: int) -> int:
        """Different rows in classes of fewer than k of them."""
        classes = self._classes(pair)
        sizes = np.bincount(classes[classes >= 0])
        return int(sizes[(sizes > 0) & (sizes < k)].sum())

    def _classes(self, pair: Pair) -> np.ndarray:
        original = pair.original
        rows = np.array([self.counts.encode_column(h.column, h.encode) for h in original.hierarchies], dtype=np.int32)
        together = np.concatenate([original.codes.T.astype(np.int32), rows], axis=1)
        _, row_of = distinct_rows(together, [len(h.leaves) for h in original.hierarchies])
        assert pair.class_of is not None
        classes = pair.class_of[row_of[original.rows :]]
        return np.where(classes >= 0, pair.shown_as[classes], -1)


def _without_one(counts: Counts) -> int:
    """How many rows repeat another if one column is not looked at, of all columns the one for which they are most.

    Each value of each column gets a number by lot, and rows are compared by their sums.
    """
    lot = np.random.default_rng(SEED)
    parts = [lot.integers(0, 2**63, len(d) + 1, dtype=np.uint64)[c] for c, d in zip(counts.codes, counts.dictionaries, strict=True)]
    whole = np.sum(parts, axis=0, dtype=np.uint64)
    different = min(len(np.unique(whole - part)) for part in parts)
    return int(counts.counts.sum()) - different


def copied_rows(source: Source, seen: Inspection) -> int:
    """How many rows of a table are copies of others."""
    with open_table(source) as table:
        found = Copies.of(table, seen)
    return 0 if found is None else found.number


def spread_out(suggestion: Suggestion, copies: Copies | None, probe: Probe) -> Suggestion:
    """The suggestion with a k of rows that leaves as many different rows in every class as people were asked for."""
    if copies is None:
        return suggestion
    wanted, most = suggestion.k, int(copies.counts.counts.max())
    below = 0
    for factor in (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, float(most)):
        k = min(int(np.ceil(wanted * factor)), wanted * most)
        larger = ({"k-anonymity": {"k": k}}, *suggestion.models[1:])
        try:
            pairs = probe.pairs([c for c in suggestion.columns if c.kept and c.spec["role"] != "identifier"], larger)
        except NoSolution:
            break
        if factor == 1.0:
            below = max(copies.below(pair, wanted) for pair in pairs)
        if all(copies.smallest(pair) >= wanted for pair in pairs):
            break
    remark = Sentence(
        "{copies:,} of {rows:,} rows are copies of others. If copies are one person, {below:,} people would be in classes of fewer "
        "than {wanted}: so k is {k}, and every class has {wanted} different rows. Write k: {wanted} if every row is a person.",
        copies=copies.number,
        rows=copies.rows,
        below=below,
        wanted=wanted,
        k=k,
    )
    if k == wanted:
        remark = Sentence(
            "{copies:,} of {rows:,} rows are copies of others; if copies are one person, every class still has {wanted} people.",
            copies=copies.number,
            rows=copies.rows,
            wanted=wanted,
        )
    return replace(suggestion, models=larger, remarks=(*suggestion.remarks, remark))
