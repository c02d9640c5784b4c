"""Utility of a full-domain release (``measures.md`` §3); 0 = nothing lost, except for precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from velado.frequency import Classes, FrequencyTable


@dataclass(frozen=True)
class Utility:
    """The measures of one release.

    ``average_class_size`` leaves suppressed records out; ``average_class_size_arx`` counts them all as one
    class, as ARX does. ``columns`` gives the loss of each quasi-identifier.
    """

    loss: float
    loss_mean: float
    precision: float
    discernibility: float
    average_class_size: float
    average_class_size_arx: float
    c_avg: float | None
    generalized_loss: float
    entropy: float
    columns: dict[str, float]


def utility(classes: Classes, levels: Sequence[int], kept: np.ndarray, k: int | None = None) -> Utility:
    """All measures of the classes of a node, those with ``kept`` false being suppressed."""
    frequency = classes.frequency
    n = frequency.records
    keep = kept[classes.class_of]
    sizes = classes.sizes[kept]
    released = int(sizes.sum())
    suppressed = n - released
    losses = [_column_loss(frequency, j, level, keep, suppressed) for j, level in enumerate(levels)]
    m = len(losses)
    count = len(sizes)
    return Utility(
        loss=float(np.prod([1 + x for x in losses]) ** (1 / m) - 1) if m else 0.0,
        loss_mean=float(np.mean(losses)) if m else 0.0,
        precision=precision(frequency, levels, suppressed),
        discernibility=float((sizes.astype(float) ** 2).sum() + float(n) * suppressed),
        average_class_size=released / count if count else 0.0,
        average_class_size_arx=n / (count + (suppressed > 0)) if count or suppressed else 0.0,
        c_avg=n / count / k if k and count else None,
        generalized_loss=_generalized_loss(frequency, levels, keep, suppressed),
        entropy=_entropy_loss(frequency, levels, keep),
        columns=dict(zip(frequency.columns, losses, strict=True)),
    )


def precision(frequency: FrequencyTable, levels: Sequence[int], suppressed: int, depth: str = "highest") -> float:
    """Sweeney's precision: 1 − mean of level/depth over all cells, suppressed cells at the highest level.

    ``depth="levels"`` divides by the number of levels instead of the highest level.
    """
    n, m = frequency.records, len(levels)
    if not n or not m:
        return 1.0
    lost = 0.0
    for h, level in zip(frequency.hierarchies, levels, strict=True):
        divisor = h.height if depth == "highest" else h.levels
        if divisor:
            lost += (level * (n - suppressed) + h.height * suppressed) / divisor
    return 1 - lost / (n * m)


def _column_loss(frequency: FrequencyTable, j: int, level: int, keep: np.ndarray, suppressed: int) -> float:
    h, n = frequency.hierarchies[j], frequency.records
    domain = len(h.leaves)
    if domain <= 1 or not n:
        return 0.0
    leaves = h.group_sizes(level)[h.maps[level]][frequency.codes[:, j]]
    shares = float((leaves * frequency.counts)[keep].sum()) / domain + suppressed
    return max(0.0, (shares - n / domain) / (n - n / domain))


def _generalized_loss(frequency: FrequencyTable, levels: Sequence[int], keep: np.ndarray, suppressed: int) -> float:
    """Mean over cells of (hi−lo)/(HI−LO) for intervals, (leaves−1)/(|D|−1) for categories; suppressed cells count 1."""
    n, m = frequency.records, len(levels)
    if not n or not m:
        return 0.0
    total = 0.0
    for j, (h, level) in enumerate(zip(frequency.hierarchies, levels, strict=True)):
        bounds = h.bounds[level] if h.bounds else None
        whole = h.bounds[0] if h.bounds else None
        if bounds is not None and whole is not None and np.isfinite(bounds).all():
            span = float(np.nanmax(whole) - np.nanmin(whole))
            cost = (bounds[:, 1] - bounds[:, 0]) / span if span > 0 else np.zeros(len(bounds))
        else:
            cost = (h.group_sizes(level) - 1) / max(len(h.leaves) - 1, 1)
        cell = np.minimum(cost, 1.0)[h.maps[level]][frequency.codes[:, j]]
        total += float((cell * frequency.counts)[keep].sum()) + (suppressed if len(h.leaves) > 1 else 0)
    return total / (n * m)


def _entropy_loss(frequency: FrequencyTable, levels: Sequence[int], keep: np.ndarray) -> float:
    """Σ −log2 Pr(value | generalized value), relative to full generalization; suppressed = fully generalized."""
    n = frequency.records
    lost = whole = 0.0
    for j, (h, level) in enumerate(zip(frequency.hierarchies, levels, strict=True)):
        records = frequency.leaf_records[j].astype(float)
        group = np.bincount(h.maps[level], weights=records, minlength=len(h.labels[level]))
        codes = frequency.codes[:, j]
        own = np.log2(records[codes])
        full = np.log2(n) - own
        lost += float((frequency.counts * np.where(keep, np.log2(group[h.maps[level]][codes]) - own, full)).sum())
        whole += float((frequency.counts * full).sum())
    return lost / whole if whole > 0 else 0.0
