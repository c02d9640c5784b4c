"""Rules that depend: on the role of a column, on the size of a class, on how few records are suppressed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from velado.models import COMPARED, MODELS, PEOPLE, RELEASED
from velado.service.access.redaction.rules import (
    FEWER,
    LEFT_OUT,
    SMALL,
    Around,
    Fields,
    Rule,
    any_plain,
    count,
    drop_left_out,
    number,
    obj,
    plain,
)

# Columns and their values


def of_column(always: Fields, shown: Fields) -> Rule:
    """An object about a column: some fields only of columns that are shown."""
    rules = {True: obj({**always, **shown}), False: obj(always)}

    def choose(value: Any, around: Around) -> Any:
        return rules[isinstance(value, Mapping) and value.get("name", value.get("column")) in around.shown](value, around)

    return choose


def by_column(shown: Rule, hidden: Rule) -> Rule:
    """An object by names of columns: one rule for those that are shown, another for those that are not."""

    def choose(value: Any, around: Around) -> Any:
        if not isinstance(value, Mapping):
            return LEFT_OUT
        return drop_left_out({str(name): (shown if name in around.shown else hidden)(one, around) for name, one in value.items()})

    return choose


def or_word(rule: Rule) -> Rule:
    """An object, or the short form of it, which is a word."""
    return lambda value, around: (rule if isinstance(value, Mapping) else plain)(value, around)


def operation(*hidden: str) -> Rule:
    """An operation without these parameters: values of the table, and what its noise was made of."""

    def tell(value: Any, around: Around) -> Any:
        return {str(name): any_plain(_without(given, hidden), around) for name, given in value.items()}

    return or_word(tell)


def emptied(nothing: Mapping[str, Any]) -> Rule:
    """A hierarchy in which ``nothing`` stands in the place of the values that are listed: rare ones may be among them."""

    def tell(value: Any, around: Around) -> Any:
        if not isinstance(value, Mapping):
            return LEFT_OUT
        return {name: nothing[name] if name in nothing else any_plain(one, around) for name, one in value.items()}

    return tell


def suggested(column: Rule, spec: Rule) -> Rule:
    """A column that was suggested, and its part of a document by its name."""

    def tell(value: Any, around: Around) -> Any:
        told = column(value, around)
        if isinstance(value, Mapping) and isinstance(told, dict):
            told["spec"] = spec({value.get("name"): value.get("spec") or {}}, around)[str(value.get("name"))]
        return told

    return tell


def _without(value: Any, names: Collection[str]) -> Any:
    return {key: one for key, one in value.items() if key not in names} if isinstance(value, Mapping) else value


# Small classes


def knowing_size(of: Rule, *size: str) -> Rule:
    """An object inside which it is known whether its smallest class has one or two people; ``size`` is where that stands."""

    def tell(value: Any, around: Around) -> Any:
        found = value
        for key in size:
            found = found.get(key) if isinstance(found, Mapping) else None
        return of(value, replace(around, small=count(found, around) == FEWER))

    return tell


def unless_small(rule: Rule, small: Rule) -> Rule:
    """Another rule where the smallest class has one or two people."""
    return lambda value, around: (small if around.small else rule)(value, around)


def of_class(told: Rule) -> Rule:
    """A class; of one with one or two people nothing is told but that."""

    def tell(value: Any, around: Around) -> Any:
        if not isinstance(value, Mapping):
            return LEFT_OUT
        sizes = [value.get(key) for key in ("records", "people") if value.get(key) is not None]
        if not sizes or any(not isinstance(size, int) or size < SMALL for size in sizes):
            return {"records": FEWER, **({"released": value["released"]} if "released" in value else {})}
        return told(value, around)

    return tell


def labels_only(of: Rule) -> Rule:
    """The labels of a class, nothing of one that is small."""

    def tell(value: Any, around: Around) -> Any:
        told = of(value, around)
        return {"labels": told["labels"]} if isinstance(told, Mapping) and "labels" in told else LEFT_OUT

    return tell


def class_sizes(value: Any, around: Around) -> Any:
    """How many classes have which size; those of one and two people together."""
    if not isinstance(value, list):
        return LEFT_OUT
    few = sum(often for size, often in value if size < SMALL)
    return [*([[FEWER, count(few, around)]] if few else []), *([s, n] for s, n in value if s >= SMALL)]


def group_sizes(value: Any, around: Around) -> Any:
    """Sizes of groups, and how many groups have them."""
    if not isinstance(value, Mapping):
        return None if value is None else LEFT_OUT
    return {str(size): often for size, often in value.items() if str(size).isdigit() and int(size) >= SMALL}


def key_sizes(value: Any, around: Around) -> Any:
    """People by the size of their smallest key; a single small count would follow from the others and from the whole."""
    if not isinstance(value, Mapping):
        return LEFT_OUT
    told = drop_left_out({str(key): count(one, around) for key, one in value.items()})
    return LEFT_OUT if FEWER in told.values() else told


# What models reach


def tells(name: object) -> str:
    """What the figure of a model tells of, as the model declares it; the name may have a column, a number or a part behind it."""
    model = MODELS.get(re.split(r"[ ().]", str(name))[0])
    return "" if model is None else model.tells


def achievement(name: object, value: Any, around: Around) -> Any:
    """What a model reaches: a count of people, a risk, or a figure of values; nothing of what is one of several figures."""
    if isinstance(value, Mapping):
        return drop_left_out({str(key): achievement(name, one, around) for key, one in value.items()})
    kind = "" if "." in str(name).partition(" ")[0] else tells(name)
    if kind in (PEOPLE, RELEASED):
        return FEWER if around.small or count(value, around) == FEWER else number(value, around)
    return number(value, around) if kind else LEFT_OUT


def by_model(value: Any, around: Around) -> Any:
    """What models reach, by their names."""
    if not isinstance(value, Mapping):
        return LEFT_OUT
    return drop_left_out({str(name): achievement(name, one, around) for name, one in value.items()})


def verdict(told: Rule) -> Rule:
    """How a table stands to a model, with what it reaches."""

    def tell(value: Any, around: Around) -> Any:
        found = told(value, around)
        if isinstance(found, dict) and "achieved" in value:
            reached = achievement(value.get("name"), value["achieved"], around)
            found |= {} if reached is LEFT_OUT else {"achieved": reached}
        return found

    return tell


# One or two suppressed records


def is_few_suppressed(value: Any) -> bool:
    """Whether one or two records are suppressed, as is said, or as follows from those that are released."""
    if not isinstance(value, Mapping):
        return False
    rows, released = value.get("rows"), value.get("released")
    gone = rows - released if isinstance(rows, int) and isinstance(released, int) else 0
    said = value.get("suppressed")
    return 0 < gone < SMALL or (isinstance(said, (int, float)) and 0 < said < SMALL)


def has_several_classes(value: Mapping[str, Any]) -> bool:
    """Whether there are several classes: a single one has all released records."""
    classes = value.get("classes")
    return isinstance(classes, int) and classes > 1


def where_few_are_suppressed(few: Fields, several: Fields, otherwise: Rule) -> Rule:
    """Less is told where one or two records are suppressed: ``few``, and of ``several`` classes a little more."""

    def choose(value: Any, around: Around) -> Any:
        if not is_few_suppressed(value):
            return otherwise(value, around)
        return obj({**few, **(several if has_several_classes(value) else {})})(value, around)

    return choose


def tells_of_few(figure: str, model: str) -> bool:
    """Whether what a node reaches tells how many are suppressed where few are, or which values they have."""
    return tells(model) == COMPARED or (figure == "achieved" and tells(model) == RELEASED)


def of_node(told: Fields, by_released: Collection[str], by_smallest: Collection[str]) -> Rule:
    """A node of a lattice, and what models reach in it; ``by_released`` and ``by_smallest`` are hidden where few are suppressed."""

    def tell(value: Any, around: Around) -> Any:
        if not isinstance(value, Mapping):
            return None if value is None else LEFT_OUT
        hidden: tuple[str, ...] = ()
        if is_few_suppressed(value):
            hidden = (*by_released, *(() if has_several_classes(value) else by_smallest))
        found = obj(told)(_without(value, hidden), around)
        for key, size in (("achieved", "smallest"), ("reached", "k")):
            if isinstance(value.get(key), Mapping) and key not in hidden:
                small = count(value.get(size), around) in (FEWER, LEFT_OUT)
                reached = {n: one for n, one in value[key].items() if not (hidden and tells_of_few(key, n))}
                found[key] = by_model(reached, replace(around, small=small))
        return found

    return tell


def node_with_classes(few: Fields, otherwise: Fields) -> Rule:
    """A node with its classes. Where one or two records are suppressed, their sizes add up to how many are not."""
    rules = {True: obj(few), False: obj(otherwise)}
    return lambda value, around: rules[isinstance(value, Mapping) and is_few_suppressed(value.get("node"))](value, around)


def flat(told: Fields, few: Collection[str], several: Collection[str], hidden: Collection[str]) -> Rule:
    """The main figures of a setting, and its parameters beside them: a number for what has no rule."""

    def tell(value: Any, around: Around) -> Any:
        if not isinstance(value, Mapping):
            return None if value is None else LEFT_OUT
        if is_few_suppressed(value):
            kept = (*few, *(several if has_several_classes(value) else ()))
            value = {name: one for name, one in value.items() if name in kept}
        return drop_left_out({str(k): told.get(k, number)(one, around) for k, one in value.items() if k not in hidden})

    return tell


# Attacks


def attack_figures(value: Any, around: Around) -> Any:
    """Figures of an attack: whole numbers count people or records, and so do expected numbers.

    Not how much more likely something is than in the whole table: beside a release that tells of who is not in it.
    """
    if not isinstance(value, Mapping):
        return LEFT_OUT
    found = {
        str(name): number(one, around)
        if isinstance(one, float) and str(name).endswith(("confidence", "chance", "share", "distance"))
        else count(one, around)
        for name, one in value.items()
        if not str(name).endswith("gain")
    }
    return drop_left_out(found)


def without_distances(told: Rule, *remedies: str) -> Rule:
    """An attack whose ``remedies``, for programs and for people, are told without distances to the whole table."""

    def tell(value: Any, around: Around) -> Any:
        if isinstance(value, Mapping):
            measured = ["t" in (one.get("parameters") or {}) for one in value.get("prevented_by", ())]
            value = {
                key: [one for i, one in enumerate(said) if not (i < len(measured) and measured[i])] if key in remedies else said
                for key, said in value.items()
            }
        return told(value, around)

    return tell
