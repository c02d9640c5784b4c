"""Settings and models taken over into the document of a project: from a comparison, or from what prevents an attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from velado.methods import METHODS
from velado.models import MODELS, KAnonymity, strength_of
from velado.service.projects.document import Chosen, Document


def adopt_setting(part: Document, setting: Mapping[str, Any]) -> dict[str, Any]:
    """What a document must say so that it is the setting of a comparison: its ``models`` and ``method``, where they change."""
    models, changed = part.models, False
    for name, value in setting.items():
        if name in ("method", "suppression"):
            continue
        having = [said for model, said in models if name in MODELS[model].parameters]
        if not having and name == "k":
            models.insert(0, Chosen(KAnonymity.name, {"k": value}))
        for said in having:
            said[name] = value
        changed = True
    found: dict[str, Any] = {"models": [model.as_spec() for model in models]} if changed else {}
    if "method" in setting or "suppression" in setting:
        found["method"] = _method(part, setting)
    return found


def _method(part: Document, setting: Mapping[str, Any]) -> Any:
    """What a project says of its own method holds for another one as far as that has the parameter."""
    own, said = part.method
    name = str(setting.get("method", own))
    kept = {key: value for key, value in said.items() if key in METHODS[name].parameters}
    if "suppression" in setting:
        kept["suppression"] = setting["suppression"]
    return {name: kept} if kept else name


def add_model(part: Document, model: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The models of a document with one that prevents an attack: added, or as strong as both where it is there already."""
    models = part.models
    said = _find_model(models, model, parameters)
    if said is None:
        models.append(Chosen(model, dict(parameters)))
    else:
        said |= {name: stronger_value(model, name, said.get(name), value) for name, value in parameters.items()}
    return [model.as_spec() for model in models]


def existing_model(part: Document, model: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a document says already of a model that differs in its strength only; None if there is none."""
    return _find_model(part.models, model, parameters)


def is_strong_enough(part: Document, model: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a document has a model that is as strong as asked for."""
    said = existing_model(part, model, parameters)
    return said is not None and all(
        stronger_value(model, name, said.get(name), value) == said.get(name) for name, value in parameters.items()
    )


def stronger_value(model: str, parameter: str, one: Any, other: Any) -> Any:
    """The stronger one of two values of a parameter; the other one where it says nothing about strength."""
    known = strength_of(model, parameter)
    if known is None or one is None:
        return other
    return one if known.stronger * one >= known.stronger * other else other


def _find_model(models: list[Chosen], model: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is said of a model that differs in its strength only."""
    usual = {field.name: field.default for field in fields(MODELS[model])}
    fixed = {name: value for name, value in parameters.items() if strength_of(model, name) is None}
    for name, said in models:
        if name == model and all(said.get(key, usual[key]) == value for key, value in fixed.items()):
            return said
    return None
