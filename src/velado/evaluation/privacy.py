"""Which models a table satisfies as it is, and to which degree."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from velado.evaluation.risk import Risk, risk
from velado.frequency import Classes, FrequencyTable
from velado.models import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    RecursiveDiversity,
    TCloseness,
    judge_classes,
)


@dataclass(frozen=True)
class Check:
    """The privacy a table has (``measures.md`` §1, "Which value does a table have?").

    ``sensitive`` gives, per column: ``l_distinct``, ``l_entropy``, ``c`` (the recursive factor for ``l``: the
    table is (c',ℓ)-diverse for every c' above it; None if some class has fewer than ℓ values),
    ``t_equal``, ``t_ordered``, ``t_hierarchical`` (with a tree), ``delta`` (base 2), ``beta``,
    ``beta_enhanced`` (None if no β is enough), ``alpha``.
    """

    rows: int
    classes: int
    class_size: dict[str, float]
    k: int
    risk: Risk
    l: int  # noqa: E741
    sensitive: dict[str, dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def _models(column: str, order: int, tree: bool) -> dict[str, PrivacyModel]:
    models: dict[str, PrivacyModel] = {
        "l_distinct": DistinctDiversity(1, column),
        "l_entropy": EntropyDiversity(1, column),
        "c": RecursiveDiversity(1, order, column),
        "t_equal": TCloseness(1, column, "equal"),
        "t_ordered": TCloseness(1, column, "ordered"),
        "delta": DeltaDisclosure(1, column),
        "beta": BetaLikeness(1, column),
        "beta_enhanced": BetaLikeness(1, column, enhanced=True),
        "alpha": AlphaK(1, 2, column),
    }
    if tree:
        models["t_hierarchical"] = TCloseness(1, column, "hierarchical")
    return models


def check_frequency(frequency: FrequencyTable, order: int = 2) -> Check:
    """All measures of a table, its quasi-identifiers as they are; ``order`` is the ℓ of the recursive c."""
    classes = Classes.from_ids(frequency, np.arange(frequency.rows), frequency.rows)
    sizes = classes.sizes
    named: list[tuple[str, str, PrivacyModel]] = []
    for attribute in frequency.sensitive:
        for name, model in _models(attribute.column, order, attribute.tree is not None).items():
            named.append((attribute.column, name, model))
    _, verdicts = judge_classes([m for _, _, m in named], frequency.sensitive, classes)
    sensitive: dict[str, dict[str, Any]] = {s.column: {} for s in frequency.sensitive}
    for (column, name, _), verdict in zip(named, verdicts, strict=True):
        value = verdict.achieved["alpha"] if name == "alpha" else verdict.achieved
        sensitive[column][name] = value if np.isfinite(value) else None
    return Check(
        rows=frequency.records,
        classes=len(sizes),
        class_size={"min": int(sizes.min()), "max": int(sizes.max()), "mean": float(sizes.mean())},
        k=KAnonymity(2).achieved([sizes.min()]),
        risk=risk(sizes, frequency.singled_out),
        l=order,
        sensitive=sensitive,
    )
