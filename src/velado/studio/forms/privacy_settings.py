"""What a project asks for: its models and its method, as pages show and change them.

In a project of several tables each may have its own, or those that stand at the top for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Response

from velado.choices import catalog
from velado.models import MODELS
from velado.service.projects.document import Chosen
from velado.studio.forms.parameter_form import kind_of
from velado.studio.project_page import ProjectPage

Entry = dict[str, Any]


def entries(kind: str, language: str) -> dict[str, Entry]:
    """What there is of a kind, by name; parameters that are files say so."""
    found = {entry["name"]: entry for entry in catalog(language)[kind]}
    if kind == "models":
        for name, model in MODELS.items():
            for parameter in (one for one, declared in model.parameters.items() if declared.refers == "file"):
                found[name]["parameters"]["properties"][parameter]["x-file"] = True
    return found


def is_shared(work: ProjectPage, key: str) -> bool:
    """Whether several tables have this in common: it stands at the top, and the chosen table has none of its own."""
    return not work.part.has_own(key)


def save(work: ProjectPage, key: str, value: Any, back: str, said: str = "") -> Response:
    """Change the models or the method, where they stand."""
    return work.save(lambda place: place.put(key, value), back, said, whole=is_shared(work, key))


def save_models(work: ProjectPage, models: Sequence[Chosen], back: str, said: str = "") -> Response:
    """Other models."""
    return save(work, "models", [model.as_spec() for model in models], back, said)


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
