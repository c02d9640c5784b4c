"""What an attack tells: figures, the most exposed classes, and what would have prevented it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from velado.declarations import Declaration, declaration_of
from velado.frequency import Classes, Sensitive
from velado.models import PrivacyModel, compile_rules
from velado.parameters import Number, Parameter, check
from velado.results import Discreet, Result
from velado.sentences import Sentence
from velado.values import Text

MOST_EXPOSED = 10
TOLERANCE = 1e-12
MEASURES = {
    "shuffle": Sentence("random order of rows"),
    "suppress-small-classes": Sentence("suppressing the classes that are too small"),
    "same-or-coarser": Sentence("making the later release from the earlier one, with the same recoding or a coarser one"),
    "judge-the-combination": Sentence("judged on both releases joined"),
    "role": Sentence("the role identifier or quasi-identifier for the column, or an operation"),
    "leave-out": Sentence("leaving the column out, or publishing fewer of its values: no model that this table can reach does"),
}
"""What prevents an attack beside the choice of a model."""
LEAVE_OUT = "leave-out"


@dataclass(frozen=True, repr=False)
class Exposed(Discreet):
    """A class in generalized form, and how sure the attacker is of ``value`` (or of the record, if that is None).

    ``prior`` is how sure the attacker was without it: from the whole table, or without background knowledge.
    """

    labels: dict[str, Text]
    records: int
    confidence: float
    value: Text = None
    prior: float | None = None


@dataclass(frozen=True)
class Prevention:
    """A privacy model (a name of `velado.models.MODELS`, with parameters), a measure of `MEASURES`, or both together."""

    model: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    measure: str | None = None

    def __str__(self) -> str:
        return self.text()

    def text(self, language: str = "en") -> str:
        """The model as a project file has it, and the measure in words of a language."""
        shown = ", ".join(f"{k}: {v:.6g}" if isinstance(v, float) else f"{k}: {v}" for k, v in self.parameters.items())
        model = f"{{{self.model}: {{{shown}}}}}" if self.model else ""
        measure = MEASURES[self.measure].into(language) if self.measure in MEASURES else ""
        return ", ".join(text for text in (model, measure) if text)


@dataclass(frozen=True, repr=False)
class Attack(Result):
    """The outcome of one attack, on one sensitive column (``column``), with one other table (``against``)."""

    SCHEMA: ClassVar[str] = "velado-attack-1"
    ALSO: ClassVar[tuple[str, ...]] = ("expected",)
    name: str
    succeeded: bool
    figures: dict[str, int | float]
    exposed: tuple[Exposed, ...] = ()
    prevented_by: tuple[Prevention, ...] = ()
    column: str | None = None
    against: str | None = None

    @property
    def expected(self) -> bool:
        """Whether every release of this table allows as much: the attack fails, or no model in reach prevents it."""
        return not self.succeeded or all(p.measure == LEAVE_OUT for p in self.prevented_by)

    def summary(self) -> dict[str, Any]:
        """The attack, whether it succeeded, and its figures; no class and no value of one."""
        about = {"name": self.name, "column": self.column, "against": self.against}
        return {
            **{what: name for what, name in about.items() if name is not None},
            "succeeded": self.succeeded,
            "expected": self.expected,
            **self.figures,
        }


@dataclass(frozen=True)
class AttacksDocument:
    """The JSON of the attacks on one release."""

    attacks: tuple[Attack, ...]


class Attacks(Result, tuple[Attack, ...]):
    """The outcomes of all attacks on a release."""

    SCHEMA: ClassVar[str] = "velado-attacks-1"
    DOCUMENT: ClassVar[Any] = AttacksDocument

    def document(self) -> AttacksDocument:
        """The attacks under one key."""
        return AttacksDocument(tuple(self))

    @classmethod
    def from_document(cls, document: AttacksDocument) -> Attacks:
        """The attacks that stood under it."""
        return cls(document.attacks)

    def summary(self) -> dict[str, Any]:
        """Which attacks succeeded, and which of these should be acted on."""
        return {
            "attacks": len(self),
            "succeeded": sum(a.succeeded for a in self),
            "to_act_on": tuple(dict.fromkeys(a.name for a in self if not a.expected)),
        }


@dataclass(frozen=True)
class Attacker:
    """What the attacker knows and when it counts as success.

    ``know`` sensitive values can be ruled out; a guess counts if it is surer than ``confidence`` (1: if it is certain);
    a value is exposed if it is more than ``factor`` times as likely as before.
    """

    know: int = 1
    confidence: float = 1.0
    factor: float = 2.0
    seed: int = 0
    name: ClassVar[str] = "attack"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "know": Number("values that can be ruled out", low=1, integer=True),
        "confidence": Number("a surer guess counts as success", low=0, high=1, low_open=True),
        "factor": Number("a larger gain counts as success", low=1, low_open=True),
        "seed": Number("seed of the random orders", low=0, integer=True, expert=True),
    }

    def __post_init__(self) -> None:
        check(self)

    def succeeds(self, confidence: np.ndarray) -> np.ndarray:
        """Which guesses are surer than asked for."""
        return confidence > min(self.confidence, 1 - 2 * TOLERANCE) + TOLERANCE


@dataclass(frozen=True)
class Trial:
    """An attack that can be tried, and what it ``needs`` beside the release: of every group, at least one."""

    attack: Callable[..., Any]
    needs: tuple[tuple[str, ...], ...]

    @property
    def declaration(self) -> Declaration:
        """What the attack is."""
        return replace(declaration_of(self.attack), more={"needs": [list(group) for group in self.needs]})

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """What its attacker may know."""
        return vars(self.attack)["parameters"]  # type: ignore[no-any-return]


def knowing(*names: str) -> dict[str, Parameter]:
    """The parameters of an attacker that matter to an attack."""
    return {name: Attacker.parameters[name] for name in names}


@dataclass(frozen=True, repr=False)
class Histogram(Discreet):
    """The values of one sensitive column in each class: ``count`` records of class ``of`` have the value ``value``.

    Entries are ordered by class, then by frequency, the most frequent first (``rank`` 0).
    """

    of: np.ndarray
    value: np.ndarray
    count: np.ndarray
    rank: np.ndarray
    start: np.ndarray

    @classmethod
    def build(cls, classes: Classes, attribute: Sensitive) -> Histogram:
        """From the classes' sparse histograms."""
        of = np.repeat(np.arange(classes.count), np.diff(classes.start))
        own = (classes.values >= attribute.first) & (classes.values < attribute.first + attribute.width)
        of, value, count = of[own], classes.values[own] - attribute.first, classes.value_counts[own]
        order = np.lexsort((value, -count, of))
        of, value, count = of[order], value[order], count[order]
        start = np.searchsorted(of, np.arange(classes.count + 1))
        return cls(of, value, count, np.arange(len(of)) - start[of], start)

    @property
    def top(self) -> np.ndarray:
        """Records of the most frequent value of each class."""
        return np.asarray(self.count[self.start[:-1]])

    @property
    def top_value(self) -> np.ndarray:
        """The most frequent value of each class."""
        return np.asarray(self.value[self.start[:-1]])

    @property
    def distinct(self) -> np.ndarray:
        """Different values of each class."""
        return np.diff(self.start)


def labels_of(classes: Classes, number: int) -> dict[str, Text]:
    """The released labels of a class."""
    frequency = classes.frequency
    row = classes.rows[number]
    return {h.column: h.leaves[frequency.codes[row, j]] for j, h in enumerate(frequency.hierarchies)}


def worst(exposed: np.ndarray, *keys: np.ndarray) -> Iterable[int]:
    """The first few of the exposed, largest keys first, then by number."""
    numbers = np.flatnonzero(exposed)
    order = np.lexsort((numbers, *(-key[numbers] for key in reversed(keys))))
    return [int(x) for x in numbers[order][:MOST_EXPOSED]]


def share(part: int, whole: int) -> float:
    """A part of the whole, 0 if there is nothing."""
    return part / whole if whole else 0.0


def exposure(classes: Classes, open_: np.ndarray) -> dict[str, int | float]:
    """How many classes and records there are, and how many of them are exposed."""
    total, learnt = int(classes.sizes.sum()), int(classes.sizes[open_].sum())
    return {
        "classes": classes.count,
        "records": total,
        "exposed_classes": int(open_.sum()),
        "exposed_records": learnt,
        "exposed_share": share(learnt, total),
    }


def weighted_median(figures: np.ndarray, weights: np.ndarray) -> float:
    """The figure of the middle record."""
    order = np.argsort(figures, kind="stable")
    total = np.cumsum(weights[order])
    return float(figures[order][np.searchsorted(total, total[-1] / 2)])


def distances(model: PrivacyModel, classes: Classes) -> np.ndarray:
    """What a model with one rule measures in each class."""
    from velado.kernels.measures import judge

    rules = compile_rules([model], classes.frequency.sensitive)
    table: np.ndarray = judge(rules, classes.sizes, classes.start, classes.values, classes.value_counts)[0]
    return np.asarray(table[0])


def just_below(figure: float) -> float:
    """The largest number of four digits after the point that is smaller; 0 if there is none."""
    return max(0.0, (math.ceil(figure * 1e4 - 1e-6) - 1) / 1e4)
