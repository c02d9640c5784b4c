"""Results, profiles, suggestions and documents as who may not read records sees them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from velado.service.access.ownership import roles_of
from velado.service.access.redaction.rules import LEFT_OUT, Around
from velado.service.access.redaction.table import DOCUMENT, OPEN, PROFILE, RULES, SUGGESTION

NO_HEADER = "no-header"
Roles = Mapping[str, Collection[str]]


def redact_result(result: Mapping[str, Any], kind: str, roles: Roles | None = None) -> dict[str, Any]:
    """The result of a job. ``roles`` are those of the project's columns; without them no column is shown."""
    rule = RULES.get(kind)
    shown = frozenset(name for name, given in (roles or {}).items() if given and set(given) <= OPEN)
    told = LEFT_OUT if rule is None else rule(result, Around(shown=shown))
    return {} if told is LEFT_OUT or told is None else dict(told)


def redact_profile(
    profile: Mapping[str, Any], suggestion: Mapping[str, Any] | None = None, roles: Roles | None = None
) -> dict[str, Any]:
    """What an inspection found; a column is shown if it was suggested to, and no project says otherwise."""
    shown = _visible_columns(profile.get("columns", ()), suggestion, roles)
    told = dict(PROFILE(profile, Around(shown=shown)))
    if has_no_header(profile):
        names = {str(c.get("name")): f"column_{i + 1}" for i, c in enumerate(profile["columns"])}
        told["columns"] = [{**column, "name": names[column["name"]]} for column in told["columns"]]
        return {key: told[key] for key in ("schema", "rows", "columns", "dialect", "notes") if key in told}
    return told


def redact_suggestion(suggestion: Mapping[str, Any], roles: Roles | None = None) -> dict[str, Any]:
    """What was suggested; hierarchies list values, and are told of columns that are shown."""
    columns = [{"name": c.get("name"), "role": (c.get("spec") or {}).get("role")} for c in suggestion.get("columns", ())]
    around = Around(shown=_visible_columns(columns, None, roles))
    return dict(SUGGESTION(suggestion, around))


def redact_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """A project's document without values of its tables: what it substitutes, and what its hierarchies list."""
    shown = frozenset(name for name, given in roles_of([document]).items() if given <= OPEN)
    return dict(DOCUMENT(document, Around(shown=shown)))


def has_no_header(profile: Mapping[str, Any] | None) -> bool:
    """Whether the names of the columns seem to be the data of a person."""
    return any(note.get("code") == NO_HEADER for note in (profile or {}).get("notes", ()) or ())


def _visible_columns(columns: Any, suggestion: Mapping[str, Any] | None, roles: Roles | None) -> frozenset[str]:
    suggested = {c.get("name"): (c.get("spec") or {}).get("role") for c in (suggestion or {}).get("columns", ()) or ()}
    found = set()
    for column in columns:
        name = str(column.get("name"))
        said = {column.get("role"), suggested.get(name, column.get("role")), *(roles or {}).get(name, ())}
        if said <= OPEN:
            found.add(name)
    return frozenset(found)
