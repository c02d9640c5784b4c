"""From a table and its schema to the frequency table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from velado.engines import Counts, Table, open_table
from velado.errors import InputError, suggest
from velado.frequency import FrequencyTable, Sensitive
from velado.hierarchies import Hierarchy, build
from velado.hierarchies.build import missing_values
from velado.hierarchies.calendar import date_scale, parse_dates
from velado.hierarchies.labels import numbers_of
from velado.hierarchies.numbers import parse_all, parse_number
from velado.hierarchies.scale import Scale
from velado.models import PrivacyModel
from velado.models.base import OnSensitive
from velado.project.document import Project
from velado.project.treating import as_released
from velado.schema import Column, Schema
from velado.values import Text


def count_table(
    table: Table, schema: Schema, models: Sequence[PrivacyModel] = (), folder: Path | None = None
) -> FrequencyTable:
    """One GROUP BY per sensitive attribute (one alone without any); hierarchies built and checked.

    Sensitive columns are counted as they will be published, after their operations.
    """
    table = as_released(table, schema, folder)
    quasi = schema.names("quasi-identifier")
    groups = _attributes(schema, models)
    counted = [table.count([*quasi, *columns]) for columns in groups] or [table.count(quasi)]
    if not counted[0].counts.sum():
        raise no_rows(table)
    hierarchies = [column_hierarchy(schema[name], _values(counted, name), folder) for name in quasi]
    sensitive = [_sensitive(schema, columns, c, folder) for columns, c in zip(groups, counted, strict=False)]
    return FrequencyTable.build(hierarchies, counted, sensitive)


def count_columns(
    table: Table, schema: Schema, folder: Path | None = None
) -> tuple[tuple[Hierarchy, ...], tuple[Sensitive, ...], tuple[np.ndarray, ...]]:
    """Hierarchies, sensitive columns with their distribution, and records of each leaf, from counts of single columns."""
    hierarchies, records = [], []
    for name in schema.names("quasi-identifier"):
        counts = table.count([name])
        if not counts.counts.sum():
            raise no_rows(table)
        h = column_hierarchy(schema[name], _values([counts], name), folder)
        hierarchies.append(h)
        codes = counts.encoded(name, h.encode)
        records.append(np.bincount(codes, weights=counts.counts, minlength=len(h.leaves)).astype(np.int64))
    sensitive, first = [], 0
    for name in schema.names("sensitive"):
        counts = table.count([name])
        attribute = replace(_sensitive(schema, (name,), counts, folder), first=first)
        own = np.bincount(attribute.encode(counts) - first, weights=counts.counts, minlength=attribute.width)
        sensitive.append(replace(attribute, expected=own / own.sum()))
        first += attribute.width
    return tuple(hierarchies), tuple(sensitive), tuple(records)


def no_rows(table: Table) -> InputError:
    """The error for a table without records."""
    return InputError("no-rows", "the table has a header but no rows", file=table.source.name)


def _attributes(schema: Schema, models: Sequence[PrivacyModel]) -> list[tuple[str, ...]]:
    """Which columns are counted together: each sensitive one, and the strict readings that models ask for."""
    columns = schema.names("sensitive")
    groups: list[tuple[str, ...]] = [(c,) for c in columns]
    for model in models:
        column = model.sensitive_column
        if column is not None and column not in columns:
            raise InputError(
                "not-sensitive", f"{model.name} protects this column, but its role is not sensitive", column=column,
                hint="Give the column the role 'sensitive', or name another column in the model.",
            )  # fmt: skip
        if isinstance(model, OnSensitive) and (others := model.others(columns)):
            groups.append((*others, model.column))
    return list(dict.fromkeys(groups))


def _values(counted: Sequence[Counts], name: str) -> list[Text]:
    found: dict[Text, None] = {}
    for c in counted:
        found.update(dict.fromkeys(c.dictionaries[c.names.index(name)]))
    return sorted(found, key=lambda v: (v is None, v or ""))


def column_hierarchy(column: Column, values: Sequence[Text], folder: Path | None) -> Hierarchy:
    """The hierarchy of a column for the values that occur."""
    _check_type(column, [v for v in values if v is not None])
    hierarchy = build(
        column.name, column.hierarchy, values, format=column.format, missing=column.missing, folder=folder
    )
    return hierarchy if hierarchy.scale is not None else replace(hierarchy, scale=_scale(column, hierarchy))


def _scale(column: Column, hierarchy: Hierarchy) -> Scale | None:
    """Order and distances of a column's values: of its type, or of numbers where all values are numbers.

    A hierarchy from a file may have leaves that are no values of the type: then there is none.
    """
    present = [v for v in hierarchy.leaves if v is not None]
    try:
        if column.type == "date":
            known = date_scale(parse_dates(column.name, present, column.format), column.format)
        elif column.type in ("integer", "number"):
            known = Scale(np.array([parse_number(v) for v in present]))
        else:
            found = numbers_of(present)
            if found is None:
                return None
            known = Scale(found)
    except (ValueError, InputError):
        return None
    numbers = np.full(len(hierarchy.leaves), np.nan)
    numbers[[i for i, v in enumerate(hierarchy.leaves) if v is not None]] = known.numbers
    return replace(known, numbers=numbers)


def _check_type(column: Column, values: Sequence[str]) -> None:
    """The values are of the type that the project says."""
    if column.type in ("integer", "number"):
        numbers = parse_all(column.name, values)
        broken = [v for v, x in zip(values, numbers, strict=True) if column.type == "integer" and not x.is_integer()]
        if broken:
            raise InputError("not-an-integer", "values are not whole numbers", column=column.name, values=broken)
    elif column.type == "date":
        parse_dates(column.name, values, column.format)


def _sensitive(schema: Schema, columns: tuple[str, ...], counts: Counts, folder: Path | None) -> Sensitive:
    *others, name = columns
    labels = {c: tuple(ordered(_values([counts], c))) for c in columns}
    column = schema[name]
    if column.missing == "reject" and None in labels[name]:
        raise missing_values(name)
    tree = None if column.hierarchy is None else column_hierarchy(column, labels[name], folder)
    return Sensitive(name, labels[name], tree, tuple(others), tuple(labels[c] for c in others))


def ordered(values: Sequence[Text]) -> list[Text]:
    """Numbers by value, other texts alphabetically, missing last: the order of ordered t-closeness."""
    present = [v for v in values if v is not None]
    try:
        present.sort(key=parse_number)
    except ValueError:
        present.sort()
    return [*present, None] if len(present) < len(values) else list(present)


def project_hierarchy(project: Project | str | Path, column: str) -> Hierarchy:
    """The hierarchy of one column of a project, built from its data and checked."""
    if not isinstance(project, Project):
        project = Project.load(project)
    with open_table(project.source, project.folder) as table:
        schema = Schema(project.columns)
        if column not in schema:
            raise InputError(
                "unknown-column", "the project has no such column", column=column, hint=suggest(column, schema)
            )
        if schema[column].role == "identifier":
            raise InputError("identifier", "identifiers are not generalized and not shown", column=column)
        Schema([schema[column]]).fitted(table.header, "insensitive", table.source.name)
        return column_hierarchy(schema[column], _values([table.count([column])], column), project.folder)
