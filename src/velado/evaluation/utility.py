"""Utility of a release (``measures.md`` §3); 0 = nothing lost, except for precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from velado.evaluation.pair import Pair
from velado.hierarchies import Cover
from velado.results import Discreet


@dataclass(frozen=True)
class ColumnUtility:
    """The measures that exist for a single quasi-identifier.

    ``precision`` is None where a label has no level in the hierarchy, ``entropy`` where it cannot be told which
    records were suppressed. ``values_before`` and ``values_after`` count different values.
    """

    loss: float
    precision: float | None
    generalized_loss: float
    entropy: float | None
    values_before: int
    values_after: int


@dataclass(frozen=True, repr=False)
class Utility(Discreet):
    """The measures of one release.

    ``average_class_size`` leaves suppressed records out; ``average_class_size_arx`` counts them all as one
    class, as ARX does. ``columns`` gives the loss of each quasi-identifier.
    """

    loss: float
    loss_mean: float
    precision: float | None
    discernibility: float
    average_class_size: float
    average_class_size_arx: float
    c_avg: float | None
    generalized_loss: float
    entropy: float | None
    columns: dict[str, float]


def utility(pair: Pair, k: int | None = None) -> tuple[Utility, dict[str, ColumnUtility]]:
    """All measures, overall and per column."""
    n, suppressed, sizes = pair.records, pair.suppressed_records, pair.shown_sizes
    shares = [entropy_loss(pair, j) for j in range(len(pair.covers))]
    lost = [s for s in shares if s is not None]
    columns = {
        cover.column: ColumnUtility(
            loss=_loss(cover, pair.label_records[j], n, suppressed),
            precision=_column_precision(cover, pair.label_records[j], n, suppressed),
            generalized_loss=_generalized_loss(cover, pair.label_records[j], n, suppressed),
            entropy=None if share is None else _ratio(*share),
            values_before=int((pair.leaf_records[j] > 0).sum()),
            values_after=len({cover.labels[i] for i in np.flatnonzero(pair.label_records[j])}),
        )
        for j, (cover, share) in enumerate(zip(pair.covers, shares, strict=True))
    }
    entropy = _ratio(sum(a for a, _ in lost), sum(b for _, b in lost)) if len(lost) == len(shares) else None
    squares = float((sizes.astype(float) ** 2).sum())
    return overall(columns, n, pair.released_records, len(sizes), squares, entropy, k), columns


def overall(
    columns: Mapping[str, ColumnUtility], n: int, kept: int, classes: int, squares: float, entropy: float | None, k: int | None
) -> Utility:
    """The measures of a release from those of its columns and its number of classes and sum of squared sizes."""
    losses = [c.loss for c in columns.values()]
    precisions = [c.precision for c in columns.values() if c.precision is not None]
    m, suppressed = len(losses), n - kept
    return Utility(
        loss=float(np.prod([1 + x for x in losses]) ** (1 / m) - 1) if m else 0.0,
        loss_mean=float(np.mean(losses)) if m else 0.0,
        precision=(float(np.mean(precisions)) if m else 1.0) if len(precisions) == m else None,
        discernibility=squares + float(n) * suppressed,
        average_class_size=kept / classes if classes else 0.0,
        average_class_size_arx=n / (classes + (suppressed > 0)) if classes or suppressed else 0.0,
        c_avg=n / classes / k if k and classes else None,
        generalized_loss=float(np.mean([c.generalized_loss for c in columns.values()])) if m else 0.0,
        entropy=entropy,
        columns={name: c.loss for name, c in columns.items()},
    )


def precision(pair: Pair, depth: str = "highest") -> float | None:
    """Sweeney's precision: 1 − mean of level/depth over all cells, suppressed cells at the highest level.

    ``depth="levels"`` divides by the number of levels instead of the highest level.
    """
    columns = [
        _column_precision(cover, records, pair.records, pair.suppressed_records, depth)
        for cover, records in zip(pair.covers, pair.label_records, strict=True)
    ]
    known = [p for p in columns if p is not None]
    if len(known) < len(columns):
        return None
    return float(np.mean(known)) if known else 1.0


def _loss(cover: Cover, records: np.ndarray, n: int, suppressed: int) -> float:
    domain = len(cover.hierarchy.leaves)
    if domain <= 1 or not n:
        return 0.0
    shares = float((cover.sizes * records).sum()) / domain + suppressed
    return max(0.0, (shares - n / domain) / (n - n / domain))


def _column_precision(cover: Cover, records: np.ndarray, n: int, suppressed: int, depth: str = "highest") -> float | None:
    height = cover.hierarchy.height
    divisor = height if depth == "highest" else height + 1
    if not divisor or not n:
        return 1.0
    if (cover.levels[records > 0] < 0).any():
        return None
    lost = float((cover.levels * records).sum()) + height * suppressed
    return 1 - lost / divisor / n


def _generalized_loss(cover: Cover, records: np.ndarray, n: int, suppressed: int) -> float:
    """Mean over cells of (hi−lo)/(HI−LO) for numbers, (leaves−1)/(|D|−1) for categories; suppressed cells count 1.

    Intervals are cut at the limits of the domain. A cell that is ``*`` or missing is judged as a category.
    """
    domain = len(cover.hierarchy.leaves)
    if domain <= 1 or not n:
        return 0.0
    cost = (cover.sizes - 1) / (domain - 1)
    if cover.numbers is not None:
        low, high = np.nanmin(cover.numbers), np.nanmax(cover.numbers)
        if high > low:
            reach = cover.reach
            wide = (np.minimum(reach[:, 1], high) - np.maximum(reach[:, 0], low)) / (high - low)
            cost = np.where(np.isnan(wide), cost, wide)
    return (float((cost * records).sum()) + suppressed) / n


def entropy_loss(pair: Pair, j: int) -> tuple[float, float] | None:
    """Σ −log2 Pr(value | generalized value) and the same at full generalization, where suppressed cells stand.

    Records of which nothing is known count like the mean of the others. None if it cannot be told which were suppressed.
    """
    if pair.class_of is None and pair.suppressed_records > pair.lost:
        return None
    original, records = pair.original, pair.leaf_records[j].astype(float)
    own = np.log2(np.maximum(records, 1))
    full = np.log2(records.sum()) - own
    under = np.log2(np.maximum(pair.covers[j].sums(records), 1))
    gone = np.zeros(original.rows, dtype=bool) if pair.class_of is None else pair.class_of < 0
    starred = np.bincount(original.codes[gone, j], weights=original.counts[gone], minlength=len(records))
    here = original.leaf_records[j]
    kept = float((pair.label_records[j] * under).sum() - ((here - starred) * own).sum())
    whole = float((here * full).sum())
    unknown = pair.lost * whole / max(original.records, 1)
    return kept + float((starred * full).sum()) + unknown, whole + unknown


def _ratio(lost: float, whole: float) -> float:
    return lost / whole if whole > 0 else 0.0
