"""What a document says of the columns of a table, and changes of it: plain mappings in, plain mappings changed.

A column may take a part of its description from an *attribute* that several tables share: what is said there is changed there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from velado.operations import OPERATIONS
from velado.project.document import ATTRIBUTE_KEYS
from velado.results import Discreet
from velado.schema.columns import ROLES

LEFT_OUT, UNDECIDED = "left-out", "undecided"
CHOICES = (*ROLES, LEFT_OUT, UNDECIDED)
DROP = "drop"
READING = ("type", "format")
"""What is true of a column whatever its role."""
FITTING = {
    "identifier": (),
    "quasi-identifier": ("hierarchy", "missing"),
    "sensitive": ("hierarchy", "missing", "twins", "published", "operation"),
    "insensitive": ("published", "operation"),
}
"""What may be kept when a column gets this role; operations only from one role of these two to the other."""
Document = dict[str, Any]


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


def part_of(document: Document, table: str | None) -> Document:
    """The part of a document that describes a table, to be changed."""
    part: Document = document if table is None else document["tables"][table]
    return part


def said_of(document: Mapping[str, Any], table: str | None, name: str) -> Said:
    """What is said of a column, at its own place and at its attribute."""
    part = document if table is None else document["tables"][table]
    columns = part.get("columns") or {}
    if name not in columns:
        rest = {"drop": LEFT_OUT, "insensitive": "insensitive"}.get(str(part.get("rest")), UNDECIDED)
        return Said(rest, {}, name, False)
    own = own_of(columns[name])
    attribute = str(own.get("attribute") or name)
    above = (document.get("attributes") or {}).get(attribute) if table is not None else None
    spec = {**(above if isinstance(above, Mapping) else {}), **own}
    role = LEFT_OUT if spec.get("operation") == DROP else str(spec.get("role") or UNDECIDED)
    return Said(role, spec, attribute, True, bool(above))


def own_of(given: Any) -> dict[str, Any]:
    """A description as a mapping, where the role alone may stand."""
    return dict(given) if isinstance(given, Mapping) else ({} if given is None else {"role": given})


def set_role(document: Document, table: str | None, name: str, role: str, suggested: Mapping[str, Any]) -> None:
    """Give a column another role; what does not go with it is taken away, what was suggested for it is taken over."""
    part, said = part_of(document, table), said_of(document, table, name)
    columns = part.setdefault("columns", {})
    if role == said.role and said.listed:
        return
    if role == UNDECIDED or (role == LEFT_OUT and part.get("rest") == DROP):
        columns.pop(name, None)
        return
    own = own_of(columns.get(name))
    if role == LEFT_OUT:
        kept = {key: own[key] for key in ("attribute",) if key in own}
        columns[name] = {"role": "identifier", "operation": DROP, **kept}
        return
    place = _place(document, table, name, "role")
    before = place if place is not None else own
    fitting = _fitting(before, said.role, role)
    if place is not None:
        place.clear()
        place.update({"role": role, **fitting})
        columns[name] = own
        return
    taken = {key: own[key] for key in ("attribute",) if key in own}
    columns[name] = {"role": role, **_suggested(suggested, role, said.listed), **fitting, **taken}


def take(document: Document, table: str | None, name: str, suggested: Mapping[str, Any], role: str) -> None:
    """Say of a column what was suggested for it, instead of what is said."""
    columns = part_of(document, table).setdefault("columns", {})
    if _place(document, table, name, "role") is not None or role not in ROLES:
        set_role(document, table, name, role, suggested)
        return
    kept = {key: value for key, value in own_of(columns.get(name)).items() if key == "attribute"}
    columns[name] = {**suggested, "role": role, **kept}


def _fitting(before: Mapping[str, Any], role: str, now: str) -> dict[str, Any]:
    """What is said of a column that stays true in another role."""
    passing = {"sensitive", "insensitive"}
    keys = [key for key in (*READING, *FITTING[now]) if key != "operation" or {role, now} <= passing]
    return {key: before[key] for key in keys if before.get(key) is not None}


def _suggested(suggested: Mapping[str, Any], role: str, listed: bool) -> dict[str, Any]:
    """What was suggested for a column in a role: all of it for the suggested one, else how it is read."""
    if suggested.get("role") == role and not listed:
        return {key: value for key, value in suggested.items() if key != "role"}
    keys = (*READING, *(("hierarchy",) if role == "quasi-identifier" else ()))
    return {key: suggested[key] for key in keys if suggested.get(key) is not None}


def _place(document: Document, table: str | None, name: str, key: str) -> Document | None:
    """The attribute where something is said of a column; None: it stands, or is to stand, at the column itself."""
    if table is None:
        return None
    own = own_of((part_of(document, table).get("columns") or {}).get(name))
    above = (document.get("attributes") or {}).get(str(own.get("attribute") or name))
    return above if isinstance(above, dict) and key not in own and above else None


def put(document: Document, table: str | None, name: str, changes: Mapping[str, Any]) -> None:
    """Say something else of a column, where it is said; None takes it away."""
    columns = part_of(document, table).setdefault("columns", {})
    own = columns[name] = own_of(columns.get(name))
    for key, value in changes.items():
        place = _place(document, table, name, key) if key in ATTRIBUTE_KEYS else None
        into = own if place is None else place
        into.pop(key, None)
        if value is not None:
            into[key] = value


def accept(document: Document, table: str | None, suggestion: Mapping[str, Any], header: Iterable[str]) -> int:
    """Take over what was suggested for all columns that have no role yet, and for the rest; how many got one.

    A table of which nothing is said yet takes the whole suggestion over, models and method too.
    """
    part, found = part_of(document, table), suggestion.get("document") or {}
    described = found.get("columns") or {
        one["name"]: one["spec"] for one in suggestion.get("columns", ()) if one.get("kept")
    }
    columns = part.setdefault("columns", {})
    new = {name: dict(described[name]) for name in header if name in described and name not in columns}
    whole = not columns
    columns.update(new)
    if not part.get("rest") and found.get("rest"):
        part["rest"] = found["rest"]
    for key in ("person", "household"):
        if whole and found.get(key) and not (part.get("person") or part.get("household")):
            part[key] = found[key]
    for key in ("models", "method"):
        if (
            whole
            and found.get(key)
            and not part.get(key)
            and not document.get(key)
            and part.get("anonymization") != "light"
        ):
            part[key] = found[key]
    return len(new)


def columns_of(document: Mapping[str, Any], attribute: str) -> list[tuple[str, str]]:
    """Tables and columns of an attribute."""
    return [
        (table, name)
        for table, part in (document.get("tables") or {}).items()
        for name, given in (part.get("columns") or {}).items()
        if str(own_of(given).get("attribute") or name) == attribute
    ]


def share(document: Document, table: str, name: str) -> None:
    """Say once for all tables what is said of a column: its description moves to its attribute."""
    said = said_of(document, table, name)
    spec = {key: value for key, value in said.spec.items() if key in ATTRIBUTE_KEYS}
    document.setdefault("attributes", {})[said.attribute] = spec
    for other, column in columns_of(document, said.attribute):
        document["tables"][other]["columns"][column] = {} if column == said.attribute else {"attribute": said.attribute}


def unshare(document: Document, attribute: str) -> None:
    """Say for each column what was said once for all of an attribute."""
    spec = (document.get("attributes") or {}).pop(attribute, {})
    for table, column in columns_of(document, attribute):
        columns = document["tables"][table]["columns"]
        columns[column] = {**spec, **own_of(columns[column])}
    if not document.get("attributes"):
        document.pop("attributes", None)


def join(document: Document, attribute: str, wanted: bool) -> None:
    """Whether releases must match by an attribute as the originals do."""
    listed = [one for one in document.get("joinable") or () if one != attribute] + ([attribute] if wanted else [])
    document.pop("joinable", None)
    if listed:
        document["joinable"] = listed
