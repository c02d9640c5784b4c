"""What of the original a report may show: nothing that belongs to a small group.

Values are those of the release. A number of the original is shown only if enough records have exactly it, and original
counts are rounded where records were suppressed, so that those cannot be found by subtraction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from velado.evaluation import Evaluation, Pair
from velado.frequency import Sensitive
from velado.hierarchies import Cover
from velado.models import Verdict, model_from, smallest_class
from velado.values import ROOT, Text

SMALL = 10
"""Groups of fewer records are small, unless the release guarantees classes of another size."""
MOST_LABELS = 16


@dataclass(frozen=True)
class Limits:
    """``value``: records that must have a value of the original for it to be shown; ``label``: the same for a label of
    the release in a chart; ``listed``: size of the smallest class whose labels are listed.
    """

    value: int
    label: int
    listed: int

    @classmethod
    def of(cls, evaluation: Evaluation) -> Limits:
        """What a release guarantees decides; without a guarantee, classes below `SMALL` are not listed."""
        smallest = evaluation.smallest_class
        promised = guaranteed(evaluation.models)
        return cls(max(SMALL, smallest), SMALL, promised if promised > 1 else SMALL)


def guaranteed(verdicts: Sequence[Verdict]) -> int:
    """The class size that the satisfied models promise."""
    return smallest_class([model_from(v.name, v.required) for v in verdicts if v.satisfied])


@dataclass(frozen=True)
class Share:
    """Records under a label before and after; ``kind`` is ``label``, ``other`` or ``not-released``."""

    label: Text
    before: int
    after: int
    kind: str = "label"


def distribution(pair: Pair, j: int, limits: Limits, most: int = MOST_LABELS) -> list[Share]:
    """A quasi-identifier before and after, over the labels that the release shows."""
    cover, after = pair.covers[j], pair.label_records[j]
    before = _under(cover, pair.original.leaf_records[j], after)
    lost = pair.records - int(np.rint(before[after > 0].sum()))
    return _joined(pair, cover.labels, before, after, lost, _order(cover, after), limits, most)


def sensitive_distribution(pair: Pair, column: Sensitive, limits: Limits, most: int = MOST_LABELS) -> list[Share]:
    """A sensitive column before and after, over the values that enough released records have."""
    released = pair.released.frequency.sensitive_column(column.column, column.others)
    first, last = released.first, released.first + released.width * released.segments
    inside = (pair.released.values >= first) & (pair.released.values < last)
    codes = (pair.released.values[inside] - first) % released.width
    after = np.bincount(codes, weights=pair.released.value_counts[inside], minlength=released.width).astype(np.int64)
    before = column.expected * pair.original.records
    lost = pair.lost + int(np.rint(before[after == 0].sum()))
    order = np.argsort(-after, kind="stable")
    return _joined(pair, column.labels, before, after, lost, order, replace(limits, label=limits.value), most)


def _under(cover: Cover, records: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Original records under each label; where labels overlap, in proportion to their released records."""
    change = np.zeros(len(cover.leaves) + 1)
    np.add.at(change, cover.first, after)
    np.add.at(change, cover.last, -after)
    total = np.bincount(cover.leaves, weights=np.cumsum(change)[:-1], minlength=len(records))
    parts = np.divide(records, total, out=np.zeros(len(records)), where=total > 0)
    return np.asarray(after * cover.sums(parts))


def _order(cover: Cover, after: np.ndarray) -> np.ndarray:
    """Numbers by size, dates and codes as text, other labels by how frequent they are."""
    if cover.bounds is not None:
        return np.argsort(np.nan_to_num(cover.bounds[:, 0], nan=np.inf), kind="stable")
    if all(x is None or x == ROOT or x[:1].isdigit() for x in cover.labels):
        return np.array(sorted(range(len(after)), key=lambda i: cover.labels[i] or "~"), dtype=np.int64)
    return np.argsort(-after, kind="stable")


def _joined(
    pair: Pair,
    labels: Sequence[Text],
    before: np.ndarray,
    after: np.ndarray,
    lost: int,
    order: np.ndarray,
    limits: Limits,
    most: int,
) -> list[Share]:
    rounded = SMALL if pair.suppressed else 1

    def about(count: float) -> int:
        return round(float(count) / rounded) * rounded

    frequent = [int(i) for i in np.argsort(-after, kind="stable") if after[i] >= limits.label]
    kept = set(frequent[: most if len(frequent) <= most else most - 1])
    shares = [Share(labels[i], about(before[i]), int(after[i])) for i in map(int, order) if i in kept]
    others = [i for i in range(len(after)) if i not in kept and after[i] > 0]
    if others:
        shares.append(Share(None, about(before[others].sum()), int(after[others].sum()), "other"))
    if lost or pair.suppressed:
        shares.append(Share(None, about(lost), pair.suppressed, "not-released"))
    return shares


@dataclass(frozen=True)
class Shown:
    """A number of the original as it may be shown: itself, or the released label above it, or not at all."""

    number: float | None = None
    label: Text = None


def original_number(pair: Pair, j: int, number: float, limits: Limits) -> Shown:
    """How a value of a numeric quasi-identifier may be shown."""
    cover = pair.covers[j]
    assert cover.numbers is not None
    same = np.flatnonzero(cover.numbers == number)
    if pair.original.leaf_records[j][same].sum() >= limits.value:
        return Shown(number)
    released = pair.label_records[j]
    for i in np.argsort(cover.sizes, kind="stable"):
        if released[i] >= limits.listed and np.isin(same, cover.under(i)).all() and cover.labels[i] not in (None, ROOT):
            return Shown(label=cover.labels[i])
    return Shown()


def open_ends(pair: Pair, j: int) -> tuple[bool, bool]:
    """Whether a released interval has no lower or no upper limit: answers then rest on the original's own limits."""
    released = pair.label_records[j]
    limits = [x for i, x in enumerate(pair.covers[j].intervals) if released[i] > 0 and x is not None]
    return any(math.isinf(x.low) for x in limits), any(math.isinf(x.high) for x in limits)
