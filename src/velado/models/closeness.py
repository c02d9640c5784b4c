"""t-closeness.

Li, Li, Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and ℓ-diversity", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from velado.declarations import Declaration, Strength
from velado.errors import InputError
from velado.frequency import Sensitive
from velado.models.base import COMPARED, Checked, OnSensitive, Rule
from velado.models.diversity import COLUMN, STRICT
from velado.parameters import Choice, Number

DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True)
class TCloseness(OnSensitive):
    """The earth mover's distance between a class's distribution and the whole input's is at most t.

    ``equal``: any two values are at distance 1. ``ordered``: values sorted, neighbours at 1/(v−1).
    ``hierarchical``: two values at (level of their lowest common ancestor)/(height of the tree).
    """

    t: float
    column: str
    distance: str = "equal"
    strict: bool = False
    name: ClassVar[str] = "t-closeness"
    tells: ClassVar[str] = COMPARED
    declaration: ClassVar = Declaration(
        title="t-closeness",
        meaning="The distribution of the sensitive values in every class is at most t away from that of the whole table.",
        reached="the largest distance of a class",
        example={"t": 0.3, "column": "diagnosis"},
        more={"stops": ["skewness", "similarity"]},
    )
    strength: ClassVar = {"t": Strength("t", -1)}
    checked: ClassVar = {
        "t_equal": Checked(title="t-closeness, equal distance: t", arguments={"t": 1}),
        "t_ordered": Checked(
            title="t-closeness, ordered distance: t",
            arguments={"t": 1, "distance": "ordered"},
            needs="order",
            none="– (the values have no order)",
        ),
        "t_hierarchical": Checked(
            title="t-closeness, hierarchical distance: t", arguments={"t": 1, "distance": "hierarchical"}, needs="tree"
        ),
    }
    relative: ClassVar[bool] = True
    parameters: ClassVar = {
        "t": Number("largest distance", low=0, high=1),
        "column": COLUMN,
        "distance": Choice("ground distance", DISTANCES),
        "strict": STRICT,
    }

    def check_column(self, *, tree: bool) -> None:
        """The hierarchical distance needs a hierarchy."""
        if self.distance == "hierarchical" and not tree:
            raise InputError(
                "no-tree",
                "hierarchical t-closeness needs a hierarchy of the sensitive column",
                column=self.column,
                hint="Give the column a hierarchy, or use 'distance: equal'.",
            )

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """Distance; mass beyond the expected shares travels at least the smallest ground distance."""
        from velado.kernels.measures import EQUAL, HIERARCHICAL, ORDERED

        assert sensitive is not None
        kind = dict(zip(DISTANCES, (EQUAL, ORDERED, HIERARCHICAL), strict=True))[self.distance]
        nearest = 1.0
        tree: tuple[np.ndarray, ...] = ()
        if kind == ORDERED:
            if sensitive.disorder is not None:
                raise sensitive.disorder
            nearest = 1 / max(sensitive.width - 1, 1)
        if kind == HIERARCHICAL:
            self.check_column(tree=sensitive.tree is not None)
            tree = tree_of(sensitive)
            nearest = 1 / max(len(tree), 1)
        slack = min(1.0, (self.t + 1e-9) / nearest)
        return [Rule(kind, self.t, sensitive, caps=sensitive.expected, slack=slack, tree=tree)]


def tree_of(sensitive: Sensitive) -> tuple[np.ndarray, ...]:
    """Parents level by level, from the values that occur up to one root."""
    assert sensitive.tree is not None
    hierarchy = sensitive.tree.with_root()
    codes = hierarchy.encode(sensitive.labels)
    parents = [hierarchy.maps[1][codes]] if hierarchy.height else []
    parents += [hierarchy.parents(level) for level in range(2, hierarchy.levels)]
    return tuple(parents)
