"""From a column's description to its hierarchy.

A description is a mapping with one builder's name as key, as in a project file:
``{intervals: [5, 10, 20]}``. `BUILDERS` is the registry; the reference docs and ``velado init``
read it. Each builder gets the column's `Leaves` and returns a hierarchy of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from velado.dates import Formats
from velado.errors import InputError, Problems, suggest
from velado.hierarchies import calendar, categories, known_lists, numbers, rare_values, texts
from velado.hierarchies.files import from_file
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.leaves import Leaves
from velado.hierarchies.preview import HierarchyPreview, preview
from velado.sentences import Sentence
from velado.tables.files import path_of
from velado.values import ROOT, Text

Builder = Callable[[str, Any, Leaves], Hierarchy]

BUILDERS: dict[str, Builder] = {
    "intervals": numbers.intervals,
    "mask": texts.mask,
    "path": texts.path,
    "prefix": texts.prefix,
    "dates": calendar.dates,
    "known": known_lists.known_list,
    "frequency": rare_values.frequency,
    "tree": categories.tree,
    "groups": categories.groups,
    "rows": categories.rows,
    "order": categories.order,
}
OWN_LEAVES = ("tree", "groups", "rows", "order")
"""Builders that list their leaves themselves; the others take them from the data."""


def build(
    column: str,
    spec: Any,
    values: Sequence[Text] | Mapping[Text, int] | Mapping[str, int],
    *,
    format: Formats = None,
    missing: str = "own-category",
    folder: Path | None = None,
) -> Hierarchy:
    """The hierarchy of a column, checked against the values that occur, alone or with their numbers of records.

    >>> h = build("age", {"intervals": [10]}, ["34", "37", "52"])
    >>> h.rows()
    [['34', '30-39', '*'], ['37', '30-39', '*'], ['52', '50-59', '*']]
    """
    hierarchy, file = _build_unchecked(column, spec, values, format, missing, folder)
    hierarchy.encode(list(values), file)
    return hierarchy


def build_unchecked(
    column: str,
    spec: Any,
    values: Sequence[Text] | Mapping[Text, int] | Mapping[str, int],
    *,
    format: Formats = None,
    missing: str = "own-category",
    folder: Path | None = None,
) -> Hierarchy:
    """The hierarchy of a column, also where it does not cover all values that occur: to be mended."""
    return _build_unchecked(column, spec, values, format, missing, folder)[0]


def build_preview(
    column: str,
    spec: Any,
    values: Sequence[Text] | Mapping[Text, int] | Mapping[str, int],
    *,
    format: Formats = None,
    missing: str = "own-category",
    folder: Path | None = None,
) -> HierarchyPreview:
    """What `build` would make of a column, at a glance; values that the hierarchy does not cover are told, not refused.

    >>> print(build_preview("ill", {"tree": {"heart": ["angina"], "lung": ["asthma"]}}, {"asthma": 7, "flu": 1}))
    ill: 2 values, 3 levels
    level  groups  values per group  records per group  for example
        0       2                 1                  7  asthma, angina
        1       2                 1                  7  lung, heart
        2       1                 2                  7  *
    1 value(s) of the hierarchy are not in the data.
    1 value(s) of the data are not in the hierarchy, for example: flu
    """
    hierarchy, _ = _build_unchecked(column, spec, values, format, missing, folder)
    return preview(hierarchy, values)


def _build_unchecked(
    column: str,
    spec: Any,
    values: Sequence[Text] | Mapping[Text, int] | Mapping[str, int],
    format: Formats,
    missing: str,
    folder: Path | None,
) -> tuple[Hierarchy, Path | None]:
    """The hierarchy, and the file that it came from."""
    records = {v: n for v, n in values.items() if v is not None} if isinstance(values, Mapping) else None
    values = list(values)
    present = [v for v in values if v is not None]
    has_missing = len(present) < len(values)
    if has_missing and missing == "reject":
        raise missing_values(column)
    top = True
    file = None
    if isinstance(spec, Hierarchy):
        hierarchy, top = spec, False
    elif spec is None:
        hierarchy = _of_data(Hierarchy.from_rows(column, [[v, ROOT] for v in present] or [[None, ROOT]]))
    else:
        hierarchy, top, file = _from_mapping(column, spec, Leaves(present, format, records), folder)
    if has_missing:
        hierarchy = hierarchy.with_missing()
    return (hierarchy.with_root() if top else hierarchy), file


def missing_values(column: str) -> InputError:
    """The error for missing values in a column that must not have any."""
    return InputError(
        "missing-values",
        "the column has missing values and its rule is 'missing: reject'",
        column=column,
        hint="Clean the column, or write 'missing: own-category'.",
    )


def check_description(column: str, spec: Any, format: Formats = None) -> None:
    """What is wrong with the description of a hierarchy, whatever the table holds; files are not opened.

    >>> check_description("age", {"intervals": [5, 7]})
    Traceback (most recent call last):
    ...
    velado.errors.InputError: column 'age': the intervals of level 2 are not unions of those of level 1 ('7')
    Choose widths that are multiples of one another, such as [5, 10, 20].
    """
    if spec is None or isinstance(spec, Hierarchy):
        return
    kind, _ = _kind(column, spec)
    if kind == "file":
        _path(column, spec, None)
    else:
        _by_builder(column, kind, spec, Leaves([], format, {}))


def _by_builder(column: str, kind: str, spec: Mapping[str, Any], leaves: Leaves) -> Hierarchy:
    problems = Problems(column)
    with problems.at(kind):
        hierarchy = BUILDERS[kind](column, spec[kind], leaves)
    problems.raise_if_any()
    return hierarchy


def _path(column: str, spec: Mapping[str, Any], folder: Path | None) -> Path:
    problems = Problems(column)
    with problems.at("file"):
        path = path_of(spec["file"], Sentence("the hierarchy file of the column '{column}'", column=column), folder)
    problems.raise_if_any()
    return path


def _kind(column: str, spec: Any) -> tuple[str, dict[str, Any]]:
    """The builder of a description, or "file", and its options."""
    if not isinstance(spec, Mapping):
        raise InputError(
            "bad-hierarchy",
            Sentence("a hierarchy is described by a mapping, got {given}", given=repr(spec)),
            column=column,
            hint="For example {intervals: [5, 10]} or {file: ages.csv}.",
        )
    known = ["file", *BUILDERS]
    kinds = [k for k in spec if k in known]
    options = {k: v for k, v in spec.items() if k not in known}
    if len(kinds) != 1:
        wrong = next(iter(options), "")
        given = ", ".join(map(str, spec)) or Sentence("nothing")
        message = Sentence("a hierarchy needs exactly one of {known}; got {given}", known=known, given=given)
        hint = suggest(str(wrong), known) if wrong and not kinds else ""
        raise InputError("bad-hierarchy", message, column=column, hint=hint)
    usual: dict[str, Any] = {"delimiter": None, "encoding": None} if kinds[0] == "file" else {"top": True}
    problems = Problems(column)
    for option in options:
        if option not in usual:
            message = Sentence("a hierarchy has no option '{option}' here", option=option)
            problems.add(InputError("unknown-option", message, hint=suggest(str(option), usual)), str(option))
    if not isinstance(options.get("top", True), bool):
        message = Sentence("'top' must be true or false, got {given}", given=repr(options["top"]))
        problems.add(InputError("bad-hierarchy", message), "top")
    problems.raise_if_any()
    return kinds[0], {**usual, **options}


def _from_mapping(column: str, spec: Any, leaves: Leaves, folder: Path | None) -> tuple[Hierarchy, bool, Path | None]:
    """The hierarchy, whether it gets a root, and the file that it came from."""
    kind, options = _kind(column, spec)
    if kind == "file":
        path = _path(column, spec, folder)
        return from_file(column, path, **options), False, path
    if not leaves.values and kind not in OWN_LEAVES:
        return _of_data(Hierarchy.from_rows(column, [[None, ROOT]])), options["top"], None
    built = _by_builder(column, kind, spec, leaves)
    return built if kind in OWN_LEAVES else _of_data(built), options["top"], None


def _of_data(hierarchy: Hierarchy) -> Hierarchy:
    """A hierarchy whose leaves were taken from the data."""
    return replace(hierarchy, listed=False)
