"""Privacy models of fuzzy classes: only a method that makes these can satisfy them.

After the work of the Universidad de Oviedo on anonymity with fuzzy sets; definitions in measures.md §5.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from velado.declarations import Declaration, Strength
from velado.frequency import Sensitive
from velado.fuzzy import AGGREGATIONS, diversity, largest_q, q_anonymity
from velado.fuzzy.classes import FuzzyClasses
from velado.models.base import COMPARED, FUZZY, PEOPLE, VALUES, PrivacyModel, Rule, Verdict, needs_fuzzy
from velado.models.diversity import COLUMN
from velado.parameters import Choice, Number

TOLERANCE = 1e-12


class FuzzyModel(PrivacyModel):
    """A requirement on a table's fuzzy classes."""

    basis: ClassVar[str] = FUZZY
    # The sets are learned from the whole input, and every membership with them.
    relative: ClassVar[bool] = True

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """Crisp classes have no memberships: nothing else than fuzzy classes can be judged."""
        raise needs_fuzzy(self)

    @abstractmethod
    def judge(self, classes: FuzzyClasses) -> Verdict:
        """How the fuzzy classes stand to the model."""


@dataclass(frozen=True)
class QAnonymity(FuzzyModel):
    """With at least this possibility, the fuzzy classes have at least q elements: Poss(|class| ≥ q), aggregated over classes."""

    q: int
    possibility: float = 0.5
    aggregation: str = "mean"
    name: ClassVar[str] = "q-anonymity"
    tells: ClassVar[str] = PEOPLE
    declaration: ClassVar = Declaration(
        title="Q-anonymity",
        meaning="It is possible enough that fuzzy classes have at least Q records. It says nothing about the smallest "
        "class: require k-anonymity as well.",
        reached="the largest Q that is possible enough",
        example={"q": 10},
        more={"stops": ["linkage"]},
    )
    strength: ClassVar = {"q": Strength("Q", 1)}
    parameters: ClassVar = {
        "q": Number("smallest possible number of records of a fuzzy class", low=2, integer=True),
        "possibility": Number("how possible that must be", low=0, high=1, low_open=True),
        "aggregation": Choice("how the possibilities of the classes become one", tuple(AGGREGATIONS), expert=True),
    }

    def judge(self, classes: FuzzyClasses) -> Verdict:
        """The largest Q that is possible enough."""
        reached = q_anonymity(classes.cardinality, self.q, self.aggregation) >= self.possibility - TOLERANCE
        achieved = largest_q(classes.cardinality, self.possibility, self.aggregation)
        return Verdict(self.name, self.requirements(), achieved, bool(reached))


@dataclass(frozen=True)
class FuzzyDiversity(FuzzyModel):
    """Every fuzzy class has at least ℓ sensitive values with #(Q_i ∩ s) ≥ 1, # the non-fuzzy cardinality."""

    l: int  # noqa: E741
    column: str
    name: ClassVar[str] = "fuzzy-l-diversity"
    tells: ClassVar[str] = VALUES
    declaration: ClassVar = Declaration(
        title="fuzzy ℓ-diversity",
        meaning="In every fuzzy class at least ℓ sensitive values are represented.",
        reached="the fewest values of a fuzzy class",
        example={"l": 3, "column": "diagnosis"},
        more={"stops": ["homogeneity"]},
    )
    strength: ClassVar = {"l": Strength("ℓ", 1)}
    parameters: ClassVar = {"l": Number("smallest number of different values", low=2, integer=True), "column": COLUMN}

    def judge(self, classes: FuzzyClasses) -> Verdict:
        """The fewest values of a class."""
        achieved = int(diversity(classes.values(self.column)).min())
        return Verdict(self.name, self.requirements(), achieved, achieved >= self.l)


@dataclass(frozen=True)
class FuzzyCloseness(FuzzyModel):
    """For every individual x the distance EMD(P_x, Q) is at most t, P_x = Σ_i μ_i(x)·P_i, Q the whole input's distribution."""

    t: float
    column: str
    distance: str = "equal"
    name: ClassVar[str] = "fuzzy-t-closeness"
    tells: ClassVar[str] = COMPARED
    declaration: ClassVar = Declaration(
        title="fuzzy t-closeness",
        meaning="What the fuzzy classes of a person tell about the sensitive values is at most t away from the whole table.",
        reached="the largest distance of a person",
        example={"t": 0.3, "column": "diagnosis"},
        more={"stops": ["skewness"]},
    )
    strength: ClassVar = {"t": Strength("t", -1)}
    parameters: ClassVar = {
        "t": Number("largest distance", low=0, high=1),
        "column": COLUMN,
        "distance": Choice("ground distance", ("equal", "ordered")),
    }

    def judge(self, classes: FuzzyClasses) -> Verdict:
        """The largest distance of an individual."""
        achieved = float(classes.closeness(self.column, self.distance == "ordered").max())
        return Verdict(self.name, self.requirements(), achieved, achieved <= self.t + TOLERANCE)


def crisp_models(models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    """The models of crisp classes."""
    return tuple(m for m in models if m.basis != FUZZY)


def fuzzy_verdicts(models: Sequence[PrivacyModel], classes: FuzzyClasses) -> list[Verdict]:
    """The verdicts of the models of fuzzy classes."""
    return [m.judge(classes) for m in models if isinstance(m, FuzzyModel)]


def all_verdicts(models: Sequence[PrivacyModel], crisp: Iterable[Verdict], classes: FuzzyClasses | None) -> list[Verdict]:
    """The verdicts of all models in their order, given those of the crisp ones; without fuzzy classes these are all."""
    if classes is None:
        return list(crisp)
    judged = iter(crisp)
    return [m.judge(classes) if isinstance(m, FuzzyModel) else next(judged) for m in models]
