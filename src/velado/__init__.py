"""Velado: anonymize tables about people, prove it, and show what it cost.

>>> import velado
>>> release = velado.run("project.yaml")            # doctest: +SKIP
>>> release.evaluation.utility.loss                 # doctest: +SKIP
0.162
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from velado.appointments import (
        AnonymityVector,
        BestFit,
        Exact,
        FindSlots,
        Groups,
        Planning,
        RandomSlots,
        anonymity_groups,
        assign_appointments,
        compare_planners,
        generate_people,
        generate_slots,
        save_table,
    )
    from velado.attacks import ATTACKS, Attack
    from velado.catalogue import catalog
    from velado.errors import Cancelled, InputError, NoSolution, VeladoError, VerificationError
    from velado.evaluation import CONDITIONS, MEASURES, Balance, Check, Comparison, Evaluation
    from velado.frequency import FrequencyTable
    from velado.hierarchies import Hierarchy
    from velado.hierarchies.build import build as build_hierarchy
    from velado.methods import Datafly, Fixed, Fuzzy, Incognito, Lattice, Mondrian, Samarati
    from velado.models import (
        AlphaK,
        AverageRisk,
        BetaLikeness,
        DeltaDisclosure,
        DistinctDiversity,
        EntropyDiversity,
        FuzzyCloseness,
        FuzzyDiversity,
        KAnonymity,
        KMap,
        QAnonymity,
        RecursiveDiversity,
        TCloseness,
    )
    from velado.operations import OPERATIONS, create_key
    from velado.progress import Progress, Step
    from velado.project import Output, Project, import_anonylitics
    from velado.project.schema import project_schema
    from velado.questions.attack import attack
    from velado.questions.check import check
    from velado.questions.compare import balance, compare
    from velado.questions.decrypt import Decrypted, decrypt
    from velado.questions.estimate import Estimate, estimate
    from velado.questions.evaluate import evaluate
    from velado.questions.exploration import Exploration
    from velado.questions.explore import explore
    from velado.questions.fuzzify import Fuzzification, fuzzify
    from velado.questions.hierarchy import project_hierarchy
    from velado.questions.inspect import Inspection, inspect_table
    from velado.recoding import Recoding
    from velado.release.result import LightRelease, Release, Releases
    from velado.release.run import anonymize, run
    from velado.report.formats.appointments import save_vectors
    from velado.report.formats.comparison import save_comparison
    from velado.report.formats.fuzzy_charts import save_fuzzy_charts
    from velado.report.report import write_report
    from velado.schema import Column
    from velado.tables import Source

__version__ = "0.1.0"

__all__ = [
    "ATTACKS",
    "CONDITIONS",
    "MEASURES",
    "OPERATIONS",
    "AlphaK",
    "AnonymityVector",
    "Attack",
    "AverageRisk",
    "Balance",
    "BestFit",
    "BetaLikeness",
    "Cancelled",
    "Check",
    "Column",
    "Comparison",
    "Datafly",
    "Decrypted",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EntropyDiversity",
    "Estimate",
    "Evaluation",
    "Exact",
    "Exploration",
    "FindSlots",
    "Fixed",
    "FrequencyTable",
    "Fuzzification",
    "Fuzzy",
    "FuzzyCloseness",
    "FuzzyDiversity",
    "Groups",
    "Hierarchy",
    "Incognito",
    "InputError",
    "Inspection",
    "KAnonymity",
    "KMap",
    "Lattice",
    "LightRelease",
    "Mondrian",
    "NoSolution",
    "Output",
    "Planning",
    "Progress",
    "Project",
    "QAnonymity",
    "RandomSlots",
    "Recoding",
    "RecursiveDiversity",
    "Release",
    "Releases",
    "Samarati",
    "Source",
    "Step",
    "TCloseness",
    "VeladoError",
    "VerificationError",
    "anonymity_groups",
    "anonymize",
    "assign_appointments",
    "attack",
    "balance",
    "build_hierarchy",
    "catalog",
    "check",
    "compare",
    "compare_planners",
    "create_key",
    "decrypt",
    "estimate",
    "evaluate",
    "explore",
    "fuzzify",
    "generate_people",
    "generate_slots",
    "import_anonylitics",
    "inspect_table",
    "project_hierarchy",
    "project_schema",
    "run",
    "save_comparison",
    "save_fuzzy_charts",
    "save_table",
    "save_vectors",
    "write_report",
]

# Where each name is at home. A module is loaded when a name of it is first used, so that a command that needs little
# starts at once. The same as what type checkers see above (a test compares).
_HOMES = {
    "velado.appointments": "AnonymityVector BestFit Exact FindSlots Groups Planning RandomSlots anonymity_groups assign_appointments compare_planners generate_people generate_slots save_table",
    "velado.attacks": "ATTACKS Attack",
    "velado.catalogue": "catalog",
    "velado.errors": "Cancelled InputError NoSolution VeladoError VerificationError",
    "velado.evaluation": "Balance CONDITIONS Check Comparison Evaluation MEASURES",
    "velado.frequency": "FrequencyTable",
    "velado.hierarchies": "Hierarchy",
    "velado.hierarchies.build": "build_hierarchy=build",
    "velado.methods": "Datafly Fixed Fuzzy Incognito Lattice Mondrian Samarati",
    "velado.models": "AlphaK AverageRisk BetaLikeness DeltaDisclosure DistinctDiversity EntropyDiversity FuzzyCloseness FuzzyDiversity KAnonymity KMap QAnonymity RecursiveDiversity TCloseness",
    "velado.operations": "OPERATIONS create_key",
    "velado.progress": "Progress Step",
    "velado.project": "Output Project import_anonylitics",
    "velado.project.schema": "project_schema",
    "velado.questions.attack": "attack",
    "velado.questions.check": "check",
    "velado.questions.compare": "balance compare",
    "velado.questions.decrypt": "Decrypted decrypt",
    "velado.questions.estimate": "Estimate estimate",
    "velado.questions.evaluate": "evaluate",
    "velado.questions.exploration": "Exploration",
    "velado.questions.explore": "explore",
    "velado.questions.fuzzify": "Fuzzification fuzzify",
    "velado.questions.hierarchy": "project_hierarchy",
    "velado.questions.inspect": "Inspection inspect_table",
    "velado.recoding": "Recoding",
    "velado.release.result": "LightRelease Release Releases",
    "velado.release.run": "anonymize run",
    "velado.report.formats.appointments": "save_vectors",
    "velado.report.formats.comparison": "save_comparison",
    "velado.report.formats.fuzzy_charts": "save_fuzzy_charts",
    "velado.report.report": "write_report",
    "velado.schema": "Column",
    "velado.tables": "Source",
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        for entry in names.split():
            public, _, inner = entry.partition("=")
            if public == name:
                found = getattr(import_module(home), inner or public)
                globals()[name] = found
                return found
    if find_spec(f"velado.{name}") is not None:
        return import_module(f"velado.{name}")
    raise AttributeError(f"module 'velado' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
