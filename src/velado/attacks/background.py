"""The attack with background knowledge: values that the person does not have are ruled out."""

from __future__ import annotations

import math

import numpy as np

from velado.attacks.base import (
    Attack,
    Attacker,
    Exposed,
    Histogram,
    Prevention,
    exposure,
    knowing,
    labels_of,
    weighted_median,
    worst,
)
from velado.declarations import declare
from velado.frequency import Classes, Sensitive


@declare(
    title="background knowledge",
    meaning="Values that a person is known not to have are ruled out.",
    parameters=knowing("know", "confidence"),
)
def background(classes: Classes, attribute: Sensitive, attacker: Attacker) -> Attack:
    """The worst that an attacker can do who rules out ``know`` values of the class.

    With frequencies r1 ≥ r2 ≥ … the surest guess is r1 after the next ``know`` ones are ruled out:
    r1 / (size − r2 − … − r(know+1)). Whoever is in a class of at most know + 1 values is exposed for certain. That
    r1 < c·(rℓ + … + rd) with ℓ = know + 2 means the same as a confidence below c/(c+1): recursive (c,ℓ)-diversity
    (Machanavajjhala et al. 2007). O(values in classes).
    """
    values = Histogram.build(classes, attribute)
    ruled_out = (values.rank >= 1) & (values.rank <= attacker.know)
    gone = np.bincount(values.of[ruled_out], weights=values.count[ruled_out], minlength=classes.count)
    sure = values.top / (classes.sizes - gone)
    certain = values.distinct <= attacker.know + 1
    open_ = attacker.succeeds(sure)
    exposed = tuple(
        Exposed(
            labels_of(classes, c),
            int(classes.sizes[c]),
            float(sure[c]),
            attribute.labels[values.top_value[c]],
            float(values.top[c] / classes.sizes[c]),
        )
        for c in worst(open_, sure, classes.sizes)
    )
    return Attack(
        "background",
        bool(open_.any()),
        {
            "know": attacker.know,
            **exposure(classes, open_),
            "certain_classes": int(certain.sum()),
            "certain_records": int(classes.sizes[certain].sum()),
            "certain_without_knowledge": int(classes.sizes[values.distinct == 1].sum()),
            "lowest_confidence": float(sure.min()),
            "median_confidence": weighted_median(sure, classes.sizes),
            "mean_confidence": float((sure * classes.sizes).sum() / classes.sizes.sum()),
            "highest_confidence": float(sure.max()),
        },
        exposed,
        _prevention(attribute.column, attacker, sure[~certain]) if open_.any() else (),
        attribute.column,
    )


def _prevention(column: str, attacker: Attacker, others: np.ndarray) -> tuple[Prevention, ...]:
    """Enough values; and a c that bounds the confidence: as asked for, else one that the other classes satisfy."""
    needed = attacker.know + 2
    if attacker.confidence < 1:
        c = attacker.confidence / (1 - attacker.confidence)
        return (Prevention("recursive-diversity", {"c": c, "l": needed, "column": column}),)
    c = math.floor(max((float(p / (1 - p)) for p in others), default=0.0) + 1e-9) + 1
    return (
        Prevention("distinct-diversity", {"l": needed, "column": column}),
        Prevention("recursive-diversity", {"c": c, "l": needed, "column": column}),
    )
