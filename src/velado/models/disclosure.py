"""Models that bound how much more (or less) likely a value is inside a class: δ, β, α."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from velado.declarations import Declaration, Strength
from velado.frequency import Sensitive
from velado.models.base import COMPARED, PEOPLE, Checked, OnSensitive, Rule
from velado.models.diversity import COLUMN, STRICT
from velado.parameters import FLAG, Choice, Number


@dataclass(frozen=True)
class DeltaDisclosure(OnSensitive):
    """δ-disclosure privacy: |log(p/q)| < δ for every value of a class, p its share there, q in the input.

    Brickell and Shmatikov, "The cost of privacy", 2008. ``every`` demands that every value of the
    table be present in every class (the strict reading); ``base`` is that of the logarithm.
    """

    delta: float
    column: str
    base: Any = 2
    every: bool = False
    strict: bool = False
    name: ClassVar[str] = "delta-disclosure"
    tells: ClassVar[str] = COMPARED
    declaration: ClassVar = Declaration(
        title="δ-disclosure privacy",
        meaning="In no class a sensitive value is much more or less frequent than in the whole table: the logarithm of the "
        "ratio stays below δ.",
        reached="the largest logarithm of a ratio",
        example={"delta": 1.5, "column": "diagnosis"},
        more={"stops": ["skewness"]},
    )
    strength: ClassVar = {"delta": Strength("δ", -1, "<")}
    checked: ClassVar = {
        "delta": Checked(title="δ-disclosure privacy (base 2): δ", arguments={"delta": 1}, by_class=False),
        "delta_e": Checked(title="δ-disclosure privacy (base e): δ", arguments={"delta": 1, "base": "e"}, by_class=False),
    }
    relative: ClassVar[bool] = True
    parameters: ClassVar = {
        "delta": Number("largest difference of logarithms", low=0, low_open=True),
        "column": COLUMN,
        "base": Choice("base of the logarithm", (2, "e"), expert=True),
        "every": Choice("every value must be present in every class", FLAG, expert=True),
        "strict": STRICT,
    }
    monotone: ClassVar[bool] = False

    @property
    def is_monotone(self) -> bool:
        """Absent values are forgiven, so merging can dilute a value too far; not so if all must be present."""
        return self.every

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """Largest |log(p/q)|; shares cannot pass q·base^δ."""
        from velado.kernels.measures import DISCLOSURE

        assert sensitive is not None
        scale = 1.0 if self.base == "e" else 1 / math.log(2)
        caps = np.minimum(1.0, sensitive.expected * math.exp(min(self.delta / scale, 700.0)) * (1 + 1e-9))
        return [Rule(DISCLOSURE, self.delta, sensitive, int(self.every), scale, union_closed=self.every, caps=caps)]


@dataclass(frozen=True)
class BetaLikeness(OnSensitive):
    """β-likeness: no value gains more than β, relative to its share in the input.

    Basic: (p − q)/q ≤ β wherever p > q. Enhanced: ≤ min(β, −ln q). Cao and Karras, "Publishing
    microdata with a robust privacy guarantee", 2012. Shares are capped value by value, and a union
    of classes below a cap is below it, so generalizing keeps the model satisfied.
    """

    beta: float
    column: str
    enhanced: bool = False
    strict: bool = False
    name: ClassVar[str] = "beta-likeness"
    tells: ClassVar[str] = COMPARED
    declaration: ClassVar = Declaration(
        title="β-likeness",
        meaning="In no class a sensitive value is relatively more than β more frequent than in the whole table.",
        reached="the largest relative gain of a value",
        example={"beta": 2, "column": "diagnosis"},
        more={"stops": ["skewness"]},
    )
    strength: ClassVar = {"beta": Strength("β", -1)}
    checked: ClassVar = {
        "beta": Checked(title="basic β-likeness: β", arguments={"beta": 1}, by_class=False),
        "beta_enhanced": Checked(title="enhanced β-likeness: β", arguments={"beta": 1, "enhanced": True}, by_class=False),
    }
    relative: ClassVar[bool] = True
    parameters: ClassVar = {
        "beta": Number("largest relative gain", low=0, low_open=True),
        "column": COLUMN,
        "enhanced": Choice("bound the gain by −ln q as well", FLAG, expert=True),
        "strict": STRICT,
    }

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """Largest relative gain."""
        from velado.kernels.measures import ENHANCED, LIKENESS

        assert sensitive is not None
        q = sensitive.expected
        gain = np.full(len(q), float(self.beta))
        if self.enhanced:
            gain = np.minimum(gain, -np.log(np.maximum(q, 1e-300)))
        caps = np.minimum(1.0, q * (1 + gain) * (1 + 1e-9))
        return [Rule(ENHANCED if self.enhanced else LIKENESS, self.beta, sensitive, caps=caps)]


@dataclass(frozen=True)
class AlphaK(OnSensitive):
    """(α,k)-anonymity: at least k records, and no value has a larger share than α.

    Wong, Li, Fu, Wang, "(α,k)-anonymity", 2006. ``strict`` asks both of every part of a class in which the other
    sensitive columns are equal.
    """

    alpha: float
    k: int
    column: str
    strict: bool = False
    name: ClassVar[str] = "alpha-k"
    tells: ClassVar[str] = PEOPLE
    declaration: ClassVar = Declaration(
        title="(α,k)-anonymity",
        meaning="Every class has at least k records, and no sensitive value a larger share of them than α.",
        reached="the smallest class and the largest share of a value",
        example={"alpha": 0.5, "k": 5, "column": "diagnosis"},
        more={"stops": ["homogeneity", "linkage"]},
    )
    strength: ClassVar = {"alpha": Strength("α", -1), "k": Strength("k", 1)}
    checked: ClassVar = {"alpha": Checked(title="(α,k)-anonymity: α", arguments={"alpha": 1, "k": 2}, part="alpha")}
    parameters: ClassVar = {
        "alpha": Number("largest share of a value", low=0, high=1, low_open=True),
        "k": Number("smallest class size", low=2, integer=True, unit="records"),
        "column": COLUMN,
        "strict": STRICT,
    }

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """Size (of the smallest part, read strictly), and the largest share."""
        from velado.kernels.measures import MASS, SHARE, SIZE

        caps = np.full(sensitive.width if sensitive else 1, min(1.0, self.alpha * (1 + 1e-9)))
        size = Rule(MASS, self.k, sensitive) if self.strict else Rule(SIZE, self.k)
        return [size, Rule(SHARE, self.alpha, sensitive, caps=caps)]

    def smallest_class(self) -> int:
        """k."""
        return int(self.k)

    def achieved_level(self, figures: Any) -> dict[str, Any]:
        """The smallest class and the largest share."""
        return {"k": int(figures[0]), "alpha": figures[1]}
