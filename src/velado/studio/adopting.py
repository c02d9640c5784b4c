"""Settings and models taken over into the document of a project: from a comparison, or from what prevents an attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from velado.methods import METHODS
from velado.models import MODELS, KAnonymity, strength_of

Models = list[tuple[str, dict[str, Any]]]
DEFAULT = "lattice"
"""The method of a project that names none."""


def models_in(part: Mapping[str, Any]) -> Models:
    """The models that a document names, with their parameters."""
    given = part.get("models") or ()
    listed = [{name: said} for name, said in given.items()] if isinstance(given, Mapping) else given
    return [_one(spec) for spec in listed]


def method_in(part: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The method that a document names, with its parameters."""
    return _one(part.get("method") or DEFAULT)


def adopted(part: Mapping[str, Any], setting: Mapping[str, Any]) -> dict[str, Any]:
    """What a document must say so that it is the setting of a comparison: its ``models`` and ``method``, where they change."""
    models, changed = models_in(part), False
    for name, value in setting.items():
        if name in ("method", "suppression"):
            continue
        having = [said for model, said in models if name in MODELS[model].parameters]
        if not having and name == "k":
            models.insert(0, (KAnonymity.name, {"k": value}))
        for said in having:
            said[name] = value
        changed = True
    found: dict[str, Any] = {"models": written(models)} if changed else {}
    if "method" in setting or "suppression" in setting:
        found["method"] = _method(part, setting)
    return found


def _method(part: Mapping[str, Any], setting: Mapping[str, Any]) -> Any:
    """What a project says of its own method holds for another one as far as that has the parameter."""
    own, said = method_in(part)
    name = str(setting.get("method", own))
    kept = {key: value for key, value in said.items() if key in METHODS[name].parameters}
    if "suppression" in setting:
        kept["suppression"] = setting["suppression"]
    return {name: kept} if kept else name


def prevented(part: Mapping[str, Any], model: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The models of a document with one that prevents an attack: added, or as strong as both where it is there already."""
    models = models_in(part)
    said = _same(models, model, parameters)
    if said is None:
        models.append((model, dict(parameters)))
    else:
        said |= {name: stronger(model, name, said.get(name), value) for name, value in parameters.items()}
    return written(models)


def present(part: Mapping[str, Any], model: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a document says already of a model that differs in its strength only; None if there is none."""
    return _same(models_in(part), model, parameters)


def enough(part: Mapping[str, Any], model: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a document has a model that is as strong as asked for."""
    said = present(part, model, parameters)
    return said is not None and all(
        stronger(model, name, said.get(name), value) == said.get(name) for name, value in parameters.items()
    )


def stronger(model: str, parameter: str, one: Any, other: Any) -> Any:
    """The stronger one of two values of a parameter; the other one where it says nothing about strength."""
    known = strength_of(model, parameter)
    if known is None or one is None:
        return other
    return one if known.stronger * one >= known.stronger * other else other


def written(models: Models) -> list[dict[str, Any]]:
    """Models as a document has them."""
    return [{name: said} for name, said in models]


def _same(models: Models, model: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is said of a model that differs in its strength only."""
    usual = {field.name: field.default for field in fields(MODELS[model])}
    fixed = {name: value for name, value in parameters.items() if strength_of(model, name) is None}
    for name, said in models:
        if name == model and all(said.get(key, usual[key]) == value for key, value in fixed.items()):
            return said
    return None


def _one(spec: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(spec, str):
        return spec, {}
    ((name, said),) = spec.items()
    return str(name), dict(said or {})
