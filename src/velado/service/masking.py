"""Results for who may not read records: no values of identifiers and sensitive columns, no count of one or two people.

Each kind of result has a rule for every key that is told; a key without a rule, and a kind without rules, is left out. Keys and
their meaning: docs/reference/json.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from velado.service.blurring import (
    FEWER,
    LEFT_OUT,
    SMALL,
    Around,
    Rule,
    any_plain,
    by_name,
    count,
    each,
    few_suppressed,
    kept,
    number,
    obj,
    plain,
    risk,
    share,
)

OPEN = frozenset({"quasi-identifier", "insensitive"})
"""Roles of columns whose values others know or may know; values of all others, and of columns without a role, are not shown."""
OF_PEOPLE = ("k-anonymity", "k-map", "alpha-k", "q-anonymity", "average-risk")
"""Models whose figure counts people, or is one by such a count."""
OF_VALUES = (
    "distinct-diversity", "entropy-diversity", "recursive-diversity", "t-closeness", "beta-likeness", "delta-disclosure",
    "fuzzy-l-diversity", "fuzzy-t-closeness",
)  # fmt: skip
NO_HEADER = "no-header"
Roles = Mapping[str, Collection[str]]


def masked(result: Mapping[str, Any], kind: str, roles: Roles | None = None) -> dict[str, Any]:
    """The result of a job. ``roles`` are those of the project's columns; without them no column is shown."""
    rule = RULES.get(kind)
    shown = frozenset(name for name, given in (roles or {}).items() if given and set(given) <= OPEN)
    told = LEFT_OUT if rule is None else rule(result, Around(shown=shown))
    return {} if told is LEFT_OUT or told is None else dict(told)


def masked_profile(
    profile: Mapping[str, Any], suggestion: Mapping[str, Any] | None = None, roles: Roles | None = None
) -> dict[str, Any]:
    """What an inspection found; a column is shown if it was suggested to, and no project says otherwise."""
    shown = _shown(profile.get("columns", ()), suggestion, roles)
    told = dict(_profile(profile, Around(shown=shown)))
    if lacks_header(profile):
        names = {str(c.get("name")): f"column_{i + 1}" for i, c in enumerate(profile["columns"])}
        told["columns"] = [{**column, "name": names[column["name"]]} for column in told["columns"]]
        return {key: told[key] for key in ("schema", "rows", "columns", "dialect", "notes") if key in told}
    return told


def masked_suggestion(suggestion: Mapping[str, Any], roles: Roles | None = None) -> dict[str, Any]:
    """What was suggested; hierarchies list values, and are told of columns that are shown."""
    columns = [
        {"name": c.get("name"), "role": (c.get("spec") or {}).get("role")} for c in suggestion.get("columns", ())
    ]
    around = Around(shown=_shown(columns, None, roles))
    return dict(_suggestion(suggestion, around))


def lacks_header(profile: Mapping[str, Any] | None) -> bool:
    """Whether the names of the columns seem to be the data of a person."""
    return any(note.get("code") == NO_HEADER for note in (profile or {}).get("notes", ()) or ())


def _shown(columns: Any, suggestion: Mapping[str, Any] | None, roles: Roles | None) -> frozenset[str]:
    suggested = {c.get("name"): (c.get("spec") or {}).get("role") for c in (suggestion or {}).get("columns", ()) or ()}
    found = set()
    for column in columns:
        name = str(column.get("name"))
        said = {column.get("role"), suggested.get(name, column.get("role")), *(roles or {}).get(name, ())}
        if said <= OPEN:
            found.add(name)
    return frozenset(found)


# Columns and their values


def _column_rule(always: Mapping[str, Rule], open_: Mapping[str, Rule]) -> Rule:
    """An object about a column: some keys only of columns that are shown."""

    def told(value: Any, around: Around) -> Any:
        is_shown = isinstance(value, Mapping) and value.get("name", value.get("column")) in around.shown
        return obj(**({**always, **open_} if is_shown else always))(value, around)

    return told


_notes: Rule = each(obj(code=plain, column=plain))
_columns: Rule = each(plain)
_profile: Rule = obj(
    schema=plain, source=plain, rows=count, dialect=by_name(plain), combined=_columns, unit=any_plain, notes=_notes,
    combinations=each(obj(columns=_columns, singled_out=count)),
    columns=each(
        _column_rule(
            {
                "name": plain, "type": plain, "format": any_plain, "distinct": number, "missing": count, "singled_out": count,
                "role": plain, "topic": plain, "content": plain, "twins": obj(groups=number, spellings=number),
            },
            {
                "markers": each(plain), "hierarchy": any_plain, "generalizations": each(plain),
                "twins": obj(groups=number, spellings=number, examples=any_plain),
            },
        )
    ),
)  # fmt: skip


def _spec(value: Any, around: Around) -> Any:
    """Columns of a document: hierarchies of columns that are not shown are left out."""
    if not isinstance(value, Mapping):
        return LEFT_OUT
    found = {}
    for name, said in value.items():
        if isinstance(said, Mapping):
            told = (*SPECS, "hierarchy") if name in around.shown else SPECS
            said = {key: any_plain(one, around) for key, one in said.items() if key in told}
        found[str(name)] = said
    return found


SPECS = ("role", "type", "format", "operation", "missing", "attribute", "twins", "published")


def _suggested(value: Any, around: Around) -> Any:
    told = obj(name=plain, kept=plain, tries=number)(value, around)
    if isinstance(value, Mapping) and isinstance(told, dict):
        told["spec"] = _spec({value.get("name"): value.get("spec") or {}}, around)[str(value.get("name"))]
    return told


_suggestion: Rule = obj(
    schema=plain, columns=each(_suggested), models=any_plain, without=each(obj(model=any_plain)), unit=any_plain,
    trials=each(obj(method=any_plain, loss=number, suppressed=share)), problem=obj(code=plain, column=plain),
    document=obj(
        velado=plain, name=plain, source=obj(source=plain), columns=_spec, models=any_plain, method=any_plain, rest=plain,
        person=plain, household=plain, twins=plain, output=any_plain,
    ),
)  # fmt: skip


# Figures


def _achieved(name: Any, value: Any, around: Around) -> Any:
    """What a model reaches: a count of people, a risk, or a figure of values."""
    if isinstance(value, Mapping):
        return kept({str(key): _achieved(name, one, around) for key, one in value.items()})
    model = str(name).partition(" ")[0].partition("(")[0]
    if model in OF_PEOPLE:
        return FEWER if around.small or count(value, around) == FEWER else number(value, around)
    return number(value, around) if model in OF_VALUES else LEFT_OUT


def _verdict(value: Any, around: Around) -> Any:
    told = obj(name=plain, required=by_name(plain), satisfied=plain, exact=plain)(value, around)
    if isinstance(told, dict) and "achieved" in value:
        reached = _achieved(value.get("name"), value["achieved"], around)
        told |= {} if reached is LEFT_OUT else {"achieved": reached}
    return told


def _by_model(value: Any, around: Around) -> Any:
    if not isinstance(value, Mapping):
        return LEFT_OUT
    return kept({str(name): _achieved(name, one, around) for name, one in value.items()})


_size: Rule = obj(min=count, max=count, mean=count)
_risk: Rule = obj(
    highest=risk, average=risk, at_risk=share, singled_out_before=count, singled_out_after=count,
    smaller_than_k_before=count, smaller_than_k_after=count,
)  # fmt: skip
_utility: Rule = obj(
    loss=number, loss_mean=number, precision=number, discernibility=number, generalized_loss=number, entropy=number,
    average_class_size=count, average_class_size_arx=count, columns=by_name(number),
)  # fmt: skip
_loss_of_columns: Rule = by_name(
    obj(
        loss=number,
        precision=number,
        generalized_loss=number,
        entropy=number,
        values_before=number,
        values_after=number,
    )
)
_harmless = dict.fromkeys(("l_distinct", "l_entropy", "c", "t_equal", "t_ordered", "t_hierarchical", "alpha"), number)
_telling = dict.fromkeys(("beta", "beta_enhanced", "delta", "delta_e"), number)
"""Figures by which a value's share in the table is known: of a table with small classes, they tell of one person."""


def _class(value: Any, around: Around) -> Any:
    """A class; of one with one or two people nothing is told but that."""
    if not isinstance(value, Mapping):
        return LEFT_OUT
    sizes = [value.get(key) for key in ("records", "people") if value.get(key) is not None]
    if not sizes or any(not isinstance(size, int) or size < SMALL for size in sizes):
        return {"records": FEWER, **({"released": value["released"]} if "released" in value else {})}
    return obj(
        labels=by_name(plain), records=count, people=count, risk=risk, released=plain, confidence=number, prior=number,
        sensitive=by_name(obj(**_harmless)),
    )(value, around)  # fmt: skip


def _check(value: Any, around: Around) -> Any:
    small = isinstance(value, Mapping) and count(value.get("k"), around) == FEWER
    return obj(
        schema=plain, rows=count, classes=number, class_size=_size, k=count, risk=_risk, l=number,
        sensitive=by_name(obj(**(_harmless if small else {**_harmless, **_telling}))),
        twins=by_name(obj(values=number, spellings=number)), models=each(_verdict), class_figures=each(_class),
    )(value, Around(around.rows, around.shown, small))  # fmt: skip


_published: Rule = each(
    obj(
        column=plain, role=plain, k=number, records=count, singled_out=count, few=count, singled_out_together=count,
        few_together=count, content=plain, copies=_columns, knowingly=plain, people=plain, dangers=each(plain),
    )
)  # fmt: skip
_fuzzy: Rule = obj(
    classes=number, q=count, cardinality=by_name(count), normal=plain, robust=plain,
    sensitive=by_name(obj(l=number, t=number, t_smallest=number, t_ordered=number, t_ordered_smallest=number)),
)  # fmt: skip
_told_apart: Rule = obj(groups=number, smallest=count, singled_out=count)
_of_release: dict[str, Rule] = {
    "schema": plain, "rows": count, "released": count, "suppressed": count, "starred": count, "classes": number,
    "class_size": _size, "utility": _utility, "columns": _loss_of_columns, "risk": _risk, "people": by_name(count),
    "published": _published, "fuzzy": _fuzzy, "before": _check, "after": _check,
    # The lowest and the highest value are those of one person.
    "aggregates": by_name(
        obj(
            before=obj(mean=number, mode_count=count, records=count),
            after=obj(
                mean_midpoint=number, mean_midpoint_integer=number, mean_lower=number, mode_count=count, records=count
            ),
        )
    ),
    "ks": by_name(obj(statistic=number, p=number, kept=plain, by=plain, records=count)),
    "queries": obj(queries=number, mean=number, median=number, seed=number),
    "learning": obj(
        target=plain, records=count, folds=number, seed=number, majority=number,
        original=by_name(obj(accuracy=number, auc=number)), released=by_name(obj(accuracy=number, auc=number)),
    ),
    "journalist": obj(population=count, highest=risk, average=risk, at_risk=share),
    "individual": by_name(
        obj(mean=risk, highest=risk, expected_reidentifications=count, higher=count, higher_and_above_threshold=count)
    ),
    "uniqueness": by_name(obj(fraction=number, population=count, sample_uniques=count, chosen=plain)),
    "subsets": each(obj(columns=_columns, before=_told_apart, after=_told_apart)),
}  # fmt: skip


_of_few: dict[str, Rule] = {
    "schema": plain, "rows": count, "suppressed": count, "starred": count, "classes": number, "before": _check,
    "columns": by_name(obj(values_before=number, values_after=number)), "ks": by_name(obj(kept=plain, by=plain)),
    "models": each(obj(name=plain, required=by_name(plain), satisfied=plain, exact=plain)),
    "published": each(
        obj(
            column=plain, role=plain, singled_out=count, few=count, singled_out_together=count, few_together=count, content=plain,
            copies=_columns, knowingly=plain, people=plain, dangers=each(plain),
        )
    ),
    "project": plain, "levels": by_name(number), "anonymization": plain, "verified": plain, "unchanged": _columns, "notes": _notes,
}  # fmt: skip
"""What is told where one or two records are suppressed. How many follows from means, shares, losses and tests: all of them have
the number of released records in them, and so has the whole of what was released."""
_smallest: dict[str, Rule] = {
    "class_size": obj(min=count),
    "risk": obj(
        highest=risk, singled_out_before=count, singled_out_after=count, smaller_than_k_before=count, smaller_than_k_after=count
    ),
}  # fmt: skip
"""Told, too, where there are several classes: a single one has all released records."""


def _several(value: Mapping[str, Any]) -> bool:
    classes = value.get("classes")
    return isinstance(classes, int) and classes > 1


def _evaluation(value: Any, around: Around, **more: Rule) -> Any:
    """An evaluation. Where the smallest class has one or two people, no model tells its size either."""
    if few_suppressed(value):
        return obj(**_of_few, **(_smallest if _several(value) else {}))(value, around)
    sizes = value.get("class_size") if isinstance(value, Mapping) else None
    small = isinstance(sizes, Mapping) and count(sizes.get("min"), around) == FEWER
    return obj(**_of_release, models=each(_verdict), **more)(value, Around(around.rows, around.shown, small))


def _release(value: Any, around: Around) -> Any:
    if isinstance(value, Mapping) and "tables" in value:
        return obj(schema=plain, project=plain, tables=by_name(_release))(value, around)
    return _evaluation(
        value, around, project=plain, levels=by_name(number), search=obj(proven_optimal=plain, gap=number),
        anonymization=plain, verified=plain, unchanged=_columns, notes=_notes,
    )  # fmt: skip


# Lattices, comparisons, attacks


def _node(value: Any, around: Around) -> Any:
    if not isinstance(value, Mapping):
        return None if value is None else LEFT_OUT
    hidden: tuple[str, ...] = ()
    if few_suppressed(value):
        hidden = BY_RELEASED if _several(value) else (*BY_RELEASED, *BY_SMALLEST)
    told = obj(
        levels=any_plain, height=number, status=plain, minimal=plain, objective=number, loss=number, suppressed=count,
        share=share, classes=number, smallest=count, largest=count, average=count, k=count, highest_risk=risk,
        average_risk=risk,
    )({key: one for key, one in value.items() if key not in hidden}, around)  # fmt: skip
    for key, size in (("achieved", "smallest"), ("reached", "k")):
        if key in value and key not in hidden:
            small = count(value.get(size), around) in (FEWER, LEFT_OUT)
            told[key] = _by_model(value[key], Around(around.rows, around.shown, small))
    if hidden and "achieved" in told:
        told["achieved"] = {name: one for name, one in told["achieved"].items() if not name.startswith(AVERAGE)}
    return told


BY_RELEASED = ("objective", "loss", "largest", "average", "average_risk")
"""Figures of a node that have the number of released records in them, by which that of suppressed ones is known."""
BY_SMALLEST = ("smallest", "highest_risk", "achieved")
"""The same where there is one class only."""
AVERAGE = "average-risk"


def _one_node(value: Any, around: Around) -> Any:
    """A node with its classes. Where one or two records are suppressed, their sizes add up to how many are not."""
    if isinstance(value, Mapping) and few_suppressed(value.get("node")):
        return obj(node=_node, columns=_columns, l=number, classes=each(_labels))(value, around)
    return obj(node=_node, columns=_columns, l=number, total=number, released=number, sizes=_sizes, classes=each(_class))(
        value, around
    )  # fmt: skip


def _labels(value: Any, around: Around) -> Any:
    told = _class(value, around)
    return {"labels": told["labels"]} if isinstance(told, Mapping) and "labels" in told else LEFT_OUT


def _sizes(value: Any, around: Around) -> Any:
    """How many classes have which size; those of one and two people together."""
    if not isinstance(value, list):
        return LEFT_OUT
    few = sum(often for size, often in value if size < SMALL)
    return [*([[FEWER, count(few, around)]] if few else []), *([s, n] for s, n in value if s >= SMALL)]


def _flat(value: Any, around: Around, parameters: Collection[str] = ()) -> Any:
    """The main figures of a setting; parameters stand beside them."""
    if not isinstance(value, Mapping):
        return None if value is None else LEFT_OUT
    if few_suppressed(value):
        told = (*parameters, *FLAT_OF_FEW, *(FLAT_OF_SMALLEST if _several(value) else ()))
        value = {name: one for name, one in value.items() if name in told}
    found = {str(name): FLAT.get(name, number)(one, around) for name, one in value.items() if name not in UNFLAT}
    return kept(found)


FLAT: Mapping[str, Rule] = {
    "suppressed": count, "risk_highest": risk, "risk_average": risk, "at_risk": share, "smallest_class": count,
    "average_class": count, "largest_class": count, "levels": plain,
}  # fmt: skip
UNFLAT = ("reason",)
FLAT_OF_FEW = ("suppressed", "classes", "levels", "efficient")
FLAT_OF_SMALLEST = ("risk_highest", "smallest_class")
_comparison: Rule = obj(
    schema=plain, parameters=_columns,
    settings=each(
        obj(parameters=by_name(plain), levels=by_name(number), efficient=plain, evaluation=_evaluation)
    ),
)  # fmt: skip


def _balance(value: Any, around: Around) -> Any:
    """A balance; the names of its parameters are those of the comparison."""
    compared = value.get("comparison") if isinstance(value, Mapping) else None
    names = compared.get("parameters") if isinstance(compared, Mapping) else None
    # A parameter with the name of a figure would be taken for it.
    parameters = [name for name in names or () if name not in FLAT and name not in ("loss", "precision")]

    def flat(one: Any, inside: Around) -> Any:
        return _flat(one, inside, parameters)

    return obj(
        schema=plain, conditions=by_name(number), chosen=by_name(plain), figures=flat, failed=by_name(_columns),
        evidence=each(flat), comparison=_comparison,
    )(value, around)  # fmt: skip


def _figures(value: Any, around: Around) -> Any:
    """Figures of an attack: whole numbers count people or records, and so do expected numbers."""
    if not isinstance(value, Mapping):
        return LEFT_OUT
    found = {
        str(name): number(one, around)
        if isinstance(one, float) and str(name).endswith(("confidence", "chance", "share", "distance", "gain"))
        else count(one, around)
        for name, one in value.items()
    }
    return kept(found)


def _vector(value: Any, around: Around) -> Any:
    """Sizes of groups, and how many groups have them."""
    if not isinstance(value, Mapping):
        return None if value is None else LEFT_OUT
    return {str(size): often for size, often in value.items() if str(size).isdigit() and int(size) >= SMALL}


def _groups(value: Any, around: Around) -> Any:
    return obj(
        method=plain, k=count, vector=_vector, bound=_vector, seconds=number, proven=number, optimal=plain
    )(value, around)  # fmt: skip


def _hierarchies(value: Any, around: Around) -> Any:
    """Hierarchies by column: labels of columns that are shown; not how many values are covered, which tells what occurs."""
    if not isinstance(value, Mapping):
        return LEFT_OUT
    found = {}
    for name, one in value.items():
        labels: dict[str, Rule] = {"examples": each(plain)} if name in around.shown else {}
        found[str(name)] = obj(
            column=plain, values=number, total=number,
            problem=obj(code=plain, column=plain, message=by_name(plain), hint=by_name(plain)),
            levels=each(
                obj(level=number, groups=number, smallest=number, largest=number, fewest=count, most=count, **labels)
            ),
        )(one, around)  # fmt: skip
    return kept(found)


RULES: Mapping[str, Rule] = {
    "inspect": obj(rows=count, copied=plain),
    "profile": _profile,
    "suggestion": _suggestion,
    "estimate": obj(
        schema=plain, rows=count, distinct=number, needed=number, memory=number, how=plain, method=plain,
        thesis_levels=number, thesis_size=number,
    ),
    "run": obj(release=plain, parameters=any_plain, summary=_release),
    "release": _release,
    "explore": obj(
        schema=plain, project=plain, columns=_columns, levels=each(number), labels=by_name(each(number)), rows=count,
        limit=number, objective=plain, person=plain, models=any_plain, counts=by_name(number), nodes=number,
        statuses=each(plain), optimal=_node, figures=_columns, whole=_columns, table=plain, method=plain,
    ),
    "node": _one_node,
    "evaluate": _evaluation,
    "check": _check,
    "compare": _comparison,
    "balance": _balance,
    "attack": obj(
        schema=plain,
        attacks=each(
            obj(
                name=plain, column=plain, against=plain, succeeded=plain, expected=plain, figures=_figures,
                exposed=each(_class), prevented_by=each(obj(model=plain, parameters=by_name(plain), measure=plain)), remedies=each(by_name(plain)),
            )
        ),
    ),
    "fuzzify": lambda value, around: _evaluation(value, around, crisp=_check),
    "appointments": obj(
        schema=plain, people=count, groups=number, slots=number, places=number, required=number, chosen=plain,
        base=obj(k=count, vector=_vector), methods=each(_groups),
    ),
    "report": obj(files=each(obj(name=plain, format=plain, language=plain, bytes=number))),
    "hierarchy": obj(columns=_hierarchies),
    "singled-out": obj(
        columns=_columns, k=number, records=count, singled_out=count, few=count, people=plain, without=by_name(count),
        combinations=each(obj(columns=_columns, singled_out=count)), published=_published,
    ),
    "checks": obj(
        problems=each(
            obj(code=plain, column=plain, message=by_name(plain), hint=by_name(plain), fields=obj(path=plain))
        )
    ),
    # Figures of publications and of invented tables.
    "study": any_plain,
    "test": obj(works=plain, engine=plain),
}  # fmt: skip
"""The rules by kind of job. Rows of tables and lists of databases' tables have none: nothing of them is told."""
