"""What a document says of the columns of a table, and changes of it, in a copy that is to be saved.

A column may take a part of its description from an *attribute* that several tables share: what is said there is changed there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from velado.operations import OPERATIONS
from velado.project.document import ATTRIBUTE_KEYS, UNITS
from velado.results import Discreet
from velado.schema.columns import ROLES
from velado.service.projects.document import Document

LEFT_OUT, UNDECIDED = "left-out", "undecided"
CHOICES = (*ROLES, LEFT_OUT, UNDECIDED)
DROP = "drop"
READING = ("type", "format")
"""What is true of a column whatever its role."""
FITTING = {
    "identifier": (),
    "quasi-identifier": ("hierarchy", "missing"),
    "sensitive": ("hierarchy", "missing", "variants", "exposure", "known", "operation"),
    "insensitive": ("exposure", "known", "operation"),
}
"""What may be kept when a column gets this role; operations only from one role of these two to the other."""
PASSING = ("sensitive", "insensitive")
"""Columns with these roles pass through: whether others may know them is a question."""
KNOWN, UNSAID = "known", ""
ANSWERS = (UNSAID, KNOWN, "possibly", "never")
"""Whether others know a column: nothing is said; they do (a quasi-identifier); they could; only the person and the keeper do."""


@dataclass(frozen=True, repr=False)
class Said(Discreet):
    """What is said of a column. ``role`` is as people choose it; ``shared``: parts of it stand at an attribute of several tables."""

    role: str
    spec: Mapping[str, Any]
    attribute: str
    listed: bool
    shared: bool = False

    @property
    def operation(self) -> str | None:
        """The name of its operation; identifiers are suppressed if nothing is said."""
        given = self.spec.get("operation")
        if given is None:
            return "suppress" if self.role == "identifier" else None
        return str(next(iter(given))) if isinstance(given, Mapping) else str(given)

    @property
    def arguments(self) -> dict[str, Any]:
        """The parameters of its operation, the short form written out."""
        given = self.spec.get("operation")
        if not isinstance(given, Mapping) or not given:
            return {}
        ((name, told),) = list(given.items())[:1]
        if isinstance(told, Mapping):
            return dict(told)
        main = OPERATIONS[name].main if name in OPERATIONS else None
        return {} if main is None or told is None else {main: told}


def said_of(part: Document, name: str) -> Said:
    """What is said of a column, at its own place and at its attribute."""
    column = part.column(name)
    if column is None:
        rest = {"drop": LEFT_OUT, "insensitive": "insensitive"}.get(part.rest, UNDECIDED)
        return Said(rest, {}, name, False)
    role = LEFT_OUT if column.spec.get("operation") == DROP else column.role or UNDECIDED
    return Said(role, column.spec, column.attribute, True, bool(column.shared))


def set_role(part: Document, name: str, role: str, suggested: Mapping[str, Any]) -> None:
    """Give a column another role; what does not go with it is taken away, what was suggested for it is taken over."""
    said = said_of(part, name)
    if role == said.role and said.listed:
        return
    if role == UNDECIDED or (role == LEFT_OUT and part.rest == DROP):
        part.put_column(name, None)
        return
    own = _own(part, name)
    kept = {key: own[key] for key in ("attribute",) if key in own}
    if role == LEFT_OUT:
        part.put_column(name, {"role": "identifier", "operation": DROP, **kept})
        return
    place = part.attribute_of(name, "role")
    fitting = _fitting(own if place is None else place, said.role, role)
    if place is not None:
        place.clear()
        place.update({"role": role, **fitting})
        part.put_column(name, own)
        return
    part.put_column(name, {"role": role, **_suggested_spec(suggested, role, said.listed), **fitting, **kept})


def set_known(part: Document, name: str, answer: str, suggested: Mapping[str, Any]) -> bool:
    """Say whether others know a column; what they know is a quasi-identifier. False: it does not pass through, nothing is changed."""
    said = said_of(part, name)
    if said.role not in PASSING:
        return False
    if answer == KNOWN:
        set_role(part, name, "quasi-identifier", suggested)
        return True
    if not said.listed:
        part.put_column(name, {"role": said.role})
    part.describe(name, {"known": answer or None})
    return True


def take(part: Document, name: str, suggested: Mapping[str, Any], role: str) -> None:
    """Say of a column what was suggested for it, instead of what is said."""
    if part.attribute_of(name, "role") is not None or role not in ROLES:
        set_role(part, name, role, suggested)
        return
    kept = {key: value for key, value in _own(part, name).items() if key == "attribute"}
    part.put_column(name, {**suggested, "role": role, **kept})


def _own(part: Document, name: str) -> dict[str, Any]:
    column = part.column(name)
    return {} if column is None else column.own


def _fitting(before: Mapping[str, Any], role: str, now: str) -> dict[str, Any]:
    """What is said of a column that stays true in another role."""
    keys = [key for key in (*READING, *FITTING[now]) if key != "operation" or {role, now} <= set(PASSING)]
    return {key: before[key] for key in keys if before.get(key) is not None}


def _suggested_spec(suggested: Mapping[str, Any], role: str, listed: bool) -> dict[str, Any]:
    """What was suggested for a column in a role: all of it for the suggested one, else how it is read."""
    if suggested.get("role") == role and not listed:
        return {key: value for key, value in suggested.items() if key != "role"}
    keys = (*READING, *(("hierarchy",) if role == "quasi-identifier" else ()))
    return {key: suggested[key] for key in keys if suggested.get(key) is not None}


def accept(part: Document, suggestion: Mapping[str, Any], header: Iterable[str]) -> int:
    """Take over what was suggested for all columns that have no role yet, and for the rest; how many got one.

    A table of which nothing is said yet takes the whole suggestion over, models and method too.
    """
    found, before = Document(suggestion.get("document") or {}), part.columns
    described = {name: column.own for name, column in found.columns.items()} or {
        one["name"]: one["spec"] for one in suggestion.get("columns", ()) if one.get("kept")
    }
    new = {name: dict(described[name]) for name in header if name in described and name not in before}
    for name, spec in new.items():
        part.put_column(name, spec)
    taken = [] if part.rest else ["rest"]
    if not before:
        taken += [] if any(part.unit) else UNITS
        taken += [] if part.is_light else [key for key in ("models", "method") if not part.with_shared().get(key)]
    for key in taken:
        if found.said.get(key):
            part.put(key, found.said[key])
    return len(new)


def columns_of(document: Document, attribute: str) -> list[tuple[str, str]]:
    """Tables and columns of an attribute."""
    return [
        (table, name)
        for table, part in document.tables.items()
        for name, column in part.columns.items()
        if column.attribute == attribute
    ]


def share(part: Document, name: str) -> None:
    """Say once for all tables what is said of a column: its description moves to its attribute."""
    column = part.column(name)
    if part.whole is None or column is None:
        return
    spec = {key: value for key, value in column.spec.items() if key in ATTRIBUTE_KEYS}
    part.whole.put("attributes", {**_shared_specs(part.whole), column.attribute: spec})
    for other, place in columns_of(part.whole, column.attribute):
        part.whole.table(other).put_column(place, {} if place == column.attribute else {"attribute": column.attribute})


def unshare(document: Document, attribute: str) -> None:
    """Say for each column what was said once for all of an attribute."""
    for table, name in columns_of(document, attribute):
        part = document.table(table)
        part.put_column(name, part.columns[name].spec)
    document.put("attributes", {name: spec for name, spec in _shared_specs(document).items() if name != attribute} or None)


def _shared_specs(document: Document) -> dict[str, Any]:
    return {name: shared.own for name, shared in document.attributes.items()}


def join(document: Document, attribute: str, wanted: bool) -> None:
    """Whether releases must match by an attribute as the originals do."""
    listed = [one for one in document.joinable if one != attribute] + ([attribute] if wanted else [])
    document.put("joinable", listed or None)
