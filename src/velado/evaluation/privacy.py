"""Which models a table satisfies as it is, and to which degree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from velado.evaluation.risk import Risk, risk
from velado.frequency import Classes, FrequencyTable, Sensitive
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
    ``t_equal``, ``t_ordered`` (None if the values have no order), ``t_hierarchical`` (with a tree), ``delta`` (base 2), ``delta_e`` (base e), ``beta``,
    ``beta_enhanced`` (None if no β is enough), ``alpha``. ``twins`` says how many values of a column have several
    spellings, which were judged as one, and how many spellings these have.
    """

    rows: int
    classes: int
    class_size: dict[str, float]
    k: int
    risk: Risk
    l: int  # noqa: E741
    sensitive: dict[str, dict[str, Any]]
    twins: dict[str, dict[str, int]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


FIGURES = ("l_distinct", "l_entropy", "c", "t_equal", "t_ordered")
"""Figures of every column, in the order in which they are shown."""


def _models(attribute: Sensitive, order: int) -> dict[str, PrivacyModel]:
    column = attribute.column
    models: dict[str, PrivacyModel] = {
        "l_distinct": DistinctDiversity(1, column),
        "l_entropy": EntropyDiversity(1, column),
        "c": RecursiveDiversity(1, order, column),
        "t_equal": TCloseness(1, column, "equal"),
        "delta": DeltaDisclosure(1, column),
        "delta_e": DeltaDisclosure(1, column, base="e"),
        "beta": BetaLikeness(1, column),
        "beta_enhanced": BetaLikeness(1, column, enhanced=True),
        "alpha": AlphaK(1, 2, column),
    }
    if attribute.disorder is None:
        models["t_ordered"] = TCloseness(1, column, "ordered")
    if attribute.tree is not None:
        models["t_hierarchical"] = TCloseness(1, column, "hierarchical")
    return models


def check_frequency(frequency: FrequencyTable, order: int = 2, people: np.ndarray | None = None) -> Check:
    """All measures of a table, its quasi-identifiers as they are; ``order`` is the ℓ of the recursive c.

    ``people`` are the different people of each row, where k and risk are to be judged on them.
    """
    classes = Classes.of_rows(frequency)
    alone = frequency.singled_out if people is None else int((people == 1).sum())
    return check_classes(classes, frequency.sensitive, alone, order, people)


def check_classes(
    classes: Classes,
    sensitive: Sequence[Sensitive],
    singled_out_before: int,
    order: int = 2,
    people: np.ndarray | None = None,
) -> Check:
    """All measures of equivalence classes; k and risk on the people of each class as it is shown, if they are given."""
    sizes = classes.sizes
    exposed = sizes if people is None else people
    named: list[tuple[str, str, PrivacyModel]] = []
    for attribute in sensitive:
        for name, model in _models(attribute, order).items():
            named.append((attribute.column, name, model))
    _, verdicts = judge_classes([m for _, _, m in named], sensitive, classes)
    measured: dict[str, dict[str, Any]] = {s.column: dict.fromkeys(FIGURES) for s in sensitive}
    for (column, name, _), verdict in zip(named, verdicts, strict=True):
        value = verdict.achieved["alpha"] if name == "alpha" else verdict.achieved
        measured[column][name] = value if np.isfinite(value) else None
    return Check(
        rows=int(sizes.sum()),
        classes=len(sizes),
        class_size=class_size(sizes),
        k=KAnonymity(2).achieved([exposed.min()]),
        risk=risk(exposed, singled_out_before),
        l=order,
        sensitive=measured,
    )


def class_size(sizes: np.ndarray) -> dict[str, float]:
    """Smallest, largest and mean class."""
    if not len(sizes):
        return {}
    return {"min": int(sizes.min()), "max": int(sizes.max()), "mean": float(sizes.mean())}
