"""The measures of an evaluation: what each is called, what it means, and which direction is better."""

from __future__ import annotations

from velado.declarations import Figure

FIGURES: dict[str, Figure] = {
    "loss": Figure(
        title="loss (geometric mean)",
        meaning="The share of the detail of the quasi-identifiers that recoding removed, as a "
        "geometric mean over the columns: 0 none, 1 all.",
        better=-1,
        high=1,
        at="utility.loss",
    ),
    "loss-mean": Figure(
        title="loss (arithmetic mean)",
        meaning="The share of the detail of the quasi-identifiers that recoding removed, as a "
        "mean over the columns: 0 none, 1 all.",
        better=-1,
        high=1,
        at="utility.loss_mean",
    ),
    "precision": Figure(
        title="precision",
        meaning="1 minus the mean of level divided by highest level over all cells.",
        better=1,
        high=1,
        at="utility.precision",
    ),
    "generalized-loss": Figure(
        title="generalized information loss",
        meaning="The mean width of the released labels relative to the whole column.",
        better=-1,
        high=1,
        at="utility.generalized_loss",
    ),
    "entropy": Figure(
        title="entropy loss",
        meaning="The share of the information about the original values that the released ones lose.",
        better=-1,
        high=1,
        at="utility.entropy",
    ),
    "discernibility": Figure(
        title="discernibility",
        meaning="Every record costs the size of its class, a suppressed one the size of the table.",
        better=-1,
        at="utility.discernibility",
    ),
    "average-class-size": Figure(
        title="average class size",
        meaning="Released records divided by released classes.",
        better=-1,
        low=1,
        unit="records",
        at="utility.average_class_size",
    ),
    "c-avg": Figure(
        title="C_avg: average class size divided by k",
        meaning="How much larger classes are, on average, than they must be.",
        better=-1,
        at="utility.c_avg",
    ),
    "suppressed": Figure(
        title="suppressed records", meaning="The share of the records that are not released.", better=-1, high=1, at="suppressed"
    ),
    "risk-highest": Figure(
        title="highest risk",
        meaning="The chance to pick the record of a person in the smallest class: 1 divided by its size.",
        better=-1,
        high=1,
        at="risk.highest",
    ),
    "risk-average": Figure(
        title="average risk",
        meaning="The chance to pick the right record, on average over the released records: classes divided by records.",
        better=-1,
        high=1,
        at="risk.average",
    ),
    "at-risk": Figure(
        title="records at risk",
        meaning="The share of the released records whose risk is above 10 %.",
        better=-1,
        high=1,
        at="risk.at_risk",
    ),
    "singled-out": Figure(
        title="records singled out",
        meaning="Released records that are alone in their class.",
        better=-1,
        unit="records",
        at="risk.singled_out_after",
    ),
    "smallest-class": Figure(
        title="smallest class",
        meaning="The fewest records that share all their quasi-identifiers: the k of the release.",
        better=1,
        unit="records",
        at="class_size.min",
    ),
    "classes": Figure(
        title="classes",
        meaning="How many different combinations of quasi-identifiers are released.",
        better=0,
        unit="classes",
        at="classes",
    ),
    "ks": Figure(
        title="Kolmogorov–Smirnov p-value",
        meaning="How well a numeric column keeps its distribution: at least 0.95 counts as kept.",
        better=1,
        high=1,
        at="ks",
    ),
    "query-error": Figure(
        title="error of COUNT queries",
        meaning="The mean relative error of random COUNT queries that are answered from the release.",
        better=-1,
        at="queries.mean",
    ),
    "learning": Figure(
        title="learning accuracy",
        meaning="How often a classifier that learned from the release predicts a column of the original.",
        better=1,
        high=1,
        at="learning",
    ),
    "journalist": Figure(
        title="journalist risk",
        meaning="The highest risk for someone who knows only a population of which the release is a part.",
        better=-1,
        high=1,
        at="journalist",
    ),
    "individual": Figure(
        title="individual risk",
        meaning="The mean risk of a record, estimated from the weights of a sample (Franconi and Polettini).",
        better=-1,
        high=1,
        at="individual",
    ),
    "uniqueness": Figure(
        title="population uniqueness",
        meaning="The share of the population that is unique, estimated from a sample.",
        better=-1,
        high=1,
        at="uniqueness",
    ),
}
