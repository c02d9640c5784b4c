"""Hierarchies that are tried out by who may not read records: none that asks whether a value is in the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.service.errors import Forbidden

WITHOUT_VALUES = frozenset({"intervals", "dates", "mask", "prefix", "path"})
"""Builders that take all values from the table; the others list them, or tell by their groups which ones there are."""
OPTIONS = frozenset({"top"})
IDENTIFIER = "identifier"


def check_preview(document: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Raise if a description of one's own lists values, or is of a column that the project hides or does not list.

    For who may not read records: how many of the listed values the table has would tell who is in it.
    """
    described = asked.get("description")
    if asked.get("format") is not None:
        # A format that is written out in full is a value.
        raise Forbidden("records.read")
    if described is None:
        return
    role = _role(document, asked.get("table"), asked.get("column"))
    if role is None or role == IDENTIFIER or not _harmless(described):
        raise Forbidden("records.read")


def _harmless(described: Any) -> bool:
    if not isinstance(described, Mapping) or set(described) - WITHOUT_VALUES - OPTIONS:
        return False
    way = described.get("path")
    separator = way.get("separator", "/") if isinstance(way, Mapping) else way
    # A value, or a part of one, as separator: the number of levels would tell whether it occurs.
    return separator is None or (isinstance(separator, str) and not any(c.isalnum() for c in separator))


def _role(document: Mapping[str, Any], table: Any, column: Any) -> str | None:
    """The role of a column in its table, its own or that of its attribute; None if nothing is said."""
    tables = document.get("tables")
    place = tables.get(table) if isinstance(tables, Mapping) else document
    columns = place.get("columns") if isinstance(place, Mapping) else None
    if not isinstance(columns, Mapping) or column not in columns:
        return None
    said = columns[column]
    if not isinstance(said, Mapping):
        return None if said is None else str(said)
    attributes = document.get("attributes")
    shared = attributes.get(str(said.get("attribute", column))) if isinstance(attributes, Mapping) else None
    role = said.get("role", shared.get("role") if isinstance(shared, Mapping) else None)
    return None if role is None else str(role)
