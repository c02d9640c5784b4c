"""The similarity attack: the values of a class differ, but they are all alike."""

from __future__ import annotations

import numpy as np

from velado.attacks.base import Attack, Exposed, Histogram, Prevention, distances, exposure, just_below, labels_of, worst
from velado.declarations import declare
from velado.frequency import Classes, Sensitive
from velado.hierarchies.labels import numbers_of
from velado.models import TCloseness
from velado.values import Text

NEAR = 0.25
"""Numbers are alike if they lie within this share of the column's range."""


@declare(title="similarity", meaning="The values of a class differ, but all of them are alike.")
def similarity(classes: Classes, attribute: Sensitive) -> Attack | None:
    """Classes with several values that all fall into one group.

    With a value tree: the group is the most specific one that holds all values of the class, and it must say
    something (not be the root, nor hold all values of the input). Numbers without a tree: the values of the class lie
    within a quarter of the column's range. Li, Li, Venkatasubramanian, "t-closeness", 2007. None if the column has
    neither a tree nor numbers. O(values in classes × levels).
    """
    values = Histogram.build(classes, attribute)
    if attribute.tree is not None:
        return _in_tree(classes, attribute, values)
    numbers = numbers_of(attribute.labels)
    return None if numbers is None else _in_range(classes, attribute, values, numbers)


def _in_tree(classes: Classes, attribute: Sensitive, values: Histogram) -> Attack:
    assert attribute.tree is not None
    tree = attribute.tree.with_root()
    leaves = tree.encode(attribute.labels)
    found = np.full(classes.count, -1)
    level_of = np.zeros(classes.count, dtype=np.int64)
    prior = np.zeros(classes.count)
    for level in range(tree.height, 0, -1):
        group = tree.maps[level][leaves]
        weight = np.bincount(group, weights=attribute.expected, minlength=len(tree.labels[level]))
        entries = group[values.value]
        low = np.minimum.reduceat(entries, values.start[:-1])
        alike = low == np.maximum.reduceat(entries, values.start[:-1])
        alike &= (values.distinct > 1) & (weight[low] < 1 - 1e-12)
        found[alike], level_of[alike], prior[alike] = low[alike], level, weight[low[alike]]
    open_ = found >= 0
    names: list[Text] = [tree.labels[x][g] if g >= 0 else None for x, g in zip(level_of, found, strict=True)]
    figures: dict[str, int | float] = {}
    for level in range(1, tree.height):
        at = open_ & (level_of == level)
        figures[f"level_{level}_classes"] = int(at.sum())
        figures[f"level_{level}_records"] = int(classes.sizes[at].sum())
    return _attack(classes, attribute, open_, prior, names, figures, "hierarchical")


def _in_range(classes: Classes, attribute: Sensitive, values: Histogram, numbers: np.ndarray) -> Attack:
    entries = numbers[values.value]
    low, high = np.minimum.reduceat(entries, values.start[:-1]), np.maximum.reduceat(entries, values.start[:-1])
    whole = float(np.nanmax(numbers) - np.nanmin(numbers))
    open_ = (values.distinct > 1) & (high - low <= NEAR * whole + 1e-12) & (whole > 0)
    # Labels are in the order of their numbers.
    first = np.minimum.reduceat(values.value, values.start[:-1])
    last = np.maximum.reduceat(values.value, values.start[:-1])
    upto = np.concatenate([[0.0], np.cumsum(attribute.expected)])
    prior = upto[last + 1] - upto[first]
    names: list[Text] = [f"{attribute.labels[a]}–{attribute.labels[b]}" for a, b in zip(first, last, strict=True)]
    open_ &= prior < 1 - 1e-12
    return _attack(classes, attribute, open_, prior, names, {"near": NEAR}, "ordered")


def _attack(
    classes: Classes,
    attribute: Sensitive,
    open_: np.ndarray,
    prior: np.ndarray,
    names: list[Text],
    figures: dict[str, int | float],
    distance: str,
) -> Attack:
    prevented: tuple[Prevention, ...] = ()
    if open_.any():
        t = just_below(float(distances(TCloseness(1, attribute.column, distance), classes)[open_].min()))
        prevented = (Prevention("t-closeness", {"t": t, "column": attribute.column, "distance": distance}),)
    return Attack(
        "similarity",
        bool(open_.any()),
        {**exposure(classes, open_), **figures},
        tuple(
            Exposed(labels_of(classes, c), int(classes.sizes[c]), 1.0, names[c], float(prior[c]))
            for c in worst(open_, -prior, classes.sizes)
        ),
        prevented,
        attribute.column,
    )
