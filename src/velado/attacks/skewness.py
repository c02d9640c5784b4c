"""The skewness attack: a class makes a value much more likely than the whole table does."""

from __future__ import annotations

import math

import numpy as np

from velado.attacks.base import (
    Attack,
    Attacker,
    Exposed,
    Histogram,
    Prevention,
    distances,
    exposure,
    just_below,
    knowing,
    labels_of,
    worst,
)
from velado.declarations import declare
from velado.frequency import Classes, Sensitive
from velado.models import TCloseness


@declare(
    title="skewness", meaning="A class makes a value much more likely than the whole table does.", parameters=knowing("factor")
)
def skewness(classes: Classes, attribute: Sensitive, attacker: Attacker) -> Attack:
    """Classes in which some value is more than ``factor`` times as likely as in the whole input.

    p is a value's share in the class, q its share in the whole input (of the release, if the original is not
    known). Li, Li, Venkatasubramanian, "t-closeness", 2007. β-likeness with β = factor − 1 refuses exactly these
    classes, δ-disclosure with δ = log2 factor refuses them and those where a value is as much rarer. O(values in classes).
    """
    values = Histogram.build(classes, attribute)
    p = values.count / classes.sizes[values.of]
    q = attribute.expected[values.value]
    gain = (p - q) / q
    most = np.maximum.reduceat(gain, values.start[:-1])
    open_ = most > attacker.factor - 1 + 1e-12
    exposed = []
    for c in worst(open_, most, classes.sizes):
        e = values.start[c] + int(np.argmax(gain[values.start[c] : values.start[c + 1]]))
        value = values.value[e]
        exposed.append(Exposed(labels_of(classes, c), int(classes.sizes[c]), float(p[e]), attribute.labels[value], float(q[e])))
    prevented: tuple[Prevention, ...] = ()
    if open_.any():
        t = just_below(float(distances(TCloseness(1, attribute.column), classes)[open_].min()))
        prevented = (
            Prevention("t-closeness", {"t": t, "column": attribute.column}),
            Prevention("beta-likeness", {"beta": attacker.factor - 1, "column": attribute.column}),
            Prevention("delta-disclosure", {"delta": math.log2(attacker.factor), "column": attribute.column}),
        )
    return Attack(
        "skewness",
        bool(open_.any()),
        {**exposure(classes, open_), "largest_gain": float((p / q).max()), "largest_difference": float((p - q).max())},
        tuple(exposed),
        prevented,
        attribute.column,
    )
