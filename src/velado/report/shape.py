"""What the charts and tables of a release are drawn from, as data: for programs that draw them themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from velado.evaluation import Evaluation, Pair, aggregates
from velado.evaluation.kolmogorov import kolmogorov_smirnov
from velado.report.chapters.disclosure import Limits, Share, Shown, answers, distribution, sensitive_distribution
from velado.report.chapters.release import distinct_values
from velado.report.chapters.subject import levels_of
from velado.results import encode

EVERYTHING = Limits(1, 1, 1)
"""For owners, nothing is too small to be shown."""


def shape_of(pair: Pair, evaluation: Evaluation, levels: Mapping[str, float], whole: bool = False) -> dict[str, Any]:
    """How records and values are distributed before and after; ``whole``: for the owner, without limits of disclosure.

    ``sizes``: pairs of a class size and how many classes have it, in people where these are counted. ``distinct``: the same of
    the different values of each sensitive column. ``levels``: where each quasi-identifier stands in its hierarchy.
    ``columns``: records before and after under each label. ``answers`` and ``ks`` are about numeric columns.
    """
    limits = EVERYTHING if whole else Limits.of(evaluation)
    sensitive = [s for s in pair.original.sensitive if not s.others]
    shown = [s for s in pair.visible_classes.frequency.sensitive if not s.others]
    found = levels_of(pair, levels)
    numeric = {name: aggregates(pair, j) for j, name in enumerate(pair.columns)}
    tests = {name: kolmogorov_smirnov(pair, j) for j, name in enumerate(pair.columns)}
    return {
        "records": pair.records,
        "people": pair.people is not None,
        "sizes": {"before": _often(pair.alike), "after": _often(pair.risk_sizes)},
        "distinct": {s.column: _often(distinct_values(pair, s)) for s in shown},
        "levels": {c.column: {"level": found[c.column], "height": c.hierarchy.height} for c in pair.covers},
        "columns": [
            *(_column(name, "quasi-identifier", distribution(pair, j, limits)) for j, name in enumerate(pair.columns)),
            *(_column(s.column, "sensitive", sensitive_distribution(pair, s, limits)) for s in sensitive),
        ],
        "answers": {
            name: [
                {"name": x.name, "before": _answer_dict(x.before), "after": _answer_dict(x.after)}
                for x in answers(pair, pair.columns.index(name), measured, None if whole else limits)
            ]
            for name, measured in numeric.items()
            if measured is not None
        },
        "ks": {name: encode(test) for name, test in tests.items() if test is not None},
    }


def _often(numbers: np.ndarray) -> list[list[int]]:
    """Different numbers and how often each occurs."""
    found, times = np.unique(np.asarray(numbers), return_counts=True)
    return [[int(n), int(t)] for n, t in zip(found, times, strict=True)]


def _column(name: str, role: str, shares: Iterable[Share]) -> dict[str, Any]:
    told = [{"label": s.label, "kind": s.kind, "before": s.before, "after": s.after} for s in shares]
    return {"column": name, "role": role, "shares": told}


def _answer_dict(shown: Shown) -> dict[str, Any]:
    return {"kind": shown.kind, "number": shown.number, "label": shown.label, "records": shown.records}
