"""ℓ-diversity: distinct, entropy, recursive.

Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "ℓ-diversity: privacy beyond k-anonymity", 2007.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from velado.declarations import Declaration, Strength
from velado.frequency import Sensitive
from velado.models.base import VALUES, Checked, OnSensitive, Rule
from velado.parameters import FLAG, Choice, ColumnName, Number

COLUMN = ColumnName("the sensitive column")
STRICT = Choice("join the other sensitive columns to the quasi-identifiers", FLAG, expert=True)


@dataclass(frozen=True)
class DistinctDiversity(OnSensitive):
    """Every class has at least ℓ different sensitive values."""

    l: int  # noqa: E741  (the field's own name)
    column: str
    strict: bool = False
    name: ClassVar[str] = "distinct-diversity"
    tells: ClassVar[str] = VALUES
    declaration: ClassVar = Declaration(
        title="distinct ℓ-diversity",
        meaning="Every class has at least ℓ different sensitive values.",
        reached="the fewest different values of a class",
        example={"l": 3, "column": "diagnosis"},
        more={"stops": ["homogeneity", "background"]},
    )
    strength: ClassVar = {"l": Strength("ℓ", 1)}
    checked: ClassVar = {"l_distinct": Checked(title="distinct ℓ-diversity: ℓ", arguments={"l": 1})}
    parameters: ClassVar = {"l": Number("different values", low=1, integer=True), "column": COLUMN, "strict": STRICT}
    hereditary: ClassVar[bool] = True

    @property
    def is_hereditary(self) -> bool:
        """Read strictly, the part of a class that violates can be left out of a finer one."""
        return not self.strict

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """Number of different values."""
        from velado.kernels.measures import DISTINCT

        return [Rule(DISTINCT, self.l, sensitive)]

    def smallest_class(self) -> int:
        """ℓ values need ℓ records."""
        return int(self.l)

    def achieved_level(self, figures: Any) -> int:
        """The smallest number of different values."""
        return int(figures[0])


@dataclass(frozen=True)
class EntropyDiversity(OnSensitive):
    """Every class's entropy is at least ln ℓ; the table's ℓ is exp of the smallest entropy."""

    l: float  # noqa: E741
    column: str
    strict: bool = False
    name: ClassVar[str] = "entropy-diversity"
    tells: ClassVar[str] = VALUES
    declaration: ClassVar = Declaration(
        title="entropy ℓ-diversity",
        meaning="The sensitive values of every class are spread as evenly as ℓ equally frequent ones.",
        reached="the smallest exp of an entropy",
        example={"l": 2.5, "column": "diagnosis"},
        more={"stops": ["homogeneity", "background"]},
    )
    strength: ClassVar = {"l": Strength("ℓ", 1)}
    checked: ClassVar = {"l_entropy": Checked(title="entropy ℓ-diversity: ℓ", arguments={"l": 1})}
    parameters: ClassVar = {"l": Number("exp of the entropy", low=1), "column": COLUMN, "strict": STRICT}

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """Entropy; no value's share can pass the one that leaves just enough entropy for the others."""
        from velado.kernels.measures import ENTROPY

        width = sensitive.width if sensitive else 1
        caps = np.full(width, largest_share(math.log(self.l), width))
        order = math.ceil(self.l - 1e-9)
        return [Rule(ENTROPY, math.log(self.l), sensitive, order=order, caps=caps)]

    def smallest_class(self) -> int:
        """ℓ values need ℓ records."""
        return math.ceil(self.l - 1e-9)

    def achieved_level(self, figures: Any) -> float:
        """exp of the smallest entropy; what rounding took from a whole number is given back."""
        value = math.exp(figures[0])
        return float(round(value)) if abs(value - round(value)) < 1e-9 else value


def largest_share(entropy: float, values: int) -> float:
    """Largest share of one of ``values`` values in a distribution of at least this entropy."""
    low, high = 1 / max(values, 1), 1.0
    for _ in range(60):
        p = (low + high) / 2
        rest = 1 - p
        most = -p * math.log(p) - (rest * math.log(rest / (values - 1)) if rest > 0 and values > 1 else 0.0)
        low, high = (p, high) if most >= entropy - 1e-9 else (low, p)
    return min(1.0, high + 1e-9)


@dataclass(frozen=True)
class RecursiveDiversity(OnSensitive):
    """Recursive (c,ℓ)-diversity: with frequencies r1 ≥ r2 ≥ …, r1 < c·(rℓ + … + rd), and d ≥ ℓ."""

    c: float
    l: int  # noqa: E741
    column: str
    strict: bool = False
    name: ClassVar[str] = "recursive-diversity"
    tells: ClassVar[str] = VALUES
    declaration: ClassVar = Declaration(
        title="recursive (c,ℓ)-diversity",
        meaning="In every class the most frequent sensitive value is less than c times as frequent as the values from the "
        "ℓ-th on together.",
        reached="the smallest c that no class reaches",
        example={"c": 3, "l": 2, "column": "diagnosis"},
        more={"stops": ["homogeneity", "background"]},
    )
    strength: ClassVar = {"c": Strength("c", -1, "<"), "l": Strength("ℓ", 1, "=")}
    checked: ClassVar = {
        "c": Checked(
            title="recursive (c,ℓ)-diversity with ℓ = {l}: c",
            arguments={"c": 1},
            ranked=True,
            none="none (a class has fewer than {l} values)",
        )
    }
    parameters: ClassVar = {
        "c": Number("factor", low=0, low_open=True),
        "l": Number("rank from which frequencies count", low=1, integer=True),
        "column": COLUMN,
        "strict": STRICT,
    }

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """The smallest c that a class would satisfy is exceeded strictly."""
        from velado.kernels.measures import RECURSIVE

        return [Rule(RECURSIVE, self.c, sensitive, order=int(self.l))]

    def smallest_class(self) -> int:
        """ℓ values need ℓ records."""
        return int(self.l)
