"""Privacy models, judged class by class, or on the whole release."""

from collections.abc import Mapping
from typing import Any

from velado.declarations import Strength
from velado.errors import InputError, suggest
from velado.models.average_risk import AverageRisk
from velado.models.base import (
    CLASS,
    COMPARED,
    FUZZY,
    PEOPLE,
    RELEASED,
    VALUES,
    WHOLE,
    Checked,
    PrivacyModel,
    Verdict,
    WholeModel,
    check_basis,
    compile_rules,
    judge_classes,
    kept_together,
    single_models,
    smallest_class,
    whole_models,
)
from velado.models.closeness import TCloseness
from velado.models.disclosure import AlphaK, BetaLikeness, DeltaDisclosure
from velado.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from velado.models.fuzzy import FuzzyCloseness, FuzzyDiversity, FuzzyModel, QAnonymity, all_verdicts, crisp_models, fuzzy_verdicts
from velado.models.k_anonymity import KAnonymity
from velado.models.k_map import KMap
from velado.parameters import build
from velado.sentences import Sentence

MODELS: dict[str, type[PrivacyModel]] = {
    m.name: m
    for m in (
        KAnonymity,
        KMap,
        DistinctDiversity,
        EntropyDiversity,
        RecursiveDiversity,
        TCloseness,
        BetaLikeness,
        DeltaDisclosure,
        AlphaK,
        AverageRisk,
        QAnonymity,
        FuzzyDiversity,
        FuzzyCloseness,
    )
}


def model_from(name: str, arguments: Mapping[str, Any] | None) -> PrivacyModel:
    """A model from its name and parameters as in a project file.

    >>> model_from("k-anonymity", {"k": 5})
    KAnonymity(k=5)
    """
    if name not in MODELS:
        raise InputError("unknown-model", Sentence("there is no privacy model '{name}'", name=name), hint=suggest(name, MODELS))
    return build(MODELS[name], arguments, Sentence("the model {name}", name=name))


def strengths() -> dict[str, Strength]:
    """Parameters of all models by which one is stronger than another, in the order in which they decide.

    >>> {name: found.stronger for name, found in strengths().items() if name in "klt"}
    {'k': 1, 'l': 1, 't': -1}
    """
    found: dict[str, Strength] = {}
    for model in MODELS.values():
        for name, strength in model.strength.items():
            found.setdefault(name, strength)
    return found


def strength_of(model: str, parameter: str) -> Strength | None:
    """What a parameter of a model says about how strong it is; None if it says nothing."""
    return MODELS[model].strength.get(parameter) if model in MODELS else None


def title_of(name: str) -> Sentence:
    """What a model is called; its name where it is not known."""
    return Sentence(MODELS[name].declaration.title) if name in MODELS else Sentence(name)


def checked_figures() -> dict[str, tuple[type[PrivacyModel], Checked]]:
    """The figures that `check` gives of a sensitive column, and whose they are."""
    return {name: (model, figure) for model in MODELS.values() for name, figure in model.checked.items()}


def figure_title(name: str, l: int) -> Sentence:  # noqa: E741
    """What a figure of `checked_figures` is called; ``l`` is the ℓ that was asked for."""
    _, figure = checked_figures()[name]
    return Sentence(figure.title, l=l) if figure.ranked else Sentence(figure.title)


def figure_none(name: str, l: int) -> Sentence:  # noqa: E741
    """What it means that a table has no such figure."""
    _, figure = checked_figures()[name]
    return Sentence(figure.none, l=l) if figure.ranked else Sentence(figure.none)


def larger_is_safer(name: str) -> bool:
    """Whether larger values of a figure of `checked_figures` mean more privacy."""
    model, figure = checked_figures()[name]
    return model.strength[figure.part or next(iter(model.strength))].stronger > 0


__all__ = [
    "CLASS",
    "COMPARED",
    "FUZZY",
    "MODELS",
    "PEOPLE",
    "RELEASED",
    "VALUES",
    "WHOLE",
    "AlphaK",
    "AverageRisk",
    "BetaLikeness",
    "Checked",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EntropyDiversity",
    "FuzzyCloseness",
    "FuzzyDiversity",
    "FuzzyModel",
    "KAnonymity",
    "KMap",
    "PrivacyModel",
    "QAnonymity",
    "RecursiveDiversity",
    "TCloseness",
    "Verdict",
    "WholeModel",
    "all_verdicts",
    "check_basis",
    "checked_figures",
    "compile_rules",
    "crisp_models",
    "figure_none",
    "figure_title",
    "fuzzy_verdicts",
    "judge_classes",
    "kept_together",
    "larger_is_safer",
    "model_from",
    "single_models",
    "smallest_class",
    "strength_of",
    "strengths",
    "title_of",
    "whole_models",
]
