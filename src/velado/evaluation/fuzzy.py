"""Measures of a release with fuzzy classes: how many records they may have, and what they tell about sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.fuzzy import Clustering, cardinality, check_partition, diversity, largest_q, q_anonymity, sigma_count, strongest
from velado.fuzzy.classes import Fuzzified, FuzzyClasses
from velado.fuzzy.coding import Coding
from velado.hierarchies import Hierarchy
from velado.hierarchies.scale import Scale
from velado.results import Discreet, OrUnknown

STEPS = (1, 2, 3, 5)
"""The numbers of records whose possibility is told: these, and these times powers of ten."""
FEW = 10
"""The centre of a set with fewer records is not told: it could be a person's own value."""


@dataclass(frozen=True, repr=False)
class SetMeasures(Discreet):
    """A fuzzy set: its name and centre by column, or its corners; σ-count, non-fuzzy cardinality, and how many records
    belong to it most.
    """

    name: dict[str, str]
    centre: dict[str, float | str] | None
    corners: list[float] | None
    sigma_count: float
    cardinality: int
    records: int


@dataclass(frozen=True, repr=False)
class PartitionMeasures(Discreet):
    """The sets of a column, or of several jointly; how they were learned.

    ``regularized`` are the sets (counted from 0) whose covariance was singular.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("columns",)
    columns: tuple[str, ...]
    sets: tuple[SetMeasures, ...]
    iterations: int | None = None
    converged: bool | None = None
    regularized: tuple[int, ...] = ()


@dataclass(frozen=True)
class FuzzySensitive:
    """A sensitive column: fuzzy ℓ, the largest and the smallest distance of an individual, the surest posterior belief.

    t is the largest; the thesis of Oviedo reports the smallest, which protects nobody. Distances are the equal one and
    the ordered one, None where the values have no order. The belief is that of an adversary who knows the distribution of the whole table.
    """

    l: int  # noqa: E741
    t: float
    t_smallest: float
    t_ordered: float | None
    t_ordered_smallest: float | None
    posterior: OrUnknown


@dataclass(frozen=True, repr=False)
class FuzzyMeasures(Discreet):
    """What fuzzy classes achieve (measures.md §5).

    ``q`` is the largest Q of Q-anonymity with a possibility of ½ by the arithmetic mean; ``possibility`` that of having
    at least so many records; ``cardinality`` the smallest, mean and largest non-fuzzy cardinality of a class. ``normal``:
    every class has somebody with membership 1; ``robust``: everybody has a membership of at least ½ somewhere.
    """

    classes: int
    q: int
    possibility: dict[int, float]
    cardinality: dict[str, float]
    normal: bool
    robust: bool
    sensitive: dict[str, FuzzySensitive]
    partitions: tuple[PartitionMeasures, ...]


def fuzzy_measures(fuzzy: Fuzzified, hierarchies: Sequence[Hierarchy]) -> FuzzyMeasures:
    """Measure the released fuzzy classes."""
    classes = fuzzy.classes
    sizes = cardinality(classes.memberships, classes.counts)
    asked = [k * 10**i for i in range(19) for k in STEPS if k * 10**i <= classes.cardinality.records]
    reached = q_anonymity(classes.cardinality, np.array(asked))
    partition = check_partition(classes.memberships)
    scales = {h.column: h.scale for h in hierarchies if h.scale is not None}
    return FuzzyMeasures(
        classes=classes.memberships.shape[1],
        q=largest_q(classes.cardinality),
        possibility={k: float(p) for k, p in zip(asked, reached, strict=True)},
        cardinality={"smallest": int(sizes.min()), "mean": float(sizes.mean()), "largest": int(sizes.max())},
        normal=partition.normal,
        robust=partition.robust,
        sensitive={name: _sensitive(classes, name) for name in classes.histograms},
        partitions=tuple(
            _partition(coding, memberships, fuzzy, scales)
            for coding, memberships in zip(fuzzy.codings, fuzzy.memberships, strict=True)
        ),
    )


def _sensitive(classes: FuzzyClasses, column: str) -> FuzzySensitive:
    equal = classes.closeness(column, ordered=False)
    ordered = None if column in classes.disorder else classes.closeness(column, ordered=True)
    belief = classes.belief(column)
    return FuzzySensitive(
        l=int(diversity(classes.values(column)).min()),
        t=float(equal.max()),
        t_smallest=float(equal.min()),
        t_ordered=None if ordered is None else float(ordered.max()),
        t_ordered_smallest=None if ordered is None else float(ordered.min()),
        posterior=float(np.nanmax(belief)) if np.isfinite(belief).any() else float("nan"),
    )


def _partition(coding: Coding, memberships: np.ndarray, fuzzy: Fuzzified, scales: dict[str, Scale]) -> PartitionMeasures:
    counts = fuzzy.classes.counts
    sums, numbers = sigma_count(memberships, counts), cardinality(memberships, counts)
    records = np.bincount(strongest(memberships), weights=counts, minlength=coding.sets).astype(int)
    sets = tuple(
        SetMeasures(
            {c: fuzzy.names[c][i] for c in coding.columns},
            _centre(coding, i, scales) if records[i] >= FEW else None,
            None if coding.corners is None else coding.corners[i],
            float(sums[i]),
            int(numbers[i]),
            int(records[i]),
        )
        for i in range(coding.sets)
    )
    learned = coding.learned
    if not isinstance(learned, Clustering):
        return PartitionMeasures(coding.columns, sets)
    return PartitionMeasures(coding.columns, sets, learned.iterations, learned.converged, learned.regularized)


def _centre(coding: Coding, i: int, scales: dict[str, Scale]) -> dict[str, float | str] | None:
    """In the units of the columns; dates as they are written there."""
    if coding.centres is None:
        return None
    found = zip(coding.columns, coding.centres[i].tolist(), strict=True)
    return {c: scales[c].text(x) if scales[c].kind == "date" else x for c, x in found}
