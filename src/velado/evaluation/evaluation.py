"""The evaluation of a release: privacy achieved, risk, utility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from velado.evaluation.risk import Risk, risk
from velado.evaluation.utility import Utility, utility
from velado.methods import Found
from velado.models import PrivacyModel, Verdict, smallest_class


@dataclass(frozen=True)
class Evaluation:
    """What a release holds, achieves and costs."""

    rows: int
    released: int
    suppressed: int
    classes: int
    class_size: dict[str, float]
    utility: Utility
    risk: Risk
    models: tuple[Verdict, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def evaluate(found: Found, models: Sequence[PrivacyModel], verdicts: Sequence[Verdict]) -> Evaluation:
    """Evaluate a node; the verdicts come from the verification of what was written."""
    classes = found.classes
    frequency = classes.frequency
    sizes = classes.sizes[found.kept]
    size = {"min": int(sizes.min()), "max": int(sizes.max()), "mean": float(sizes.mean())} if len(sizes) else {}
    return Evaluation(
        rows=frequency.records,
        released=int(sizes.sum()),
        suppressed=found.suppressed,
        classes=len(sizes),
        class_size=size,
        utility=utility(classes, found.levels, found.kept, smallest_class(models)),
        risk=risk(sizes, frequency.singled_out),
        models=tuple(verdicts),
    )
