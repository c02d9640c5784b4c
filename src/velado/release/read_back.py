"""Read a release back: its labels as they were written, counted anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from velado.evaluation import Pair
from velado.frequency import Classes, FrequencyTable, Sensitive
from velado.hierarchies import Hierarchy
from velado.tables import Counts, Table
from velado.tables.formats.formulas import remove_guard
from velado.values import ROOT, Text

Contents = Counter[tuple[tuple[Text, ...], int]]
"""Records by labels and code of a sensitive value; under the code −1 all with these labels."""


def count_release(table: Table, original: FrequencyTable, lot: tuple[int, int] = (0, 1)) -> list[Counts]:
    """One count per sensitive attribute of the original, or one alone; of one lot of the classes."""
    quasi = original.columns
    return [table.count([*quasi, *columns], lot, quasi) for columns in [s.columns for s in original.sensitive] or [()]]


def release_frequency(original: FrequencyTable, counted: Sequence[Counts]) -> FrequencyTable:
    """The release as a frequency table of one level, sensitive columns with the original's distribution."""
    hierarchies = [flat_hierarchy(name, counted) for name in original.columns]
    release = FrequencyTable.build(hierarchies, counted, [replace(s, first=0) for s in original.sensitive])
    return replace(release, populations=original.populations)


def spellings(original: FrequencyTable, counted: Sequence[Counts]) -> dict[str, set[Text]]:
    """The values of the sensitive columns as the release spells them."""
    columns = [s.column for s in original.sensitive if not s.others]
    return {name: set(c.dictionaries[c.names.index(name)]) for name, c in zip(columns, counted, strict=False)}


def contents_of(release: FrequencyTable) -> Contents:
    """What the classes of a release hold, one class per row."""
    labels = [h.leaves for h in release.hierarchies]
    texts = [tuple(x[c] for x, c in zip(labels, row, strict=True)) for row in release.codes.tolist()]
    return _contents(texts, release.counts, release)


def contents_of_pair(pair: Pair) -> Contents:
    """What the released classes of a pair hold."""
    return _contents(pair.texts(range(pair.released.count)), pair.sizes, pair.released)


def _contents(texts: Sequence[tuple[Text, ...]], sizes: np.ndarray, held: FrequencyTable | Classes) -> Contents:
    found: Contents = Counter()
    for labels, size in zip(texts, sizes.tolist(), strict=True):
        found[labels, -1] += size
    # Without sensitive columns there are no histograms.
    entries = np.diff(held.start) if len(held.values) else np.zeros(len(texts), dtype=np.int64)
    classes = np.repeat(np.arange(len(texts)), entries).tolist()
    people = (held if isinstance(held, FrequencyTable) else held.frequency).sensitive_domain
    for c, value, records in zip(classes, held.values.tolist(), held.value_counts.tolist(), strict=True):
        if value < people:
            found[texts[c], value] += records
    return found


def flat_hierarchy(name: str, counted: Sequence[Counts]) -> Hierarchy:
    """The labels of a column as they are, which is one level."""
    labels = sorted({v for c in counted for v in c.dictionaries[c.names.index(name)]}, key=lambda v: (v is None, v or ""))
    return Hierarchy(name, (tuple(labels),), (np.arange(len(labels), dtype=np.int32),))


def readable(counts: Counts, known: Sequence[Sensitive] | None = None) -> Counts:
    """Take off the apostrophe that guards texts against being read as formulas.

    With ``known`` only from values of these columns that the original does not have.
    """

    dictionaries = []
    for name, dictionary in zip(counts.names, counts.dictionaries, strict=True):
        labels = {v for s in known or () if s.column == name for v in s.number}
        if known is None or labels:
            dictionary = tuple(v if v in labels else remove_guard(v) for v in dictionary)
        dictionaries.append(dictionary)
    return replace(counts, dictionaries=tuple(dictionaries))


def count_together(counted: Sequence[Counts]) -> Counts:
    """The same columns counted in several tables, as if these were one; some combinations may occur several times."""
    first, *_ = counted
    dictionaries: list[tuple[Text, ...]] = []
    codes: list[np.ndarray] = []
    for j in range(len(first.names)):
        place: dict[Text, int] = {}
        own = [np.array([place.setdefault(v, len(place)) for v in c.dictionaries[j]], dtype=np.int64)[c.codes[j]] for c in counted]
        dictionaries.append(tuple(place))
        codes.append(np.concatenate(own).astype(np.int32))
    return Counts(first.names, tuple(dictionaries), tuple(codes), np.concatenate([c.counts for c in counted]))


def without(counts: Counts, left: np.ndarray) -> Counts:
    """The same combinations with other counts; those with none left are taken out, and values that nothing uses."""
    dictionaries: list[tuple[Text, ...]] = []
    kept: list[np.ndarray] = []
    for dictionary, column in zip(counts.dictionaries, counts.codes, strict=True):
        used, again = np.unique(column[left > 0], return_inverse=True)
        dictionaries.append(tuple(dictionary[i] for i in used))
        kept.append(again.astype(np.int32))
    return replace(counts, dictionaries=tuple(dictionaries), codes=tuple(kept), counts=left[left > 0])


def without_starred(counts: Counts, suppressed: int) -> Counts | None:
    """Take the suppressed records out: every quasi-identifier and sensitive column shows ``*``. None if they are not there."""
    starred = showing(counts, counts.names, (ROOT,))
    left = counts.counts - np.where(starred, suppressed, 0)
    if starred.sum() != 1 or (left < 0).any():
        return None
    return without(counts, left)


def showing(counts: Counts, columns: Sequence[str], values: Sequence[Text]) -> np.ndarray:
    """Which combinations show one of the values in every one of the columns."""
    rows = np.ones(len(counts.counts), dtype=bool)
    for name in columns:
        i = counts.names.index(name)
        rows &= np.array([v in values for v in counts.dictionaries[i]], dtype=bool)[counts.codes[i]]
    return rows
