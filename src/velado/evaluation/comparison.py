"""Several settings side by side: what each costs, what risk is left, which are not beaten by another."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from velado.declarations import Declaration
from velado.errors import InputError, NoSolution, suggest
from velado.evaluation.evaluation import Evaluation
from velado.evaluation.figures import FIGURES
from velado.models import strengths
from velado.parameters import Number, Parameter
from velado.results import Discreet, Result, unreadable
from velado.sentences import Sentence, join_sentences


@dataclass(frozen=True, repr=False)
class Setting(Discreet):
    """One combination of parameters and its evaluation; ``reason`` says why there is none.

    ``efficient``: no other setting has both a smaller average risk and a smaller loss (one of them equal at most).
    """

    NAMES: ClassVar[tuple[str, ...]] = ("parameters", "levels")
    parameters: dict[str, Any]
    evaluation: Evaluation | None = None
    levels: dict[str, int] | None = None
    reason: str | None = None
    efficient: bool = False

    @property
    def name(self) -> str:
        """The parameters in a few signs."""
        return ", ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in self.parameters.items())

    @property
    def strength(self) -> tuple[float, ...]:
        """Larger = stronger, by what the models declare."""
        return tuple(s.stronger * float(self.parameters.get(name, 0)) for name, s in strengths().items())

    def figures(self) -> dict[str, Any]:
        """The parameters and the main figures, flat, for tables."""
        e = self.evaluation
        shown = dict(self.parameters)
        if e is None:
            return {**shown, "reason": self.reason}
        ks = {f"ks_p_{name}": test.p for name, test in (e.ks or {}).items()}
        return {
            **shown,
            "loss": e.utility.loss,
            "precision": e.utility.precision,
            "suppressed": e.suppressed,
            "risk_highest": e.risk.highest,
            "risk_average": e.risk.average,
            "at_risk": e.risk.at_risk,
            "classes": e.classes,
            "smallest_class": e.class_size.get("min"),
            "average_class": e.class_size.get("mean"),
            "largest_class": e.class_size.get("max"),
            **ks,
            "levels": " ".join(map(str, (self.levels or {}).values())),
            "efficient": self.efficient,
        }


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Settings over a grid of parameters, in the grid's order."""

    SCHEMA: ClassVar[str] = "velado-comparison-1"
    NAMES: ClassVar[tuple[str, ...]] = ("parameters",)
    parameters: tuple[str, ...]
    settings: tuple[Setting, ...]

    @classmethod
    def of(cls, parameters: Sequence[str], settings: Sequence[Setting]) -> Comparison:
        """Mark the efficient settings (risk–utility frontier)."""
        points = [(s.evaluation.risk.average, s.evaluation.utility.loss) for s in settings if s.evaluation is not None]

        def efficient(s: Setting) -> bool:
            if s.evaluation is None:
                return False
            risk, loss = s.evaluation.risk.average, s.evaluation.utility.loss
            return not any(r <= risk and x <= loss and (r < risk or x < loss) for r, x in points)

        return cls(tuple(parameters), tuple(replace(s, efficient=efficient(s)) for s in settings))

    @property
    def solved(self) -> list[Setting]:
        """The settings for which there is a recoding."""
        return [s for s in self.settings if s.evaluation is not None]

    def summary(self) -> dict[str, Any]:
        """How many settings there are, how many have a recoding and are efficient, and what losses they span."""
        losses = [s.evaluation.utility.loss for s in self.settings if s.evaluation is not None]
        return {
            "parameters": self.parameters,
            "settings": len(self.settings),
            "solved": len(losses),
            "efficient": sum(s.efficient for s in self.settings),
            **({"smallest_loss": min(losses), "largest_loss": max(losses)} if losses else {}),
        }


@dataclass(frozen=True)
class Condition:
    """A figure of an evaluation that must stay on one side of a limit; ``of`` names it among the measures."""

    help: str
    at_least: bool
    figure: Callable[[Evaluation], float | None]
    of: str
    measure: str | None = None

    @property
    def declaration(self) -> Declaration:
        """The figure that it limits."""
        known = FIGURES[self.of]
        return Declaration(
            known.title, known.meaning, more={**known.as_dict(), "limit": "at least" if self.at_least else "at most"}
        )

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The limit itself."""
        known = FIGURES[self.of]
        high = math.inf if known.high is None else known.high
        return {"limit": Number(self.help, low=0, high=high)}

    def holds(self, value: float | None, limit: float) -> bool:
        """Whether a value meets the limit; a figure that does not exist does not."""
        if value is None:
            return False
        return value >= limit - 1e-12 if self.at_least else value <= limit + 1e-12


CONDITIONS: dict[str, Condition] = {
    "ks": Condition(
        "smallest Kolmogorov–Smirnov p-value of the numeric quasi-identifiers, at least",
        True,
        lambda e: min((test.p for test in (e.ks or {}).values()), default=None),
        "ks",
        "ks",
    ),
    "loss": Condition("loss, at most", False, lambda e: e.utility.loss, "loss"),
    "precision": Condition("precision, at least", True, lambda e: e.utility.precision, "precision"),
    "suppressed": Condition("share of records suppressed, at most", False, lambda e: e.suppressed / e.rows, "suppressed"),
    "query-error": Condition(
        "mean relative error of COUNT queries, at most",
        False,
        lambda e: None if e.queries is None else e.queries.mean,
        "query-error",
        "queries",
    ),
}


@dataclass(frozen=True)
class BalanceDocument:
    """The JSON of a balance; the figures and the evidence are those of the comparison, flat."""

    conditions: dict[str, float]
    chosen: dict[str, Any]
    figures: dict[str, Any]
    failed: dict[str, tuple[str, ...]]
    evidence: tuple[dict[str, Any], ...]
    comparison: Comparison


@dataclass(frozen=True, repr=False)
class Balance(Result):
    """The strongest setting that meets all conditions, and the evidence.

    Stronger = larger k, then larger ℓ, then smaller c, t, β, δ, α, and so on: in the order of the models and as each
    declares its parameters; among equally strong ones the smaller loss.
    ``failed`` lists, per setting that does not meet them, the conditions that it breaks.
    """

    SCHEMA: ClassVar[str] = "velado-balance-1"
    DOCUMENT: ClassVar[Any] = BalanceDocument
    conditions: dict[str, float]
    chosen: Setting
    comparison: Comparison
    failed: dict[str, tuple[str, ...]]

    def document(self) -> BalanceDocument:
        """With the main figures of every setting."""
        return BalanceDocument(
            self.conditions,
            self.chosen.parameters,
            self.chosen.figures(),
            self.failed,
            tuple(s.figures() for s in self.comparison.settings),
            self.comparison,
        )

    @classmethod
    def from_document(cls, document: BalanceDocument) -> Balance:
        """The chosen setting is that of the comparison with its parameters."""
        chosen = next((s for s in document.comparison.settings if s.parameters == document.chosen), None)
        if chosen is None:
            raise unreadable(cls, "chosen", Sentence("a setting of the comparison"))
        return cls(document.conditions, chosen, document.comparison, document.failed)

    def summary(self) -> dict[str, Any]:
        """What was asked for and chosen, and its main figures."""
        return {
            **{f"wanted {name}": limit for name, limit in self.conditions.items()},
            "settings": len(self.comparison.settings),
            "failed": len(self.failed),
            **{k: v for k, v in self.chosen.figures().items() if k != "efficient"},
        }


def check_conditions(conditions: Mapping[str, float]) -> None:
    """Conditions are known, and there is at least one."""
    if not conditions:
        raise InputError("no-condition", "say which utility must be kept", hint="For example --loss 0.2 or --ks 0.95.")
    for name in conditions:
        if name not in CONDITIONS:
            raise InputError(
                "unknown-condition", Sentence("there is no condition '{name}'", name=name), hint=suggest(name, CONDITIONS)
            )


def balance(comparison: Comparison, conditions: Mapping[str, float]) -> Balance:
    """Choose the strongest setting; `NoSolution` with the nearest figures if none meets the conditions."""
    check_conditions(conditions)
    good: list[Setting] = []
    failed: dict[str, tuple[str, ...]] = {}
    for setting in comparison.settings:
        broken = tuple(_unmet_conditions(setting, conditions))
        if broken:
            failed[setting.name] = broken
        else:
            good.append(setting)
    if not good:
        nearest = {name: _nearest(comparison, name, limit) for name, limit in conditions.items()}
        raise NoSolution(
            "no-balance",
            "no setting meets the conditions",
            hint=join_sentences("\n", [n.sentence() for n in nearest.values()]),
            fields={"nearest": {name: n.as_dict() for name, n in nearest.items()}},
        )

    def order(s: Setting) -> tuple[tuple[float, ...], float]:
        assert s.evaluation is not None
        return s.strength, -s.evaluation.utility.loss

    return Balance(dict(conditions), max(good, key=order), comparison, failed)


def _unmet_conditions(setting: Setting, conditions: Mapping[str, float]) -> list[str]:
    if setting.evaluation is None:
        return [setting.reason or Sentence("no recoding")]
    found = []
    for name, limit in conditions.items():
        condition = CONDITIONS[name]
        value = condition.figure(setting.evaluation)
        if not condition.holds(value, limit):
            found.append(f"{name} –" if value is None else Sentence("{name} {value:.6g}", name=name, value=value))
    return found


@dataclass(frozen=True)
class _Nearest:
    """The best figure that any setting reaches for a condition, and that setting; None where none has the figure."""

    condition: str
    wanted: float
    best: float | None = None
    setting: Setting | None = None

    def sentence(self) -> Sentence:
        if self.setting is None:
            return Sentence("{condition}: no setting has a recoding with this figure.", condition=self.condition)
        return Sentence(
            "{condition}: wanted {wanted:g}, the best is {best:.6g} ({setting}).",
            condition=self.condition,
            wanted=self.wanted,
            best=self.best,
            setting=self.setting.name,
        )

    def as_dict(self) -> dict[str, Any]:
        setting = None if self.setting is None else self.setting.parameters
        return {"wanted": self.wanted, "best": self.best, "setting": setting}


def _nearest(comparison: Comparison, name: str, limit: float) -> _Nearest:
    condition = CONDITIONS[name]
    figures = [(s, condition.figure(s.evaluation)) for s in comparison.solved if s.evaluation is not None]
    known = [(s, float(x)) for s, x in figures if x is not None]
    if not known:
        return _Nearest(name, limit)
    setting, best = (max if condition.at_least else min)(known, key=lambda pair: pair[1])
    return _Nearest(name, limit, best, setting)
