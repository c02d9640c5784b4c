"""Verification of a release from what was written.

The output is read back and counted anew; nothing of the search is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from velado.engines import Counts, Table, open_table
from velado.errors import InputError, VerificationError
from velado.frequency import Classes, FrequencyTable
from velado.models import PrivacyModel, Verdict, judge_classes
from velado.project.released import count_release, readable, release_frequency, showing, without
from velado.values import ROOT


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
    counted = count_release(table, expected.original)
    if expected.guarded:
        counted = [readable(c) for c in counted]
    if expected.starred:
        counted = [_without_starred(c, expected.starred) for c in counted]
    total = int(counted[0].counts.sum())
    if total != expected.released:
        raise _failed(f"it holds {total} records instead of {expected.released}")
    frequency = release_frequency(expected.original, counted)
    classes = Classes.from_ids(frequency, np.arange(frequency.rows), frequency.rows)
    _, verdicts = judge_classes(expected.models, frequency.sensitive, classes)
    broken = [v.name for v in verdicts if not v.satisfied]
    if broken:
        raise _failed("it does not satisfy " + ", ".join(broken))
    return verdicts


def _without_starred(counts: Counts, suppressed: int) -> Counts:
    """Take the suppressed records out: every quasi-identifier and sensitive column shows ``*``."""
    starred = showing(counts, counts.names, (ROOT,))
    left = counts.counts - np.where(starred, suppressed, 0)
    if starred.sum() != 1 or (left < 0).any():
        raise _failed("it does not hold the suppressed records as rows of *")
    return without(counts, left)


def _failed(reason: str) -> VerificationError:
    return VerificationError(
        "verification-failed", f"the written release did not pass verification: {reason}; it was removed",
        hint="Nothing was published. Please report this as a bug.",
    )  # fmt: skip
