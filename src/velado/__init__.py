"""Velado: anonymize tables about people, prove it, and show what it cost.

>>> import velado
>>> release = velado.run("project.yaml")            # doctest: +SKIP
>>> release.evaluation.utility.loss                 # doctest: +SKIP
0.162
"""

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
from velado.engines import Source
from velado.errors import InputError, NoSolution, VeladoError, VerificationError
from velado.evaluation import CONDITIONS, MEASURES, Balance, Check, Comparison, Evaluation
from velado.frequency import FrequencyTable
from velado.hierarchies import Hierarchy
from velado.hierarchies import build as build_hierarchy
from velado.methods import Datafly, Fixed, Fuzzy, Incognito, Lattice, Mondrian, Samarati
from velado.models import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FuzzyCloseness,
    FuzzyDiversity,
    KAnonymity,
    QAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from velado.operations import OPERATIONS, create_key
from velado.project import (
    Decrypted,
    Estimate,
    Fuzzification,
    Inspection,
    LightRelease,
    Output,
    Project,
    Release,
    Releases,
    anonymize,
    attack,
    balance,
    check,
    compare,
    decrypt,
    estimate,
    evaluate,
    fuzzify,
    import_anonylitics,
    inspect_table,
    project_hierarchy,
    run,
)
from velado.recoding import Recoding
from velado.report.appointments import save_vectors
from velado.report.comparison import save_comparison
from velado.report.fuzzy_files import save_fuzzy_charts
from velado.report.report import write_report
from velado.schema import Column

__version__ = "0.1.0"

__all__ = [
    "ATTACKS",
    "CONDITIONS",
    "MEASURES",
    "OPERATIONS",
    "AlphaK",
    "AnonymityVector",
    "Attack",
    "Balance",
    "BestFit",
    "BetaLikeness",
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
    "Lattice",
    "LightRelease",
    "Mondrian",
    "NoSolution",
    "Output",
    "Planning",
    "Project",
    "QAnonymity",
    "RandomSlots",
    "Recoding",
    "RecursiveDiversity",
    "Release",
    "Releases",
    "Samarati",
    "Source",
    "TCloseness",
    "VeladoError",
    "VerificationError",
    "anonymity_groups",
    "anonymize",
    "assign_appointments",
    "attack",
    "balance",
    "build_hierarchy",
    "check",
    "compare",
    "compare_planners",
    "create_key",
    "decrypt",
    "estimate",
    "evaluate",
    "fuzzify",
    "generate_people",
    "generate_slots",
    "import_anonylitics",
    "inspect_table",
    "project_hierarchy",
    "run",
    "save_comparison",
    "save_fuzzy_charts",
    "save_table",
    "save_vectors",
    "write_report",
]
