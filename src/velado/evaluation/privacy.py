"""Which models a table satisfies as it is, and to which degree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from velado.evaluation.classes import ClassFigures, class_figures, class_models
from velado.evaluation.risk import Risk, risk
from velado.frequency import Classes, FrequencyTable, Sensitive
from velado.models import KAnonymity, PrivacyModel, Verdict, checked_figures, judge_classes
from velado.results import IF_SET, Result


@dataclass(frozen=True, repr=False)
class Check(Result):
    """The privacy a table has (``measures.md`` §1, "Which value does a table have?").

    ``sensitive`` gives, per column: ``l_distinct``, ``l_entropy``, ``c`` (the recursive factor for ``l``: the
    table is (c',ℓ)-diverse for every c' above it; None if some class has fewer than ℓ values),
    ``t_equal``, ``t_ordered`` (None if the values have no order), ``t_hierarchical`` (with a tree), ``delta`` (base 2), ``delta_e`` (base e), ``beta``,
    ``beta_enhanced`` (None if no β is enough), ``alpha``. ``variants`` says how many values of a column have several
    spellings, which were judged as one, and how many spellings these have. ``models`` are the verdicts on models that were
    asked for, ``class_figures`` the figures of each class, smallest first, if they were asked for. What a column has is
    what the models declare (`velado.models.checked_figures`).
    """

    SCHEMA: ClassVar[str] = "velado-check-1"
    rows: int
    classes: int
    class_size: dict[str, float]
    k: int
    risk: Risk
    l: int  # noqa: E741
    sensitive: dict[str, dict[str, Any]]
    variants: dict[str, dict[str, int]] = field(default_factory=dict)
    models: tuple[Verdict, ...] = field(default=(), metadata=IF_SET)
    class_figures: ClassFigures | None = field(default=None, metadata=IF_SET)

    def summary(self) -> dict[str, Any]:
        """k, risk, and the weakest figures of every sensitive column."""
        weakest = {
            f"{name} of {column}": found[name] for column, found in self.sensitive.items() for name in ("l_distinct", "t_equal")
        }
        return {"rows": self.rows, "classes": self.classes, "k": self.k, "highest_risk": self.risk.highest, **weakest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Check:
        """Read what `as_dict` gave."""
        found = super().from_dict(data)
        each = found.class_figures
        return found if each is None else replace(found, class_figures=replace(each, l=found.l))


def check_frequency(frequency: FrequencyTable, order: int = 2, people: np.ndarray | None = None, each: bool = False) -> Check:
    """All measures of a table, its quasi-identifiers as they are; ``order`` is the ℓ of the recursive c.

    ``people`` are the different people of each row, where k and risk are to be judged on them; ``each``: with the figures
    of each class.
    """
    classes = Classes.of_rows(frequency)
    alone = frequency.singled_out if people is None else int((people == 1).sum())
    found = check_classes(classes, frequency.sensitive, alone, order, people)
    if not each:
        return found
    labels = classes.labels_at([0] * len(frequency.hierarchies))
    return replace(found, class_figures=class_figures(classes, *labels, order, people).smallest_first())


def check_classes(
    classes: Classes, sensitive: Sequence[Sensitive], singled_out_before: int, order: int = 2, people: np.ndarray | None = None
) -> Check:
    """All measures of equivalence classes; k and risk on the people of each class as it is shown, if they are given."""
    sizes = classes.sizes
    exposed = sizes if people is None else people
    named: list[tuple[str, str, PrivacyModel]] = []
    for attribute in sensitive:
        for name, model in class_models(attribute, order, by_class=False).items():
            named.append((attribute.column, name, model))
    _, verdicts = judge_classes([m for _, _, m in named], sensitive, classes)
    figures = checked_figures()
    measured: dict[str, dict[str, Any]] = {s.column: _empty_figures(s) for s in sensitive}
    for (column, name, _), verdict in zip(named, verdicts, strict=True):
        part = figures[name][1].part
        value = verdict.achieved if part is None else verdict.achieved[part]
        measured[column][name] = value if np.isfinite(value) else None
    return Check(
        rows=int(sizes.sum()),
        classes=len(sizes),
        class_size=class_size(sizes),
        k=KAnonymity(2).achieved_level([exposed.min()]),
        risk=risk(exposed, singled_out_before),
        l=order,
        sensitive=measured,
    )


def _empty_figures(attribute: Sensitive) -> dict[str, Any]:
    """The figures of a column in their order; those of a tree only where there is one."""
    return {name: None for name, (_, f) in checked_figures().items() if f.needs != "tree" or attribute.tree is not None}


def class_size(sizes: np.ndarray) -> dict[str, float]:
    """Smallest, largest and mean class."""
    if not len(sizes):
        return {}
    return {"min": int(sizes.min()), "max": int(sizes.max()), "mean": float(sizes.mean())}
