"""The evaluation of a release: privacy achieved, risk, utility, before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np

from velado.errors import InputError
from velado.evaluation.aggregates import Aggregates, aggregates
from velado.evaluation.exposure import Exposure
from velado.evaluation.fuzzy import FuzzyMeasures, fuzzy_measures
from velado.evaluation.individual import IndividualRisk, summarize
from velado.evaluation.joint_exposure import JointExposure
from velado.evaluation.kolmogorov import KolmogorovSmirnov, kolmogorov_smirnov
from velado.evaluation.learning import Learning, Outcome, learning_utility
from velado.evaluation.pair import Pair
from velado.evaluation.privacy import Check, check_classes, check_frequency, class_size
from velado.evaluation.queries import QueryError, query_error
from velado.evaluation.risk import Journalist, Risk, journalist, required_size, risk, smaller
from velado.evaluation.subsets import Subset, subsets
from velado.evaluation.uniqueness import Uniqueness, uniqueness
from velado.evaluation.utility import ColumnUtility, Utility, utility
from velado.frequency import FrequencyTable
from velado.hierarchies import Cover
from velado.models import PrivacyModel, Verdict, all_verdicts, crisp_models, judge_classes, smallest_class
from velado.progress import Progress
from velado.results import IF_SET, Discreet, Result

MEASURES = ("privacy", "aggregates", "ks", "queries")
"""The parts of an evaluation that may be asked for by name; utility and risk are always there."""
MORE = ("subsets",)
"""Parts that are there only if they are asked for by name."""
WORK = {"utility": 2, "privacy": 2, "aggregates": 1, "ks": 1, "queries": 4, "learning": 40, "risk": 2, "subsets": 4, "fuzzy": 2}
"""How long the parts take beside each other."""


@dataclass(frozen=True, repr=False)
class Evaluation(Result):
    """What a release holds, achieves and costs.

    Suppressed records are counted apart: no class, distribution or risk contains them; ``starred`` of them stand
    in the release as rows of ``*``. ``before`` and ``after`` are the privacy of the original and of the release.
    Parts that were not asked for are None. ``people``: how many different ones are released and in the smallest class, where
    a person may have several records; models and risk are then about people. ``published``: how far the other columns of the
    release single records out, ``exposure``: how far all that is published does.
    """

    SCHEMA: ClassVar[str] = "velado-evaluation-1"
    rows: int
    released: int
    suppressed: int
    starred: int
    classes: int
    class_size: dict[str, float]
    utility: Utility
    risk: Risk
    models: tuple[Verdict, ...]
    columns: dict[str, ColumnUtility]
    before: Check | None = field(default=None, metadata=IF_SET)
    after: Check | None = field(default=None, metadata=IF_SET)
    aggregates: dict[str, Aggregates] | None = field(default=None, metadata=IF_SET)
    ks: dict[str, KolmogorovSmirnov] | None = field(default=None, metadata=IF_SET)
    queries: QueryError | None = field(default=None, metadata=IF_SET)
    learning: Learning | None = field(default=None, metadata=IF_SET)
    journalist: Journalist | None = field(default=None, metadata=IF_SET)
    individual: dict[str, IndividualRisk] | None = field(default=None, metadata=IF_SET)
    uniqueness: dict[str, Uniqueness] | None = field(default=None, metadata=IF_SET)
    subsets: tuple[Subset, ...] | None = field(default=None, metadata=IF_SET)
    fuzzy: FuzzyMeasures | None = field(default=None, metadata=IF_SET)
    people: dict[str, int] | None = field(default=None, metadata=IF_SET)
    published: tuple[Exposure, ...] | None = field(default=None, metadata=IF_SET)
    exposure: JointExposure | None = field(default=None, metadata=IF_SET)

    @property
    def smallest_class(self) -> int:
        """The fewest people of a class, or records where every record is a person."""
        return int(self.class_size.get("min", 0)) if self.people is None else self.people["smallest_class"]

    def summary(self) -> dict[str, Any]:
        """How many records, in which classes, at what loss and risk, and what the models reach."""
        return {
            "rows": self.rows,
            "released": self.released,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "loss": self.utility.loss,
            "highest_risk": self.risk.highest,
            **({} if self.exposure is None else {"exposed": self.exposure.share}),
            **{_about(v): v.achieved for v in self.models},
        }


def _about(verdict: Verdict) -> str:
    """A model, its column, and whether it holds."""
    column = verdict.required.get("column")
    where = "" if column is None else f" of {column}"
    return f"{verdict.name}{where} {'met' if verdict.satisfied else 'broken'}"


@dataclass(frozen=True, repr=False)
class Wanted(Discreet):
    """Which parts of an evaluation are computed, and with what.

    ``measures`` are names of `MEASURES` or `MORE`; ``outcome`` asks for learning utility, ``population`` for the journalist's
    risk, ``people`` (how many of the population each distinct original row stands for) or ``fraction`` (of the
    population that was sampled) for individual risk, the latter for population uniqueness, too, before and after. ``order`` is
    the ℓ of the recursive c.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("measures",)
    measures: tuple[str, ...] = ()
    order: int = 2
    queries: int = 1000
    seed: int = 0
    outcome: Outcome | None = None
    population: FrequencyTable | None = None
    people: np.ndarray | None = None
    fraction: float | None = None


def judge(pair: Pair, models: Sequence[PrivacyModel]) -> list[Verdict]:
    """How the release of a pair stands to every model: on its equivalence classes or, where it has them, its fuzzy ones."""
    fuzzy = None if pair.fuzzy is None else pair.fuzzy.classes
    crisp = models if fuzzy is None else crisp_models(models)
    judged = pair.judged_classes
    _, verdicts = judge_classes(crisp, judged.frequency.judged_columns, judged)
    return all_verdicts(models, verdicts, fuzzy)


def evaluate(
    pair: Pair,
    models: Sequence[PrivacyModel] = (),
    verdicts: Sequence[Verdict] = (),
    wanted: Wanted | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate a pair; the verdicts come from the verification of what was written."""
    wanted = wanted or Wanted()
    progress = progress or Progress()
    begin = _beginning(pair, wanted, progress)
    begin("utility")
    k = smallest_class(models) if models else int(min(pair.shown_sizes, default=1))
    overall, columns = utility(pair, k)
    parts: dict[str, Any] = {}
    if "privacy" in wanted.measures:
        judging = begin("privacy")
        before, after = (None, None) if pair.people is None else (pair.people.before, pair.people.classes)
        parts["before"] = check_frequency(pair.original, wanted.order, before)
        judging.at(0.5)
        parts["after"] = check_classes(
            pair.visible_classes, pair.visible_classes.frequency.sensitive, pair.singled_out, wanted.order, after
        )
    if "aggregates" in wanted.measures:
        parts["aggregates"] = _numeric(pair, aggregates, begin("aggregates"))
    if "ks" in wanted.measures:
        parts["ks"] = _numeric(pair, kolmogorov_smirnov, begin("ks"))
    if "queries" in wanted.measures:
        parts["queries"] = query_error(pair, wanted.queries, wanted.seed, begin("queries"))
    if wanted.outcome is not None:
        parts["learning"] = learning_utility(pair, wanted.outcome, wanted.seed, begin("learning"))
    at_risk = begin("risk")
    if wanted.population is not None:
        parts["journalist"] = journalist(pair, wanted.population, progress=at_risk)
    if wanted.people is not None:
        parts["individual"] = _individual(pair, wanted.people)
    elif wanted.fraction is not None:
        parts["individual"] = {
            "before": summarize(pair.original.counts, pair.original.counts / wanted.fraction),
            "after": summarize(pair.shown_sizes, pair.shown_sizes / wanted.fraction),
        }
    if wanted.fraction is not None:
        parts["uniqueness"] = {
            "before": uniqueness(pair.original.counts, wanted.fraction, at_risk.part(0.2, 0.6)),
            "after": uniqueness(pair.shown_sizes, wanted.fraction, at_risk.part(0.6, 1.0)),
        }
    if "subsets" in wanted.measures:
        parts["subsets"] = subsets(pair, begin("subsets"))
    if pair.people is not None:
        parts["people"] = {"count": pair.people.released, "smallest_class": int(min(pair.people.classes, default=0))}
    if pair.fuzzy is not None:
        begin("fuzzy")
        parts["fuzzy"] = fuzzy_measures(pair.fuzzy, pair.original.hierarchies)
    progress.at(1.0)
    return Evaluation(
        rows=pair.records,
        released=pair.released_records,
        suppressed=pair.suppressed_records,
        starred=pair.starred,
        classes=len(pair.shown_sizes),
        class_size=class_size(pair.shown_sizes),
        utility=overall,
        risk=_risk(pair, models),
        models=tuple(verdicts),
        columns=columns,
        **parts,
    )


def _risk(pair: Pair, models: Sequence[PrivacyModel]) -> Risk:
    k = required_size(models)
    return risk(pair.risk_sizes, pair.singled_out, k=k, smaller_before=None if k is None else smaller(pair.alike, k))


def _beginning(pair: Pair, wanted: Wanted, progress: Progress) -> Callable[[str], Progress]:
    """Begins a part of the evaluation by its name, with its share of the work that is wanted."""
    there = {"learning": wanted.outcome is not None, "fuzzy": pair.fuzzy is not None}
    names = [n for n in WORK if there.get(n, n in ("utility", "risk") or n in wanted.measures)]
    ends = list(accumulate((WORK[name] for name in names), initial=0))
    ranges = dict(zip(names, pairwise(ends), strict=True))

    def begin(name: str) -> Progress:
        low, high = ranges[name]
        part = progress.part(low / ends[-1], high / ends[-1], "learn" if name == "learning" else None)
        part.at(0.0)
        return part

    return begin


def _individual(pair: Pair, people: np.ndarray) -> dict[str, IndividualRisk]:
    if pair.class_of is None:
        raise InputError(
            "rows-not-matched",
            "individual risk needs to know which released class each original record went to; "
            "labels of this release overlap, or parts of classes were suppressed",
        )
    kept = pair.class_of >= 0
    classes = pair.shown_as[pair.class_of[kept]]
    after = np.bincount(classes, weights=people[kept], minlength=len(pair.shown_sizes))
    return {"before": summarize(pair.original.counts, people), "after": summarize(pair.shown_sizes, after)}


def _numeric(pair: Pair, measure: Any, progress: Progress) -> dict[str, Any]:
    """A measure of every numeric quasi-identifier that has it."""
    measured = {}
    for j, name in enumerate(pair.columns):
        progress.check()
        measured[name] = measure(pair, j)
    return {name: value for name, value in measured.items() if value is not None}


def check_numeric(covers: Iterable[Cover]) -> None:
    """At least one column holds numbers and is released as numbers or intervals."""
    if not any(c.numbers is not None for c in covers):
        raise InputError(
            "no-numeric-column",
            "no quasi-identifier is numeric: the measure compares distributions of numbers",
            hint="Numeric columns hold numbers in the original and numbers, intervals or * in the release.",
        )
