"""Fuzzy generalization: numbers become linguistic labels of overlapping sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from velado.declarations import Declaration
from velado.errors import InputError, NoSolution, suggest
from velado.frequency import FrequencyTable
from velado.fuzzy import CMeans, FuzzyPartition, GlobalRecode, GustafsonKessel, KMeans, set_labels
from velado.fuzzy.clustering import Clusterer
from velado.fuzzy.coding import Coding
from velado.fuzzy.memberships import MOST_CELLS
from velado.hierarchies import Hierarchy
from velado.i18n import LANGUAGES
from velado.methods.base import Found, Method, Search, reached_levels, shown_figure
from velado.methods.clock import Clock
from velado.methods.fuzzy_labels import Labelled
from velado.methods.suppression import SUPPRESSION, Suppression, suppression_limit
from velado.models import CLASS, FUZZY, PrivacyModel, Verdict, check_basis
from velado.parameters import FLAG, Choice, Lists, Number
from velado.progress import Progress
from velado.sentences import Sentence, join_sentences
from velado.values import ROOT

MOST_SETS = 9
"""Sets that ``auto`` tries first: there are words for so many."""
SHAPES = {"triangular": FuzzyPartition.triangular, "trapezoidal": FuzzyPartition.trapezoidal}


@dataclass(frozen=True)
class Fuzzy(Method):
    """Replace numbers by the names of the fuzzy sets to which they belong most.

    Each column is partitioned into ``sets`` of its own and the columns are crossed, or all are partitioned ``joint``\\ ly.
    ``partition`` learns the sets (fuzzy c-means, Gustafson–Kessel, k-means) or cuts intervals (global recode); columns
    with ``breakpoints`` get triangles (one peak each) or trapezoids (two corners between neighbours). Crisp models are
    judged on the labels as they are written, fuzzy ones on the memberships. ``sets`` *auto*: the most sets, up to nine,
    with which all models hold. ``degrees``: write the degrees of membership with so many decimals; what is written is then
    finer, and so are the crisp classes. After the work of the Universidad de Oviedo on anonymity with fuzzy sets.
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
    suppression: Suppression = 0.0
    restarts: int = 5
    seed: int = 0
    name: ClassVar[str] = "fuzzy"
    declaration: ClassVar = Declaration(
        title="fuzzy sets: names instead of numbers",
        meaning="Numbers become the names of overlapping sets, such as low, middle and high.",
        example={"partition": "c-means", "sets": 5},
    )
    takes: ClassVar[frozenset[str]] = frozenset({CLASS, FUZZY})
    full_domain: ClassVar[bool] = False
    parameters: ClassVar = {
        "partition": Choice("how the sets are found", ("c-means", "gustafson-kessel", "k-means", "global-recode")),
        "joint": Choice("partition all columns together instead of crossing their sets", FLAG),
        "sets": Number("number of sets, of each column or of all jointly", low=2, high=1000, integer=True, word="auto"),
        "breakpoints": Lists("where the sets of a column lie that are drawn by hand", numbers=True),
        "shape": Choice("shape of the sets drawn by hand", tuple(SHAPES), expert=True),
        "intervals": Choice(
            "what the intervals of global recode have in common", ("equalAmount", "equidistant", "logEqui"), expert=True
        ),
        "outliers": Choice("which outliers global recode leaves out", ("keep", "lowest", "fences"), expert=True),
        "fuzzifier": Number("how much the learned sets overlap", low=1, low_open=True, high=100, expert=True),
        "names": Lists("names of the sets of a column, ascending"),
        "language": Choice("language of the names that are not given", tuple(LANGUAGES)),
        "degrees": Number("decimals of the degrees of membership, if they are written", low=1, high=6, integer=True, optional=True),
        "suppression": SUPPRESSION,
        "restarts": Number("runs from different starts, of which the best is taken", low=1, high=1000, integer=True, expert=True),
        "seed": Number("seed of the starts", low=0, integer=True, expert=True),
    }

    @property
    def representative(self) -> bool:
        """A linguistic label does not say for which numbers it stands."""
        return True

    @property
    def fuzzy(self) -> bool:
        """Its classes have memberships."""
        return True

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress | None = None) -> Found:
        """The given number of sets, or the largest with which all models hold."""
        progress = progress or Progress()
        clock = Clock()
        check_basis(models, self.takes)
        self._check(frequency.hierarchies)
        numbers = [_numbers(h) for h in frequency.hierarchies]
        limit = suppression_limit(self.suppression, frequency.records)
        wanted = self._set_numbers(frequency, numbers)
        for tried, sets in enumerate(wanted, 1):
            labelled = self._label_classes(frequency, numbers, sets, progress.of(tried - 1, len(wanted)))
            progress.check()
            kept, verdicts = labelled.judge(models)
            suppressed = int(labelled.classes.sizes[~kept].sum())
            failing = [v for v in verdicts if not v.satisfied]
            if not failing and kept.any() and suppressed <= limit:
                search = Search(len(wanted), tried, False, None, clock.seconds, "number of sets", sets)
                progress.at(1.0)
                return Found(labelled.classes, kept, search, labelled.covers, labelled.labels, fuzzy=labelled.fuzzify(kept))
        raise self._none(wanted[-1], suppressed, failing)

    def _label_classes(self, frequency: FrequencyTable, numbers: Sequence[np.ndarray], sets: int, progress: Progress) -> Labelled:
        codings, memberships = [], []
        if self.joint:
            points = _rows(frequency, numbers)
            codings.append(Coding.learn(self._method(sets), points, frequency.counts, frequency.columns, progress))
            memberships.append(codings[0].memberships)
        else:
            for j, column in enumerate(frequency.columns):
                here = frequency.leaf_records[j] > 0
                points, records = numbers[j][here][:, None], frequency.leaf_records[j][here]
                if column in self.breakpoints:
                    partition = SHAPES[self.shape](self.breakpoints[column], column)
                    coding = Coding.from_partition(partition, points, records, column)
                else:
                    learning = progress.of(j, len(frequency.columns))
                    coding = Coding.learn(self._method(sets), points, records, [column], learning)
                codings.append(coding)
                memberships.append(coding.memberships[(np.cumsum(here) - 1)[frequency.codes[:, j]]])
        names = {column: self._names(column, c.places[i]) for c in codings for i, column in enumerate(c.columns)}
        return Labelled.of(frequency, codings, memberships, names, self.degrees)

    def _method(self, sets: int) -> Clusterer | GlobalRecode:
        if self.partition == "global-recode":
            return GlobalRecode(sets, self.intervals, self.outliers)
        if self.partition == "k-means":
            return KMeans(sets, restarts=self.restarts, seed=self.seed)
        kind: type[CMeans | GustafsonKessel] = CMeans if self.partition == "c-means" else GustafsonKessel
        return kind(sets, restarts=self.restarts, seed=self.seed, fuzzifier=self.fuzzifier)

    def _names(self, column: str, places: np.ndarray) -> tuple[str, ...]:
        """The names of the sets, given the place of each in ascending order."""
        given = self.names.get(column) or set_labels(len(places), self.language)
        if len(given) != len(places):
            raise InputError(
                "bad-names",
                Sentence("there are {sets} sets and {names} names", sets=len(places), names=len(given)),
                column=column,
                hint="Give as many names as sets, or none.",
            )
        return tuple(given[i] for i in places)

    def _set_numbers(self, frequency: FrequencyTable, numbers: Sequence[np.ndarray]) -> Sequence[int]:
        """The numbers of sets to try; names say how many sets there are."""
        if self.sets != "auto":
            return [self.sets]
        learned = [j for j, column in enumerate(frequency.columns) if column not in self.breakpoints]
        named = [len(self.names[c]) for c in (frequency.columns[j] for j in learned) if c in self.names]
        if named or not learned:
            return [max((2, *named))]
        if self.joint:
            different = len(np.unique(_rows(frequency, numbers), axis=0))
        else:
            different = min(len(np.unique(numbers[j][frequency.leaf_records[j] > 0])) for j in learned)
        most = max(2, min(MOST_SETS, different))
        return [n for n in range(most, 1, -1) if n == 2 or frequency.rows * self._classes(n, len(learned)) <= MOST_CELLS]

    def _classes(self, sets: int, learned: int) -> int:
        """How many fuzzy classes so many learned columns with so many sets each give, crossed with those drawn by hand."""
        if self.joint:
            return sets
        points = [len(p) for p in self.breakpoints.values()]
        return int(sets**learned) * math.prod(n if self.shape == "triangular" else n // 2 + 1 for n in points)

    def _check(self, hierarchies: Sequence[Hierarchy]) -> None:
        columns = [h.column for h in hierarchies]
        for name in (*self.breakpoints, *self.names):
            if name not in columns:
                raise InputError(
                    "unknown-column",
                    "sets are described for a column that is not a quasi-identifier",
                    column=name,
                    hint=suggest(name, columns),
                )
        for column, names in self.names.items():
            if len(set(names)) < len(names) or {"", ROOT} & {name.strip() for name in names}:
                raise InputError(
                    "bad-names", "the names of sets must be different, and neither empty nor *", column=column, values=names
                )
        if self.joint and (self.breakpoints or self.partition == "global-recode"):
            raise InputError(
                "not-joint",
                "sets drawn by hand and intervals of global recode belong to one column each",
                hint="Leave out 'joint', or choose c-means, gustafson-kessel or k-means.",
            )
        for h in hierarchies:
            if h.scale is None or h.scale.kind == "order":
                raise InputError(
                    "not-numeric",
                    "fuzzy sets are sets of numbers or dates, and this column has others",
                    column=h.column,
                    hint="A single cell that is no number (NA, inf) is enough: replace it. Otherwise give the column the "
                    "type integer, number or date, or another role, or use another method.",
                )
            if h.scale.kind == "date" and h.column in self.breakpoints:
                raise InputError(
                    "bad-breakpoints",
                    "breakpoints are numbers, and this column has dates",
                    column=h.column,
                    hint="Let the sets of dates be learned, or make years of them first.",
                )

    def _none(self, sets: int, suppressed: int, failing: Sequence[Verdict]) -> NoSolution:
        hints = [Sentence("{model}: {reached} is reached.", model=v.name, reached=shown_figure(v.achieved)) for v in failing]
        hints.append(Sentence("Weaken the models to what is reached, allow suppression, or take fewer sets or fewer columns."))
        text = Sentence(
            "no partition satisfies the models: with {sets} sets, {suppressed} record(s) would be suppressed",
            sets=sets,
            suppressed=suppressed,
        )
        return NoSolution(
            "no-solution",
            text,
            hint=join_sentences("\n", hints),
            fields={"reached": reached_levels(failing), "allowed": self.suppression},
        )


def _rows(frequency: FrequencyTable, numbers: Sequence[np.ndarray]) -> np.ndarray:
    """Rows × columns of numbers."""
    return np.stack([x[frequency.codes[:, j]] for j, x in enumerate(numbers)], axis=1)


def _numbers(hierarchy: Hierarchy) -> np.ndarray:
    assert hierarchy.scale is not None
    if np.isnan(hierarchy.scale.numbers).any():
        raise InputError(
            "not-finite",
            "missing numbers have no membership in a fuzzy set",
            column=hierarchy.column,
            hint="Suppress these records or replace the values first.",
        )
    return hierarchy.scale.numbers
