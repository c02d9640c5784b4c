"""What a project asks for: its models and its method, as pages show and change them.

In a project of several tables each may have its own, or those that stand at the top for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import Response

from velado.catalogue import catalog
from velado.project.places import POPULATED
from velado.studio.parameters import kind_of
from velado.studio.work import Work

USUAL = "lattice"
"""The method where a project names none."""
Entry = dict[str, Any]


class Chosen(NamedTuple):
    """A model or method that a project asks for, with its parameters."""

    name: str
    parameters: dict[str, Any]

    def written(self) -> dict[str, Any]:
        """As a project file has it."""
        return {self.name: self.parameters}


def entries(kind: str, language: str) -> dict[str, Entry]:
    """What there is of a kind, by name; parameters that are files say so."""
    found = {entry["name"]: entry for entry in catalog(language)[kind]}
    if kind == "models":
        for name, parameter in POPULATED.items():
            if name in found:
                found[name]["parameters"]["properties"][parameter]["x-file"] = True
    return found


def models_of(part: Mapping[str, Any]) -> list[Chosen]:
    """The models of a table."""
    given = part.get("models") or []
    listed: Sequence[Any] = [{name: about} for name, about in given.items()] if isinstance(given, Mapping) else given
    return [
        Chosen(str(name), dict(about) if isinstance(about, Mapping) else {})
        for one in listed
        if isinstance(one, Mapping)
        for name, about in one.items()
    ]


def method_of(part: Mapping[str, Any]) -> Chosen:
    """The method of a table."""
    given = part.get("method")
    if isinstance(given, Mapping) and given:
        name, about = next(iter(given.items()))
        return Chosen(str(name), dict(about) if isinstance(about, Mapping) else {})
    return Chosen(str(given or USUAL), {})


def roles(part: Mapping[str, Any]) -> dict[str, str]:
    """The role of every column that is listed."""
    listed = part.get("columns") or {}
    return {str(n): str(c.get("role", "") if isinstance(c, Mapping) else c) for n, c in listed.items()}


def with_role(part: Mapping[str, Any], role: str) -> list[str]:
    """The columns with a role, in the order of the document."""
    return [name for name, given in roles(part).items() if given == role]


def shared(work: Work, key: str) -> bool:
    """Whether several tables have this in common: it stands at the top, and the chosen table has none of its own."""
    return work.table is not None and key not in work.document["tables"][work.table]


def save(work: Work, key: str, value: Any, back: str, said: str = "") -> Response:
    """Change the models or the method, where they stand."""

    def change(place: dict[str, Any]) -> None:
        if value is None:
            place.pop(key, None)
        else:
            place[key] = value

    return work.save(change, back, said, whole=shared(work, key))


def save_models(work: Work, models: Sequence[Chosen], back: str, said: str = "") -> Response:
    """Other models."""
    return save(work, "models", [model.written() for model in models], back, said)


def limit_of(entry: Entry) -> str | None:
    """The parameter of a method that says how many records may be suppressed; None if it suppresses none."""
    properties = entry["parameters"]["properties"]
    return next((name for name, about in properties.items() if kind_of(about) == "limit"), None)


def requirement(entry: Entry, parameters: Mapping[str, Any], words: Any) -> str:
    """What a model asks for, in signs: k ≥ 5."""
    properties = entry["parameters"]["properties"]
    told = []
    for name, strength in entry["strength"].items():
        value = parameters.get(name, properties[name].get("default"))
        shown = words.number(value, 4) if isinstance(value, (int, float)) else "?"
        told.append(" ".join((strength["symbol"], strength["sign"], shown)))
    return ", ".join(told)
