"""Measures of a release with fuzzy classes: how many records they may have, and what they tell about sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from velado.fuzzy import cardinality, check_partition, diversity, largest_q, posterior, q_anonymity
from velado.fuzzy.classes import FuzzyClasses
from velado.fuzzy.coding import Coding

SIZES = (2, 3, 5, 10, 20, 50, 100)
"""The numbers of records whose possibility is told."""


@dataclass(frozen=True)
class FuzzySensitive:
    """A sensitive column: fuzzy ℓ, the largest and the smallest distance of an individual, and the surest posterior belief.

    t is the largest; the thesis of Oviedo reports the smallest, which protects nobody. Distances are the equal one and
    the ordered one.
    """

    l: int  # noqa: E741
    t: float
    t_smallest: float
    t_ordered: float
    t_ordered_smallest: float
    posterior: float


@dataclass(frozen=True)
class FuzzyMeasures:
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
    partitions: tuple[dict[str, Any], ...]


def fuzzy_measures(classes: FuzzyClasses, codings: Sequence[Coding]) -> FuzzyMeasures:
    """Measure the released fuzzy classes."""
    sizes = cardinality(classes.memberships, classes.counts)
    reached = q_anonymity(classes.cardinality, np.array(SIZES))
    partition = check_partition(classes.memberships)
    return FuzzyMeasures(
        classes=classes.memberships.shape[1],
        q=largest_q(classes.cardinality),
        possibility={k: float(p) for k, p in zip(SIZES, reached, strict=True)},
        cardinality={"smallest": int(sizes.min()), "mean": float(sizes.mean()), "largest": int(sizes.max())},
        normal=partition.normal,
        robust=partition.robust,
        sensitive={name: _sensitive(classes, name) for name in classes.histograms},
        partitions=tuple(c.described() for c in codings),
    )


def _sensitive(classes: FuzzyClasses, column: str) -> FuzzySensitive:
    equal, ordered = (classes.closeness(column, x) for x in (False, True))
    belief = posterior(classes.memberships, classes.histogram(column)).data
    return FuzzySensitive(
        l=int(diversity(classes.values(column)).min()),
        t=float(equal.max()),
        t_smallest=float(equal.min()),
        t_ordered=float(ordered.max()),
        t_ordered_smallest=float(ordered.min()),
        posterior=float(np.nanmax(belief)) if np.isfinite(belief).any() else float("nan"),
    )
