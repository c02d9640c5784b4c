"""The homogeneity attack: who is in a class has the value that all of it has."""

from __future__ import annotations

from velado.attacks.base import Attack, Attacker, Exposed, Histogram, Prevention, exposure, knowing, labels_of, share, worst
from velado.declarations import declare
from velado.frequency import Classes, Sensitive


@declare(
    title="homogeneity", meaning="Whoever is in a class has the value that its records share.", parameters=knowing("confidence")
)
def homogeneity(classes: Classes, attribute: Sensitive, attacker: Attacker) -> Attack:
    """Classes whose most frequent value is surer than asked for; by default, those that have one value only.

    Machanavajjhala et al., "ℓ-diversity", 2007. ``best_guess`` is the share of all records that an attacker gets right
    who always names the most frequent value of the class. O(values in classes).
    """
    values = Histogram.build(classes, attribute)
    sure = values.top / classes.sizes
    open_ = attacker.succeeds(sure)
    exposed = tuple(
        Exposed(
            labels_of(classes, c),
            int(classes.sizes[c]),
            float(sure[c]),
            attribute.labels[values.top_value[c]],
            float(attribute.expected[values.top_value[c]]),
        )
        for c in worst(open_, sure, classes.sizes)
    )
    if attacker.confidence < 1:
        k = max(2, int(classes.sizes.min()))
        model = Prevention("alpha-k", {"alpha": attacker.confidence, "k": k, "column": attribute.column})
    else:
        model = Prevention("distinct-diversity", {"l": 2, "column": attribute.column})
    return Attack(
        "homogeneity",
        bool(open_.any()),
        {
            **exposure(classes, open_),
            "highest_confidence": float(sure.max()),
            "best_guess": share(int(values.top.sum()), int(classes.sizes.sum())),
        },
        exposed,
        (model,) if open_.any() else (),
        attribute.column,
    )
