"""The one table of redaction: what of each kind of result is told to who may not read records.

Who may not (`velado.service.access.permissions`: analysts, approvers, readers) sees no value of identifiers and sensitive columns,
and no count of one or two people. Every field of a result that is told stands here, under the word that says how; **a field that
stands nowhere is left out**, and so is the whole result of a kind that is not in `RULES`. What nobody has thought about is not told.

| word | what | told |
|---|---|---|
| ``words`` | names, codes, parameters, truth values | kept |
| ``figures`` | numbers that count no people: losses, distances, numbers of values and of classes | kept |
| ``lists`` | lists of words, as names of columns | kept |
| ``parts`` | nested parts of a project's document, which members may read | kept |
| ``counts`` | how many people or records | blurred: "fewer than 3" for one and two |
| ``risks`` | one by the size of a class | blurred: "fewer than 3" above a third |
| ``shares`` | shares of the records | blurred as the number that they stand for; left out where the records are not known |
| (no word) | everything else: values, rows, examples, paths | left out |

Where more must be known than the field alone, a rule of `conditions` says so by its name. What the figure of a model tells of,
the model declares (`PrivacyModel.tells`). Keys and their meaning: docs/reference/json.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.project.document import TABLE_KEYS
from velado.service.access.redaction.conditions import (
    attack_figures,
    by_column,
    class_sizes,
    emptied,
    flat,
    group_sizes,
    key_sizes,
    knowing_size,
    labels_only,
    node_with_classes,
    of_class,
    of_column,
    of_node,
    operation,
    or_word,
    suggested,
    unless_small,
    verdict,
    where_few_are_suppressed,
    without_distances,
)
from velado.service.access.redaction.rules import Around, Fields, Rule, any_plain, by_name, count, each, fields, number, part, plain

# Columns, documents and what is suggested for them

OPEN = frozenset({"quasi-identifier", "insensitive"})
"""Roles of columns whose values others know or may know; values of all others, and of columns without a role, are not shown."""
HIERARCHY = emptied({"tree": {}, "groups": {}, "rows": [], "order": []})
SPEC = fields({"operation": operation("map", "seed")}, parts="role type format missing attribute variants exposure known")
SPECS = by_column(or_word(part({**SPEC, "hierarchy": HIERARCHY})), hidden=or_word(part(SPEC)))
TABLE: Fields = {**dict.fromkeys(TABLE_KEYS, any_plain), "columns": SPECS}
DOCUMENT = part({**TABLE, "attributes": SPECS, "tables": by_name(part(TABLE))}, words="velado name", parts="joinable")
NOTES = each(part(words="code column"))
COMBINATIONS = each(part(lists="columns", counts="singled_out"))
PROFILE = part(
    {
        "dialect": by_name(plain),
        "notes": NOTES,
        "combinations": COMBINATIONS,
        "columns": each(
            of_column(
                fields(
                    {"variants": part(figures="groups spellings")},
                    words="name type role topic content",
                    parts="format",
                    figures="distinct",
                    counts="missing singled_out",
                ),
                shown=fields(
                    {"hierarchy": HIERARCHY, "variants": part(figures="groups spellings", parts="examples")},
                    lists="markers generalizations",
                ),
            )
        ),
    },
    words="schema source",
    counts="rows",
    lists="combined",
    parts="unit",
)
SUGGESTION = part(
    {
        "columns": each(suggested(part(words="name kept", figures="tries"), SPECS)),
        "without": each(part(parts="model")),
        "trials": each(part(parts="method", figures="loss", shares="suppressed")),
        "problem": part(words="code column"),
        "document": part(
            {"source": part(words="source"), "columns": SPECS},
            words="velado name rest person household variants",
            parts="models method output",
        ),
    },
    words="schema",
    parts="models unit",
)
PROBLEM = fields({"message": by_name(plain), "hint": by_name(plain)}, words="code column")
LEVELS = each(part(figures="level groups smallest largest", counts="fewest most", lists="examples"))
# Not how many values are covered, which tells what occurs. Of columns that are not shown only that there is a problem: sizes of
# groups tell how sensitive values are spread.
HIERARCHIES = by_column(
    part({"problem": part(PROBLEM), "levels": LEVELS}, words="column", figures="values total"),
    hidden=part({"problem": part(words="code column")}, words="column"),
)

# Tables, releases and their evaluations

SIZE = part(counts="min max mean")
COUNTS_OF_RISK = "singled_out_before singled_out_after smaller_than_k_before smaller_than_k_after"
RISK = part(risks="highest average", shares="at_risk", counts=COUNTS_OF_RISK)
UTILITY = part(
    {"columns": by_name(number)},
    figures="loss loss_mean precision discernibility generalized_loss entropy",
    counts="average_class_size average_class_size_arx",
)
VERDICT_WORDS = fields({"required": by_name(plain)}, words="name satisfied exact")
VERDICTS = each(verdict(part(VERDICT_WORDS)))
OF_SENSITIVE = "l_distinct l_entropy c t_equal t_ordered t_hierarchical alpha"
BY_SHARES = "beta beta_enhanced delta delta_e"
"""Figures by which a value's share in the table is known: of a table with small classes, they tell of one person."""
CLASS = of_class(
    part(
        {"labels": by_name(plain), "sensitive": by_name(part(figures=OF_SENSITIVE))},
        counts="records people",
        risks="risk",
        words="released",
        figures="confidence",
    )
)
CHECK = knowing_size(
    part(
        {
            "class_size": SIZE,
            "risk": RISK,
            "sensitive": unless_small(
                by_name(part(figures=f"{OF_SENSITIVE} {BY_SHARES}")), small=by_name(part(figures=OF_SENSITIVE))
            ),
            "variants": by_name(part(figures="values spellings")),
            "models": VERDICTS,
            "class_figures": each(CLASS),
        },
        words="schema",
        counts="rows k",
        figures="classes l",
    ),
    "k",
)
PUBLISHED_OF_FEW = fields(
    words="column role content accepted people known",
    counts="singled_out few singled_out_together few_together few_known",
    figures="allowance",
    lists="copies dangers",
)
PUBLISHED = each(part(PUBLISHED_OF_FEW, figures="k", counts="records"))
EXPOSURE = part(
    {"keys": key_sizes, "keys_with_private": key_sizes, "sets": each(part(lists="columns", counts="alone below"))},
    figures="k allowance sampled error",
    counts="people alone below alone_with_private below_with_private below_known judged",
    lists="columns private accepted combined",
    words="counted",
)
FUZZY = part(
    {"cardinality": by_name(count), "sensitive": by_name(part(figures="l t t_smallest t_ordered t_ordered_smallest"))},
    figures="classes",
    counts="q",
    words="normal robust",
)
ACCURACY = by_name(part(figures="accuracy auc"))
TOLD_APART = part(figures="groups", counts="smallest singled_out")
EVALUATION = fields(
    {
        "class_size": SIZE,
        "utility": UTILITY,
        "columns": by_name(part(figures="loss precision generalized_loss entropy values_before values_after")),
        "risk": RISK,
        "people": by_name(count),
        "published": PUBLISHED,
        "exposure": EXPOSURE,
        "fuzzy": FUZZY,
        "before": CHECK,
        "after": CHECK,
        # The lowest and the highest value are those of one person.
        "aggregates": by_name(
            part(
                {
                    "before": part(figures="mean", counts="mode_count records"),
                    "after": part(figures="mean_midpoint mean_midpoint_integer mean_lower", counts="mode_count records"),
                }
            )
        ),
        "ks": by_name(part(figures="statistic p", words="kept by", counts="records")),
        "queries": part(figures="queries mean median seed"),
        "learning": part(
            {"original": ACCURACY, "released": ACCURACY}, words="target", counts="records", figures="folds seed majority"
        ),
        "journalist": part(counts="population", risks="highest average", shares="at_risk"),
        "individual": by_name(part(risks="mean highest", counts="expected_reidentifications higher higher_and_above_threshold")),
        "uniqueness": by_name(part(figures="fraction", counts="population sample_uniques", words="chosen")),
        "subsets": each(part({"before": TOLD_APART, "after": TOLD_APART}, lists="columns")),
        "models": VERDICTS,
    },
    words="schema",
    counts="rows released suppressed starred",
    figures="classes",
)
MADE = fields({"levels": by_name(number), "notes": NOTES}, words="project protection verified", lists="unchanged")
"""What a run says of its release beside its evaluation."""
EVALUATION_OF_FEW = fields(
    {
        "before": CHECK,
        "columns": by_name(part(figures="values_before values_after")),
        "ks": by_name(part(words="kept by")),
        "models": each(part(VERDICT_WORDS)),
        "published": each(part(PUBLISHED_OF_FEW)),
        **MADE,
    },
    words="schema",
    counts="rows suppressed starred",
    figures="classes",
)
"""What is told where one or two records are suppressed. How many follows from means, shares, losses and tests: all of them have
the number of released records in them, and so has the whole of what was released."""
SMALLEST_CLASS: Fields = {"class_size": part(counts="min"), "risk": part(risks="highest", counts=COUNTS_OF_RISK)}
"""Told, too, where there are several classes: a single one has all released records."""


def _evaluation(more: Fields | None = None) -> Rule:
    """An evaluation. Where the smallest class has one or two people, no model tells its size either."""
    otherwise = knowing_size(part({**EVALUATION, **(more or {})}), "class_size", "min")
    return where_few_are_suppressed(EVALUATION_OF_FEW, SMALLEST_CLASS, otherwise)


ONE_RELEASE = _evaluation({**MADE, "search": part(words="proven_optimal", figures="gap")})


def release(value: Any, around: Around) -> Any:
    """A release of one table, or of several."""
    several = isinstance(value, Mapping) and "tables" in value
    return (part({"tables": by_name(release)}, words="schema project") if several else ONE_RELEASE)(value, around)


# Lattices

NODE_BY_RELEASED = ("objective", "loss", "largest", "average", "average_risk")
"""Figures of a node that have the number of released records in them, by which that of suppressed ones is known: left out where
that is one or two."""
NODE_BY_SMALLEST = ("smallest", "highest_risk", "achieved")
"""The same where there is one class only."""
NODE_COUNTS = "suppressed smallest largest average k"
NODE_TOLD_BY: Mapping[str, str] = {"share": "suppressed", "highest_risk": "smallest", "average_risk": "average"}
"""Figures that give a count of a node away."""
NODE = of_node(
    fields(
        words="status minimal",
        figures="height objective loss classes",
        counts=NODE_COUNTS,
        risks="highest_risk average_risk",
        shares="share",
        parts="levels",
    ),
    NODE_BY_RELEASED,
    NODE_BY_SMALLEST,
)
OF_NODE = fields({"node": NODE}, lists="columns", figures="l")
ONE_NODE = node_with_classes(
    few={**OF_NODE, "classes": each(labels_only(CLASS))},
    otherwise={**OF_NODE, "classes": each(CLASS), "sizes": class_sizes, **fields(figures="total released")},
)

# Comparisons

FLAT = fields(
    words="levels",
    counts="suppressed smallest_class average_class largest_class",
    risks="risk_highest risk_average",
    shares="at_risk",
)
"""The main figures of a setting that are no mere numbers."""
FLAT_OF_FEW, FLAT_OF_SMALLEST = ("suppressed", "classes", "levels", "efficient"), ("risk_highest", "smallest_class")
SETTING = part({"parameters": by_name(plain), "levels": by_name(number), "evaluation": _evaluation()}, words="efficient")
COMPARISON = part({"settings": each(SETTING)}, words="schema", lists="parameters")


def balance(value: Any, around: Around) -> Any:
    """A balance; the names of its parameters are those of the comparison."""
    compared = value.get("comparison") if isinstance(value, Mapping) else None
    names = compared.get("parameters") if isinstance(compared, Mapping) else None
    # A parameter with the name of a figure would be taken for it.
    parameters = [name for name in names or () if name not in FLAT and name not in ("loss", "precision")]
    setting = flat(FLAT, (*parameters, *FLAT_OF_FEW), FLAT_OF_SMALLEST, hidden=("reason",))
    inner = {
        "conditions": by_name(number),
        "chosen": by_name(plain),
        "failed": by_name(each(plain)),
        "figures": setting,
        "evidence": each(setting),
        "comparison": COMPARISON,
    }
    return part(inner, words="schema")(value, around)


# Everything

PLAN = part({"vector": group_sizes, "bound": group_sizes}, words="method optimal", counts="k", figures="seconds proven")
RULES: Mapping[str, Rule] = {
    "inspect": part(counts="rows", words="copied"),
    "profile": PROFILE,
    "suggestion": SUGGESTION,
    "estimate": part(words="schema how method", counts="rows", figures="distinct needed memory thesis_levels thesis_size"),
    "run": part({"summary": release}, words="release", parts="parameters"),
    "release": release,
    "explore": part(
        {"levels": each(number), "labels": by_name(each(number)), "counts": by_name(number), "optimal": NODE},
        words="schema project objective person table method",
        lists="columns statuses figures whole",
        counts="rows",
        figures="limit nodes",
        parts="models",
    ),
    "node": ONE_NODE,
    "evaluate": _evaluation(),
    "check": CHECK,
    "compare": COMPARISON,
    "balance": balance,
    "attack": part(
        {
            "attacks": each(
                without_distances(
                    part(
                        {
                            "figures": attack_figures,
                            "exposed": each(CLASS),
                            "prevented_by": each(part({"parameters": by_name(plain)}, words="model measure")),
                            "remedies": each(by_name(plain)),
                        },
                        words="name column against succeeded expected",
                    ),
                    "prevented_by",
                    "remedies",
                )
            )
        },
        words="schema",
    ),
    "fuzzify": _evaluation({"crisp": CHECK}),
    "appointments": part(
        {"base": part({"vector": group_sizes}, counts="k"), "methods": each(PLAN)},
        words="schema chosen",
        counts="people",
        figures="groups slots places required",
    ),
    "report": part({"files": each(part(words="name format language", figures="bytes"))}),
    "hierarchy": part({"columns": HIERARCHIES}),
    "singled-out": part(
        {"without": by_name(count), "combinations": COMBINATIONS, "published": PUBLISHED},
        lists="columns",
        figures="k",
        counts="records singled_out few",
        words="people",
    ),
    "checks": part({"problems": each(part({**PROBLEM, "fields": part(words="path")}))}),
    # Figures of publications and of invented tables.
    "study": any_plain,
    "test": part(words="works engine"),
}
"""The rules by kind of job. Rows of tables and lists of databases' tables have none: nothing of them is told."""
