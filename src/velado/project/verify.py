"""Verification of a release from what was written.

The output is read back and counted anew; nothing of the search is trusted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from velado.engines import Counts, Table, open_table
from velado.engines.duckdb import GUARDED
from velado.errors import InputError, VerificationError
from velado.frequency import Classes, FrequencyTable, Sensitive
from velado.hierarchies import Hierarchy
from velado.models import PrivacyModel, Verdict, judge_classes
from velado.values import ROOT, Text

UNGUARDED = re.compile("^'(?='*" + GUARDED.removeprefix("^'*") + ")")


@dataclass(frozen=True)
class Expected:
    """What a release must hold: its columns, how many records, how many suppressed ones as rows of ``*``.

    ``original`` gives the distribution of the whole input; ``guarded``: texts that look like formulas carry an
    apostrophe.
    """

    header: Sequence[str]
    identifiers: Sequence[str]
    original: FrequencyTable
    models: Sequence[PrivacyModel]
    released: int
    starred: int = 0
    guarded: bool = False


def verify(written: Any, expected: Expected) -> list[Verdict]:
    """Check a written table against every model; return the verdicts or raise `VerificationError`."""
    try:
        with open_table(written) as table:
            return _judged(table, expected)
    except InputError as error:
        raise _failed(f"it cannot be read back ({error.code})") from None


def _judged(table: Table, expected: Expected) -> list[Verdict]:
    if list(table.header) != list(expected.header):
        raise _failed("its columns are not the expected ones")
    for name in expected.identifiers:
        if name in expected.header and table.count([name]).dictionaries[0] not in ((ROOT,), ()):
            raise _failed(f"the identifier column '{name}' is not fully suppressed")
    quasi, attributes = expected.original.columns, expected.original.sensitive
    counted = [table.count([*quasi, *columns]) for columns in [s.columns for s in attributes] or [()]]
    if expected.guarded:
        counted = [_readable(c) for c in counted]
    if expected.starred:
        counted = [_without_starred(c, expected.starred) for c in counted]
    total = int(counted[0].counts.sum())
    if total != expected.released:
        raise _failed(f"it holds {total} records instead of {expected.released}")
    frequency = FrequencyTable.build([_flat(name, counted) for name in quasi], counted, _unplaced(attributes))
    classes = Classes.from_ids(frequency, np.arange(frequency.rows), frequency.rows)
    _, verdicts = judge_classes(expected.models, frequency.sensitive, classes)
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


def _without_starred(counts: Counts, suppressed: int) -> Counts:
    """Take the suppressed records out: every quasi-identifier and sensitive column shows ``*``."""
    starred = np.ones(len(counts.counts), dtype=bool)
    for dictionary, codes in zip(counts.dictionaries, counts.codes, strict=True):
        starred &= np.array([v == ROOT for v in dictionary], dtype=bool)[codes]
    left = counts.counts - np.where(starred, suppressed, 0)
    if starred.sum() != 1 or (left < 0).any():
        raise _failed("it does not hold the suppressed records as rows of *")
    dictionaries: list[tuple[Text, ...]] = []
    kept: list[np.ndarray] = []
    for dictionary, column in zip(counts.dictionaries, counts.codes, strict=True):
        used, again = np.unique(column[left > 0], return_inverse=True)
        dictionaries.append(tuple(dictionary[i] for i in used))
        kept.append(again.astype(np.int32))
    return replace(counts, dictionaries=tuple(dictionaries), codes=tuple(kept), counts=left[left > 0])


def _failed(reason: str) -> VerificationError:
    return VerificationError(
        "verification-failed", f"the written release did not pass verification: {reason}; it was removed",
        hint="Nothing was published. Please report this as a bug.",
    )  # fmt: skip
