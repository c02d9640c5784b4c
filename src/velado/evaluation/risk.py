"""Re-identification risk (``measures.md`` §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from velado.errors import InputError
from velado.evaluation.matching import fitting
from velado.evaluation.pair import Pair
from velado.frequency import FrequencyTable
from velado.hierarchies import Cover
from velado.models import PrivacyModel, smallest_class
from velado.progress import Progress
from velado.sentences import Sentence, join_sentences

THRESHOLD = 0.1


@dataclass(frozen=True)
class Risk:
    """Prosecutor risk of the released records: 1/size of their class.

    ``highest`` = 1/smallest size, ``average`` = classes/records (also the marketer risk), ``at_risk`` =
    share of records whose risk exceeds the threshold 0.1. ``singled_out``: records that are alone with their
    quasi-identifier values; ``smaller_than_k``: those in groups of fewer than the k that was required, None if none was.
    """

    highest: float
    average: float
    at_risk: float
    singled_out_before: int
    singled_out_after: int
    smaller_than_k_before: int | None = None
    smaller_than_k_after: int | None = None


def risk(
    sizes: np.ndarray,
    singled_out_before: int,
    times: np.ndarray | None = None,
    k: int | None = None,
    smaller_before: int | None = None,
    threshold: float = THRESHOLD,
) -> Risk:
    """Risk of classes of the given sizes, each occurring once or so many times, where classes of k were asked for."""
    times = np.ones(len(sizes), dtype=np.int64) if times is None else times
    records = int((sizes * times).sum())
    if not records:
        return Risk(0.0, 0.0, 0.0, singled_out_before, 0, smaller_before, None if k is None else 0)
    exposed = 1 / sizes > threshold + 1e-12
    return Risk(
        highest=1 / int(sizes.min()),
        average=int(times.sum()) / records,
        at_risk=int((sizes * times)[exposed].sum()) / records,
        singled_out_before=singled_out_before,
        singled_out_after=int(times[sizes == 1].sum()),
        smaller_than_k_before=smaller_before,
        smaller_than_k_after=None if k is None else smaller(sizes, k, times),
    )


def smaller(sizes: np.ndarray, k: int, times: np.ndarray | int = 1) -> int:
    """Records in groups of fewer than k."""
    return int((sizes * times)[sizes < k].sum())


def required_size(models: Sequence[PrivacyModel]) -> int | None:
    """The class size that models ask for, None if they ask for none."""
    k = smallest_class(models)
    return k if k > 1 else None


@dataclass(frozen=True)
class Journalist:
    """Risk when the attacker knows a population of which the release is a sample: 1/size of the class there.

    ``average`` is also the expected share of records that a marketer re-identifies in that population.
    """

    population: int
    highest: float
    average: float
    at_risk: float


def journalist(
    pair: Pair, population: FrequencyTable, threshold: float = THRESHOLD, progress: Progress | None = None
) -> Journalist:
    """Journalist risk of a release against a population table with the same quasi-identifiers."""
    covers = [Cover.of_labels(h, cover.labels, strict=False) for h, cover in zip(population.hierarchies, pair.covers, strict=True)]
    rows, classes = fitting(population.codes, covers, pair.labels, progress)
    there = np.bincount(classes, weights=population.counts[rows], minlength=pair.released.count).astype(np.int64)
    # Classes that show the same are one, and have everybody of the population whom that fits.
    sizes = pair.shown_sizes[pair.shown_as]
    short = np.flatnonzero(there < sizes)
    if len(short):
        (shown,) = pair.texts(short[:1])
        raise InputError(
            "not-a-population",
            Sentence(
                "{classes:,} released class(es) have more records than the population has for them, for example "
                "({labels}): {released:,} released, {available:,} in the population",
                classes=len(short),
                labels=join_sentences(", ", map(str, shown)),
                released=int(sizes[short[0]]),
                available=int(there[short[0]]),
            ),
            hint="The population table must contain everybody in the release, with the same quasi-identifiers.",
        )
    risks = 1 / there
    return Journalist(
        population=population.records,
        highest=float(risks.max(initial=0)),
        average=float((risks * pair.sizes).sum() / max(pair.released_records, 1)),
        at_risk=float(pair.sizes[risks > threshold + 1e-12].sum() / max(pair.released_records, 1)),
    )
