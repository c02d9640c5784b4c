"""Average re-identification risk of a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.declarations import Declaration, Strength
from velado.frequency import Classes
from velado.models.base import RELEASED, Verdict, WholeModel
from velado.parameters import Number

TOLERANCE = 1e-12


@dataclass(frozen=True)
class AverageRisk(WholeModel):
    """The mean of 1/|class of the record| over the released records, classes / records, is at most ``risk``.

    The marketer's risk (El Emam and Dankar, "Protecting privacy using k-anonymity", 2008); "average risk" of ARX. Single
    classes may be small as long as others are large. Where a table does not satisfy it, its smallest classes are suppressed,
    of equally large ones the last first: no other choice leaves more records. Coarser recodings suppress no more, since
    each class of a finer one that is kept lies in a class, and these are no more and no smaller.
    """

    risk: float
    name: ClassVar[str] = "average-risk"
    tells: ClassVar[str] = RELEASED
    declaration: ClassVar = Declaration(
        title="average risk",
        meaning="Whoever guesses the record of every released person is right in at most this share of the cases.",
        reached="the average risk of the released records",
        example={"risk": 0.05},
        more={"stops": ["linkage"]},
    )
    strength: ClassVar = {"risk": Strength("R", -1)}
    parameters: ClassVar = {"risk": Number("largest average risk", low=0, high=1, low_open=True)}
    hereditary: ClassVar[bool] = True

    def keep(self, classes: Classes, kept: np.ndarray) -> np.ndarray:
        """The largest classes, as many as the risk allows."""
        people = classes.people
        order = np.flatnonzero(kept)
        order = order[np.argsort(-people[order], kind="stable")]
        together = np.cumsum(people[order])
        # The average size falls with each smaller class: those before the last that fits fit, too.
        fits = np.flatnonzero(np.arange(1, len(order) + 1) <= self.risk * together * (1 + TOLERANCE))
        left = np.zeros_like(kept)
        left[order[: int(fits[-1]) + 1 if len(fits) else 0]] = True
        return left

    def judge(self, classes: Classes) -> Verdict:
        """Classes by records."""
        people = int(classes.people.sum())
        achieved = classes.count / people if people else 1.0
        return Verdict(self.name, self.requirements(), achieved, achieved <= self.risk * (1 + TOLERANCE))
