"""Fuzzy generalization: numbers become linguistic labels of overlapping sets."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from velado.errors import InputError, NoSolution, suggest
from velado.frequency import Classes, FrequencyTable, in_order
from velado.fuzzy import CMeans, FuzzyPartition, GlobalRecode, GustafsonKessel, KMeans, product, set_labels
from velado.fuzzy.classes import FuzzyClasses
from velado.fuzzy.clustering import Clusterer
from velado.fuzzy.coding import Coding
from velado.hierarchies import Cover, Hierarchy
from velado.i18n import LANGUAGES
from velado.methods.axes import Axis
from velado.methods.base import Found, Method, Progress, Search, silent, suppression_limit
from velado.methods.represent import range_cover
from velado.models import PrivacyModel, Verdict, crisp_models, fuzzy_verdicts, judge_classes
from velado.parameters import FLAG, Choice, Lists, Number

MOST_SETS = 9
"""Sets that ``auto`` tries first: there are words for so many."""
OUTLIER = "*"


@dataclass(frozen=True)
class Fuzzified:
    """How the columns were partitioned, what the sets are called in each column, and the fuzzy classes that are released."""

    codings: tuple[Coding, ...]
    names: tuple[tuple[str, ...], ...]
    classes: FuzzyClasses


@dataclass(frozen=True)
class Fuzzy(Method):
    """Replace numbers by the names of the fuzzy sets to which they belong most.

    Each column is partitioned into ``sets`` of its own and the columns are crossed, or all are partitioned ``joint``\\ ly.
    ``partition`` learns the sets (fuzzy c-means, Gustafson–Kessel, k-means) or cuts intervals (global recode); columns
    with ``breakpoints`` get triangles (one peak each) or trapezoids (two corners between neighbours). Crisp models are
    judged on the labels as they are written, fuzzy ones on the memberships. ``sets`` *auto*: the most sets, up to nine,
    with which all models hold. ``degrees``: write the degrees of membership with so many decimals; what is written is then
    finer, and so are the crisp classes.
    """

    partition: str = "c-means"
    joint: bool = False
    sets: Any = "auto"
    breakpoints: Mapping[str, Sequence[float]] = field(default_factory=dict)
    shape: str = "triangular"
    intervals: str = "equalAmount"
    outliers: str = "keep"
    fuzzifier: float = 2.0
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    language: str = "en"
    degrees: int | None = None
    suppression: float = 0.0
    restarts: int = 5
    seed: int = 0
    name: ClassVar[str] = "fuzzy"
    parameters: ClassVar = {
        "partition": Choice("how the sets are found", ("c-means", "gustafson-kessel", "k-means", "global-recode")),
        "joint": Choice("partition all columns together instead of crossing their sets", FLAG),
        "sets": Number("number of sets, of each column or of all jointly", low=2, high=1000, integer=True, word="auto"),
        "breakpoints": Lists("where the sets of a column lie that are drawn by hand", numbers=True),
        "shape": Choice("shape of the sets drawn by hand", ("triangular", "trapezoidal")),
        "intervals": Choice("what the intervals of global recode have in common", ("equalAmount", "equidistant", "logEqui")),
        "outliers": Choice("which outliers global recode leaves out", ("keep", "lowest", "fences")),
        "fuzzifier": Number("how much the learned sets overlap", low=1, low_open=True),
        "names": Lists("names of the sets of a column, ascending"),
        "language": Choice("language of the names that are not given", tuple(LANGUAGES)),
        "degrees": Number("decimals of the degrees of membership, if they are written", low=0, high=6, integer=True, optional=True),
        "suppression": Number("share of the records that may be suppressed", low=0, high=1),
        "restarts": Number("runs from different starts, of which the best is taken", low=1, high=1000, integer=True),
        "seed": Number("seed of the starts", low=0, integer=True),
    }  # fmt: skip

    @property
    def representative(self) -> bool:
        """A linguistic label does not say for which numbers it stands."""
        return True

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress = silent) -> Found:
        """The given number of sets, or the largest with which all models hold."""
        began = time.perf_counter()
        self._check(frequency.hierarchies)
        limit = suppression_limit(self.suppression, frequency.records)
        wanted = [self.sets] if self.sets != "auto" else range(self._most(frequency), 1, -1)
        nearest: list[Verdict] = []
        for tried, sets in enumerate(wanted, 1):
            progress((tried - 1) / len(wanted), "partitioning into fuzzy sets")
            coded = self._coded(frequency, sets)
            kept, verdicts = _judged(frequency, models, coded)
            nearest = [v for v in verdicts if not v.satisfied]
            if not nearest and kept.any() and coded.classes.sizes[~kept].sum() <= limit:
                search = Search(len(wanted), tried, False, None, time.perf_counter() - began, "number of sets", sets)
                fuzzy = Fuzzified(coded.codings, coded.names, coded.fuzzy(kept))
                return Found(coded.classes, kept, search, coded.covers, coded.labels, fuzzy=fuzzy)
        raise self._none(frequency.records - int(coded.classes.sizes[kept].sum()), nearest)

    def _coded(self, frequency: FrequencyTable, sets: int) -> Coded:
        codings, per_row = [], []
        numbers = [_numbers(h) for h in frequency.hierarchies]
        method = self._method(sets)
        if self.joint:
            points = np.stack([x[frequency.codes[:, j]] for j, x in enumerate(numbers)], axis=1)
            codings.append(Coding.learn(method, points, frequency.counts, frequency.columns))
            per_row.append(codings[0].memberships)
        else:
            for j, (h, x) in enumerate(zip(frequency.hierarchies, numbers, strict=True)):
                here = frequency.leaf_records[j] > 0
                if h.column in self.breakpoints:
                    shape = FuzzyPartition.triangular if self.shape == "triangular" else FuzzyPartition.trapezoidal
                    coding = Coding.drawn(shape(self.breakpoints[h.column], h.column), x[:, None], h.column)
                else:
                    coding = Coding.learn(method, x[here][:, None], frequency.leaf_records[j][here], [h.column])
                place = np.arange(len(here)) if len(coding.memberships) == len(here) else np.cumsum(here) - 1
                codings.append(coding)
                per_row.append(coding.memberships[place[frequency.codes[:, j]]])
        names = tuple(
            self._names(h.column, (codings[0] if self.joint else codings[j]).sets)
            for j, h in enumerate(frequency.hierarchies)
        )
        return Coded.of(frequency, tuple(codings), tuple(per_row), names, self.degrees)

    def _method(self, sets: int) -> Clusterer | GlobalRecode:
        if self.partition == "global-recode":
            return GlobalRecode(sets, self.intervals, self.outliers)
        if self.partition == "k-means":
            return KMeans(sets, restarts=self.restarts, seed=self.seed)
        kind = {"c-means": CMeans, "gustafson-kessel": GustafsonKessel}[self.partition]
        return kind(sets, restarts=self.restarts, seed=self.seed, fuzzifier=self.fuzzifier)

    def _names(self, column: str, sets: int) -> tuple[str, ...]:
        given = self.names.get(column)
        if given is None:
            return tuple(set_labels(sets, self.language))
        if len(given) != sets or len(set(given)) != sets:
            raise InputError(
                "bad-names", f"{sets} different names are needed, one for each set, got {len(set(given))}", column=column,
                hint="Give as many names as sets, or none.",
            )  # fmt: skip
        return tuple(given)

    def _most(self, frequency: FrequencyTable) -> int:
        if self.names and not self.breakpoints:
            return len(next(iter(self.names.values())))
        if self.joint:
            return min(MOST_SETS, frequency.rows)
        learned = [j for j, h in enumerate(frequency.hierarchies) if h.column not in self.breakpoints]
        # With all columns drawn by hand there is one partition to try.
        fewest = (len(np.unique(_numbers(frequency.hierarchies[j]))) for j in learned)
        return max(2, min((MOST_SETS, *fewest)) if learned else 2)

    def _check(self, hierarchies: Sequence[Hierarchy]) -> None:
        columns = [h.column for h in hierarchies]
        for name in (*self.breakpoints, *self.names):
            if name not in columns:
                raise InputError(
                    "unknown-column", "sets are described for a column that is not a quasi-identifier", column=name,
                    hint=suggest(name, columns),
                )  # fmt: skip
        if self.joint and (self.breakpoints or self.partition == "global-recode"):
            raise InputError(
                "not-joint", "sets drawn by hand and intervals of global recode belong to one column each",
                hint="Leave out 'joint', or choose c-means, gustafson-kessel or k-means.",
            )  # fmt: skip
        for h in hierarchies:
            if h.scale is None or h.scale.kind == "order":
                raise InputError(
                    "not-numeric", "fuzzy sets are sets of numbers or dates, and this column has others", column=h.column,
                    hint="Give the column the type integer, number or date, or another role, or use another method.",
                )  # fmt: skip

    def _none(self, suppressed: int, failing: Sequence[Verdict]) -> NoSolution:
        hints = [
            f"{v.name}: {v.achieved if not isinstance(v.achieved, float) else round(v.achieved, 6)} is reached."
            for v in failing
        ]
        hints.append("Weaken the models to what is reached, allow suppression, or take fewer sets or fewer columns.")
        with_sets = "two sets" if self.sets == "auto" else f"{self.sets} sets"
        text = f"no partition satisfies the models: with {with_sets}, {suppressed} record(s) would be suppressed"
        return NoSolution("no-solution", text, hint="\n".join(hints))


@dataclass(frozen=True)
class Coded:
    """A frequency table whose rows got labels.

    ``per_row`` are the memberships of the rows in the sets of each coding; ``inside`` tells the rows that belong to a set
    at all (outliers do not).
    """

    frequency: FrequencyTable
    codings: tuple[Coding, ...]
    names: tuple[tuple[str, ...], ...]
    per_row: tuple[np.ndarray, ...]
    classes: Classes
    covers: tuple[Cover, ...]
    labels: np.ndarray
    inside: np.ndarray

    @classmethod
    def of(
        cls,
        frequency: FrequencyTable,
        codings: tuple[Coding, ...],
        per_row: tuple[np.ndarray, ...],
        names: tuple[tuple[str, ...], ...],
        degrees: int | None,
    ) -> Coded:
        """Name the rows, and group those that show the same."""
        covers, codes = [], np.empty((frequency.rows, len(frequency.hierarchies)), dtype=np.int64)
        for j, h in enumerate(frequency.hierarchies):
            place = 0 if len(codings) == 1 else j
            column = codings[place].columns.index(h.column)
            texts, codes[:, j] = _labels(per_row[place], np.array(names[j])[codings[place].places[column]], degrees)
            axis = Axis.of(h)
            places = axis.rank[frequency.codes[:, j]]
            low, high = np.full(len(texts), len(axis.numbers)), np.zeros(len(texts), dtype=np.int64)
            np.minimum.at(low, codes[:, j], places)
            np.maximum.at(high, codes[:, j], places)
            covers.append(range_cover(axis, texts, low, high))
        _, number = np.unique(codes, axis=0, return_inverse=True)
        class_of, first = in_order(number.reshape(-1))
        classes = Classes.from_ids(frequency, class_of, len(first))
        inside = np.all([m.sum(axis=1) > 0 for m in per_row], axis=0)
        return cls(frequency, codings, names, per_row, classes, tuple(covers), codes[first], inside)

    def fuzzy(self, kept: np.ndarray) -> FuzzyClasses:
        """The fuzzy classes of the rows in the kept crisp ones."""
        memberships = self.per_row[0] if len(self.per_row) == 1 else product(self.per_row)
        return FuzzyClasses.of(self.frequency, memberships, kept[self.classes.class_of])


def _judged(
    frequency: FrequencyTable, models: Sequence[PrivacyModel], coded: Coded
) -> tuple[np.ndarray, list[Verdict]]:
    """The crisp classes that satisfy the crisp models, and the verdicts of the fuzzy ones on what is left."""
    kept, _ = judge_classes(crisp_models(models), frequency.sensitive, coded.classes)
    kept &= coded.inside[coded.classes.rows]
    return kept, fuzzy_verdicts(models, coded.fuzzy(kept)) if kept.any() else []


def _labels(memberships: np.ndarray, names: np.ndarray, degrees: int | None) -> tuple[tuple[str, ...], np.ndarray]:
    """The label of each row: the name of its strongest set, or the names of all with their degrees, the strongest first."""
    if degrees is None:
        belongs = memberships.sum(axis=1) > 0
        codes = np.where(belongs, memberships.argmax(axis=1), len(names))
        used, codes = np.unique(codes, return_inverse=True)
        return tuple([*names.tolist(), OUTLIER][i] for i in used), codes.reshape(-1)
    rounded = np.round(memberships * 10**degrees).astype(np.int64)
    shown, codes = np.unique(rounded, axis=0, return_inverse=True)
    texts = []
    for row in shown:
        parts = [i for i in np.argsort(-row, kind="stable") if row[i] > 0]
        texts.append("; ".join(f"{names[i]} {row[i] / 10**degrees:.{degrees}f}" for i in parts) or OUTLIER)
    return tuple(texts), codes.reshape(-1)


def _numbers(hierarchy: Hierarchy) -> np.ndarray:
    assert hierarchy.scale is not None
    if np.isnan(hierarchy.scale.numbers).any():
        raise InputError(
            "not-finite", "missing numbers have no membership in a fuzzy set", column=hierarchy.column,
            hint="Suppress these records or replace the values first.",
        )  # fmt: skip
    return hierarchy.scale.numbers
