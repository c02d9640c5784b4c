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
from velado.errors import Cancelled, InputError, NoSolution, VeladoError, VerificationError
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
from velado.progress import Progress, Step
from velado.project import Output, Project, import_anonylitics
from velado.questions import (
    Decrypted,
    Estimate,
    Fuzzification,
    Inspection,
    attack,
    balance,
    check,
    compare,
    decrypt,
    estimate,
    evaluate,
    fuzzify,
    inspect_table,
    project_hierarchy,
)
from velado.recoding import Recoding
from velado.release import LightRelease, Release, Releases, anonymize, run
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
