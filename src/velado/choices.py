"""What there is: every model, method, operation and so on, as forms and other programs ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from velado.appointments.planners.registry import PLANNERS
from velado.attacks import ATTACKS, Attacker
from velado.declarations import BETTER, declaration_of
from velado.errors import InputError, suggest
from velado.evaluation import CONDITIONS
from velado.evaluation.figures import FIGURES
from velado.hierarchies.build import BUILDERS
from velado.hierarchies.files import from_file
from velado.hierarchies.schemas import DEFINITIONS, builder_schema
from velado.i18n import Language
from velado.i18n import language as language_of
from velado.json_schema import TEXT, Shape
from velado.methods import METHODS, OBJECTIVES
from velado.models import MODELS
from velado.operations import OPERATIONS
from velado.parameters import Parameter, defaults_of, parameters_schema, schema_of
from velado.sentences import Sentence

Entry = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of things: its registry, what its things are together, and what only they have to say.

    The registry is asked anew each time, so that what is added to it is there.
    """

    title: str
    registry: Callable[[], Mapping[str, Any]]
    parameters: Callable[[str, Any, str], dict[str, Any]]
    more: Callable[[Any, str], Entry] = lambda thing, language: {}
    wrapped: bool = False

    def entries(self, language: str) -> list[Entry]:
        """Everything of the kind, in the order of the registry."""
        return [self.entry(name, thing, language) for name, thing in self.registry().items()]

    def entry(self, name: str, thing: Any, language: str) -> Entry:
        """One thing: JSON-ready."""
        about = declaration_of(thing)
        example = {name: about.example} if self.wrapped and about.example is not None else about.example
        return {
            "name": name,
            "title": Sentence(about.title).into(language),
            "meaning": Sentence(about.meaning).into(language),
            **self.more(thing, language),
            **about.more,
            "parameters": self.parameters(name, thing, language),
            "example": example,
        }


def _class_parameters(name: str, thing: Any, language: str) -> dict[str, Any]:
    """The parameters of a class."""
    return schema_of(thing, language)


def _declared_parameters(name: str, thing: Any, language: str) -> dict[str, Any]:
    """The parameters of what is no class; defaults are those of an attacker."""
    return _attacker_schema(name, getattr(thing, "parameters", {}), language)


def _attacker_schema(name: str, parameters: Mapping[str, Parameter], language: str) -> Shape:
    defaults = defaults_of(Attacker)
    return parameters_schema(name, parameters, defaults, [n for n in parameters if n not in defaults], language)


def _description(name: str, thing: Any, language: str) -> dict[str, Any]:
    """What a builder takes; a tree refers to a definition."""
    if name == "file":
        return {**TEXT}
    found = builder_schema(name, language)
    return {**found, "$defs": DEFINITIONS} if "$ref" in str(found) else found


def _of_model(model: Any, language: str) -> Entry:
    first = next(iter(model.strength.values()), None)
    return {
        "symbol": None if first is None else first.symbol,
        "strength": {
            name: {"symbol": s.symbol, "safer": BETTER[s.stronger], "sign": s.relation} for name, s in model.strength.items()
        },
        "reached": Sentence(model.declaration.reached).into(language),
        "judges": model.basis,
        "monotone": model.monotone,
        "hereditary": model.hereditary,
        "figures": [{"name": name, "title": Sentence(f.title, l="ℓ").into(language)} for name, f in model.checked.items()],
    }


def _of_method(method: Any, language: str) -> Entry:
    return {
        "recoding": "full-domain" if method.full_domain else "local",
        "proves": method.proves,
        "judges": sorted(method.takes),
        "monotone_only": method.monotone_only,
        "models": [m.name for m in MODELS.values() if m.basis in method.takes],
    }


def _of_operation(operation: Any, language: str) -> Entry:
    return {
        "hides": operation.hides,
        "erases": operation.erases,
        "takes_identifiers": operation.takes_identifiers,
        "main": operation.main,
    }


KINDS: dict[str, Kind] = {
    "models": Kind(title="Privacy models", registry=lambda: MODELS, parameters=_class_parameters, more=_of_model, wrapped=True),
    "methods": Kind(title="Methods", registry=lambda: METHODS, parameters=_class_parameters, more=_of_method, wrapped=True),
    "objectives": Kind(title="Objectives", registry=lambda: OBJECTIVES, parameters=_declared_parameters),
    "operations": Kind(
        title="Operations on columns", registry=lambda: OPERATIONS, parameters=_class_parameters, more=_of_operation
    ),
    "hierarchies": Kind(title="Hierarchies", registry=lambda: {**BUILDERS, "file": from_file}, parameters=_description),
    "attacks": Kind(title="Attacks", registry=lambda: ATTACKS, parameters=_declared_parameters),
    "measures": Kind(title="Measures", registry=lambda: FIGURES, parameters=_declared_parameters),
    "conditions": Kind(title="Conditions of a balance", registry=lambda: CONDITIONS, parameters=_declared_parameters),
    "planners": Kind(title="Planners of appointments", registry=lambda: PLANNERS, parameters=_class_parameters, wrapped=True),
}


def catalog(language: str | Language = "en") -> dict[str, list[Entry]]:
    """Everything that can be chosen, by kind: names, titles, meanings in a language, parameters as JSON Schemas, examples.

    >>> found = {entry["name"]: entry for entry in catalog("es")["models"]}
    >>> found["entropy-diversity"]["title"], found["entropy-diversity"]["symbol"]
    ('ℓ-diversidad por entropía', 'ℓ')
    >>> found["k-anonymity"]["parameters"]["properties"]["k"]["minimum"]
    2
    """
    code = language_of(language).code
    return {name: kind.entries(code) for name, kind in KINDS.items()}


def kind_of(name: str) -> Kind:
    """A kind by its name; an error if there is none."""
    if name not in KINDS:
        raise InputError("unknown-kind", Sentence("there is no kind '{name}'", name=name), hint=suggest(name, KINDS))
    return KINDS[name]
