"""Verification of a release from what was written.

The output is read back and counted anew; nothing of the search is trusted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from velado.engines import Counts, Table
from velado.engines.duckdb import GUARDED
from velado.errors import VerificationError
from velado.frequency import Classes, FrequencyTable, Sensitive
from velado.hierarchies import Hierarchy
from velado.models import PrivacyModel, Verdict, judge_classes
from velado.values import ROOT, Text

UNGUARDED = re.compile("^'(?='*" + GUARDED.removeprefix("^'*") + ")")


def verify(
    table: Table,
    header: Sequence[str],
    quasi: Sequence[str],
    identifiers: Sequence[str],
    original: FrequencyTable,
    models: Sequence[PrivacyModel],
    released: int,
    starred: bool = False,
    guarded: bool = False,
) -> list[Verdict]:
    """Check a written table against every model; return the verdicts or raise `VerificationError`.

    ``starred``: suppressed records are in the table as rows of ``*``; ``guarded``: texts that look like
    formulas carry an apostrophe.
    """
    if list(table.header) != list(header):
        raise _failed("its columns are not the expected ones")
    for name in identifiers:
        if name in header and table.count([name]).dictionaries[0] not in ((ROOT,), ()):
            raise _failed(f"the identifier column '{name}' is not fully suppressed")
    attributes = original.sensitive
    groups = [s.columns for s in attributes] or [()]
    counted = [table.count([*quasi, *columns]) for columns in groups]
    if guarded:
        counted = [_readable(c) for c in counted]
    if starred:
        counted = [_without_starred(c) for c in counted]
    total = int(counted[0].counts.sum())
    if total != released:
        raise _failed(f"it holds {total} records instead of {released}")
    frequency = FrequencyTable.build([_flat(name, counted) for name in quasi], counted, _unplaced(attributes))
    classes = Classes.from_ids(frequency, np.arange(frequency.rows), frequency.rows)
    _, verdicts = judge_classes(models, frequency.sensitive, classes)
    broken = [v.name for v in verdicts if not v.satisfied]
    if broken:
        raise _failed("it does not satisfy " + ", ".join(broken))
    return verdicts


def _flat(name: str, counted: Sequence[Counts]) -> Hierarchy:
    labels = sorted(
        {v for c in counted for v in c.dictionaries[c.names.index(name)]}, key=lambda v: (v is None, v or "")
    )
    return Hierarchy(name, (tuple(labels),), (np.arange(len(labels), dtype=np.int32),))


def _unplaced(attributes: Sequence[Sensitive]) -> list[Sensitive]:
    """The sensitive columns with the whole input's distribution, to be placed anew."""
    return [replace(s, first=0) for s in attributes]


def _readable(counts: Counts) -> Counts:
    def plain(value: Text) -> Text:
        return value if value is None else UNGUARDED.sub("", value)

    return replace(counts, dictionaries=tuple(tuple(plain(v) for v in d) for d in counts.dictionaries))


def _without_starred(counts: Counts) -> Counts:
    """Leave out the suppressed records: every quasi-identifier and sensitive column shows ``*``."""
    starred = np.ones(len(counts.counts), dtype=bool)
    for dictionary, codes in zip(counts.dictionaries, counts.codes, strict=True):
        starred &= np.array([v == ROOT for v in dictionary], dtype=bool)[codes]
    dictionaries: list[tuple[Text, ...]] = []
    kept: list[np.ndarray] = []
    for dictionary, column in zip(counts.dictionaries, counts.codes, strict=True):
        used, again = np.unique(column[~starred], return_inverse=True)
        dictionaries.append(tuple(dictionary[i] for i in used))
        kept.append(again.astype(np.int32))
    return replace(counts, dictionaries=tuple(dictionaries), codes=tuple(kept), counts=counts.counts[~starred])


def _failed(reason: str) -> VerificationError:
    return VerificationError(
        "verification-failed", f"the written release did not pass verification: {reason}; it was removed",
        hint="Nothing was published. Please report this as a bug.",
    )  # fmt: skip
