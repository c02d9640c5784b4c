"""What a method is, and what a search returns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from velado.declarations import Declaration
from velado.errors import NoSolution
from velado.frequency import Classes, FrequencyTable
from velado.fuzzy.classes import Fuzzified
from velado.hierarchies import Cover
from velado.methods.suppression import Suppression, is_unlimited
from velado.models import CLASS, WHOLE, PrivacyModel, Verdict, judge_classes
from velado.parameters import Parameter, check, records_of
from velado.progress import Progress
from velado.results import UNSAID, Discreet
from velado.sentences import Sentence, join_sentences
from velado.values import Text

MOST_LOOKED_AT = 10**7
"""Rows times nodes up to which an error says what would work."""
FIRST_NODES = 16
"""Nodes that a search evaluates at least, if its kernels are not compiled."""


def kernels_ready(rows: int, *kernels: str) -> bool:
    """Whether so many rows can be searched, with these kernels or in any way, without waiting for the compiler."""
    from velado.kernels.compile_cache import compiled_before
    from velado.kernels.compiler import LARGEST

    return rows * FIRST_NODES <= LARGEST or compiled_before(*(kernels or ("climb_nodes", "partition")))


@dataclass(frozen=True)
class Search:
    """How the recoding was found: ``gap`` is how far, at most, the optimum lies below the value found."""

    nodes: int
    evaluated: int | None
    proven_optimal: bool
    gap: float | None
    seconds: float
    objective: str | None = field(default=None, metadata=UNSAID)
    value: float | None = field(default=None, metadata=UNSAID)


@dataclass(frozen=True, repr=False)
class Found(Discreet):
    """The classes of a recoding, which of them are released, and what they show.

    ``labels[c, j]`` is the label of class c in column j, a code into ``covers[j].labels``. ``levels`` is the node of a
    full-domain recoding, None for a local one; ``minimal`` lists all minimal nodes where they were asked for;
    ``fuzzy`` are the fuzzy classes of a method that makes them.
    """

    classes: Classes
    kept: np.ndarray
    search: Search
    covers: tuple[Cover, ...]
    labels: np.ndarray
    levels: tuple[int, ...] | None = None
    minimal: tuple[tuple[int, ...], ...] = field(default=())
    fuzzy: Fuzzified | None = None

    def summary(self) -> dict[str, Any]:
        """How many classes there are, how many are released, and the levels."""
        levels = {} if self.levels is None else {"levels": self.levels}
        return {"classes": self.classes.count, "released": int(self.kept.sum()), **levels}

    @property
    def suppressed_records(self) -> int:
        """Records in classes that are not released."""
        return int(self.classes.sizes[~self.kept].sum())

    def examples(self) -> list[Text]:
        """Per column the label that most released records have, of equal ones the first; None where all are missing.

        Labels that only suppressed records have are no examples: they would tell of people who are not in the release.
        """
        found: list[Text] = []
        for j, cover in enumerate(self.covers):
            records: Counter[str] = Counter()
            codes, sizes = self.labels[self.kept, j].tolist(), self.classes.sizes[self.kept].tolist()
            for code, size in zip(codes, sizes, strict=True):
                if cover.labels[code] is not None:
                    records[cover.labels[code]] += size
            found.append(min(records, key=lambda label: (-records[label], label), default=None))
        return found


@dataclass(frozen=True)
class Method(ABC):
    """A way to find a recoding in a frequency table.

    ``takes``: which kinds of models it can satisfy (`velado.models.base`). ``full_domain``: it
    chooses a node of the generalization lattice, every column at one level. ``proves``: what it finds is proven to be the best by its own goal.
    ``monotone_only``: models must be monotone, and hereditary where records may be suppressed.
    """

    name: ClassVar[str]
    declaration: ClassVar[Declaration]
    parameters: ClassVar[Mapping[str, Parameter]]
    takes: ClassVar[frozenset[str]] = frozenset({CLASS, WHOLE})
    full_domain: ClassVar[bool] = True
    proves: ClassVar[bool] = False
    monotone_only: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check(self)

    @property
    def representative(self) -> bool:
        """Whether a released value may stand for others than itself, so that it does not say what it stands for."""
        return False

    @property
    def divides(self) -> bool:
        """Whether records with the same quasi-identifier values may come into different classes."""
        return False

    @property
    def fuzzy(self) -> bool:
        """Whether its classes have degrees of membership, so that models of fuzzy classes can be judged."""
        return False

    @abstractmethod
    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress | None = None) -> Found:
        """Find the node; `NoSolution` if there is none. The progress is that of the search alone."""


def lattice_size(levels: Sequence[int]) -> int:
    """Nodes of a lattice, at most 10^300: nobody needs more digits."""
    return min(math.prod(levels), 10**300)


def release_of(
    frequency: FrequencyTable, models: Sequence[PrivacyModel], levels: Sequence[int], search: Search, **more: Any
) -> Found:
    """The classes of a node, the satisfying ones kept."""
    classes = Classes.at_levels(frequency, levels)
    kept, _ = judge_classes(models, frequency.judged_columns, classes)
    return Found(classes, kept, search, *classes.labels_at(levels), tuple(int(x) for x in levels), **more)


def no_solution(frequency: FrequencyTable, models: Sequence[PrivacyModel], limit: Suppression) -> NoSolution:
    """Why nothing was found, and the nearest setting that would work.

    Its ``fields``: the share or number of records that may be suppressed (``allowed``), what each model ``reached`` with every column at
    its highest level, the names of those ``failing`` even there, and a node that satisfies the models if more records may be
    suppressed (``nearest``), if there is one on the way up.
    """
    top = [h.height for h in frequency.hierarchies]
    classes = Classes.at_levels(frequency, top)
    _, verdicts = judge_classes(models, frequency.judged_columns, classes)
    failing = [v for v in verdicts if not v.satisfied]
    hints = [
        Sentence(
            "{model} ({required}): even with every column at its highest level the table only reaches {reached}.",
            model=v.name,
            required=", ".join(f"{k}={x}" for k, x in v.required.items() if k not in ("column", "strict")),
            reached=shown_figure(v.achieved),
        )
        for v in failing
    ]
    if not failing:
        hints.append(Sentence("The fully generalized table satisfies the models; no node does so within the limits given."))
    if not is_unlimited(limit):
        hints.append(Sentence("Allow more suppression, weaken the models, or give the hierarchies a higher level."))
    else:
        hints.append(Sentence("Weaken the models to what the table reaches, or drop the model."))
    named = zip(_names(verdicts), verdicts, strict=True)
    broken = [name for name, v in named if not v.satisfied]
    fields = {"allowed": limit, "reached": reached_levels(verdicts), "failing": broken}
    nearest = None if is_unlimited(limit) else _nearest(frequency, models)
    return NoSolution(
        "no-solution",
        _failure_sentence(limit),
        hint=join_sentences("\n", hints),
        fields=fields if nearest is None else {**fields, "nearest": nearest},
    )


def _failure_sentence(limit: Suppression) -> Sentence:
    if is_unlimited(limit):
        return Sentence("no recoding satisfies the models")
    records = records_of(limit)
    if records is None:
        return Sentence(
            "no recoding satisfies the models when at most {allowed:.4g} of the records may be suppressed", allowed=float(limit)
        )
    return Sentence("no recoding satisfies the models when at most {records:,} record(s) may be suppressed", records=records)


def reached_levels(verdicts: Sequence[Verdict]) -> dict[str, float | int | None]:
    """What each model reaches, by its name; with its column where several have the same name."""
    return {name: _finite(v.achieved) for name, v in zip(_names(verdicts), verdicts, strict=True)}


def _names(verdicts: Sequence[Verdict]) -> list[str]:
    times = Counter(v.name for v in verdicts)
    return [v.name if times[v.name] == 1 else f"{v.name} ({v.required.get('column')})" for v in verdicts]


def shown_figure(achieved: Any) -> Any:
    """A figure that a model reaches, for a message."""
    return round(achieved, 6) if isinstance(achieved, float) else achieved


def _finite(achieved: Any) -> Any:
    return None if isinstance(achieved, float) and not math.isfinite(achieved) else shown_figure(achieved)


def _nearest(frequency: FrequencyTable, models: Sequence[PrivacyModel]) -> dict[str, Any] | None:
    """A node that suppresses few records, found by raising the column with the most different values, as Datafly does."""
    nodes = 1 + sum(h.height for h in frequency.hierarchies)
    if frequency.rows * nodes > MOST_LOOKED_AT:
        return None
    best: Found | None = None
    for levels in climb(frequency):
        found = release_of(frequency, models, levels, Search(0, 0, False, None, 0.0))
        if found.kept.any() and (best is None or found.suppressed_records < best.suppressed_records):
            best = found
    if best is None or best.levels is None:
        return None
    return {
        "suppression": best.suppressed_records / frequency.records,
        "suppressed": best.suppressed_records,
        "levels": dict(zip(frequency.columns, best.levels, strict=True)),
    }


def climb(frequency: FrequencyTable) -> Iterator[list[int]]:
    """Nodes from the bottom of the lattice to its top: each raises the column with the most different values, ties the first."""
    levels = [0] * len(frequency.hierarchies)
    while True:
        yield list(levels)
        distinct = [
            len(np.unique(h.maps[level][frequency.codes[:, j]])) if level < h.height else -1
            for j, (h, level) in enumerate(zip(frequency.hierarchies, levels, strict=True))
        ]
        if not distinct or max(distinct) < 0:
            return
        levels[distinct.index(max(distinct))] += 1
