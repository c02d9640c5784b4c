"""k-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from velado.declarations import Declaration, Strength
from velado.frequency import Sensitive
from velado.models.base import PEOPLE, PrivacyModel, Rule
from velado.parameters import Number


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least k records.

    Samarati and Sweeney (1998); Sweeney, "k-anonymity: a model for protecting privacy", 2002.
    """

    k: int
    name: ClassVar[str] = "k-anonymity"
    tells: ClassVar[str] = PEOPLE
    declaration: ClassVar = Declaration(
        title="k-anonymity",
        meaning="Everybody shares their quasi-identifiers with at least k − 1 others.",
        reached="the smallest class",
        example={"k": 5},
        more={"stops": ["linkage"]},
    )
    strength: ClassVar = {"k": Strength("k", 1)}
    parameters: ClassVar = {"k": Number("smallest class size", low=2, integer=True, unit="records")}
    hereditary: ClassVar[bool] = True

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """Size of the class."""
        from velado.kernels.measures import SIZE

        return [Rule(SIZE, self.k)]

    def smallest_class(self) -> int:
        """k."""
        return int(self.k)

    def achieved_level(self, figures: Any) -> int:
        """The smallest class."""
        return int(figures[0])
