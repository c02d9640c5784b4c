"""Velado: anonymize tables about people, prove it, and show what it cost.

>>> import velado
>>> release = velado.run("project.yaml")            # doctest: +SKIP
>>> release.evaluation.utility.loss                 # doctest: +SKIP
0.162
"""

from velado.attacks import ATTACKS, Attack
from velado.engines import Source
from velado.errors import InputError, NoSolution, VeladoError, VerificationError
from velado.evaluation import CONDITIONS, MEASURES, Balance, Check, Comparison, Evaluation
from velado.frequency import FrequencyTable
from velado.hierarchies import Hierarchy
from velado.hierarchies import build as build_hierarchy
from velado.methods import Datafly, Fixed, Incognito, Lattice, Mondrian, Samarati
from velado.models import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from velado.operations import OPERATIONS, create_key
from velado.project import (
    Decrypted,
    Estimate,
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
    import_anonylitics,
    inspect_table,
    project_hierarchy,
    run,
)
from velado.recoding import Recoding
from velado.report.comparison import save_comparison
from velado.report.report import write_report
from velado.schema import Column

__version__ = "0.1.0"

__all__ = [
    "ATTACKS",
    "CONDITIONS",
    "MEASURES",
    "OPERATIONS",
    "AlphaK",
    "Attack",
    "Balance",
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
    "Fixed",
    "FrequencyTable",
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
    "Project",
    "Recoding",
    "RecursiveDiversity",
    "Release",
    "Releases",
    "Samarati",
    "Source",
    "TCloseness",
    "VeladoError",
    "VerificationError",
    "anonymize",
    "attack",
    "balance",
    "build_hierarchy",
    "check",
    "compare",
    "create_key",
    "decrypt",
    "estimate",
    "evaluate",
    "import_anonylitics",
    "inspect_table",
    "project_hierarchy",
    "run",
    "save_comparison",
    "write_report",
]
