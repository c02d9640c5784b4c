"""Privacy models, judged class by class."""

from collections.abc import Mapping
from typing import Any

from velado.errors import InputError, suggest
from velado.models.base import PrivacyModel, Verdict, compile_rules, judge_classes, smallest_class
from velado.models.closeness import TCloseness
from velado.models.disclosure import AlphaK, BetaLikeness, DeltaDisclosure
from velado.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from velado.models.fuzzy import (
    FuzzyCloseness,
    FuzzyDiversity,
    FuzzyModel,
    QAnonymity,
    all_verdicts,
    check_crisp,
    crisp_models,
    fuzzy_verdicts,
)
from velado.models.k_anonymity import KAnonymity
from velado.parameters import build
from velado.sentences import Sentence

MODELS: dict[str, type[PrivacyModel]] = {
    m.name: m
    for m in (
        KAnonymity,
        DistinctDiversity,
        EntropyDiversity,
        RecursiveDiversity,
        TCloseness,
        DeltaDisclosure,
        BetaLikeness,
        AlphaK,
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
        raise InputError(
            "unknown-model", Sentence("there is no privacy model '{name}'", name=name), hint=suggest(name, MODELS)
        )
    return build(MODELS[name], arguments, Sentence("the model {name}", name=name))


__all__ = [
    "MODELS",
    "AlphaK",
    "BetaLikeness",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EntropyDiversity",
    "FuzzyCloseness",
    "FuzzyDiversity",
    "FuzzyModel",
    "KAnonymity",
    "PrivacyModel",
    "QAnonymity",
    "RecursiveDiversity",
    "TCloseness",
    "Verdict",
    "all_verdicts",
    "check_crisp",
    "compile_rules",
    "crisp_models",
    "fuzzy_verdicts",
    "judge_classes",
    "model_from",
    "smallest_class",
]
