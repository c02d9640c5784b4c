"""Velado: anonymize tables about people, prove it, and show what it cost.

Here are the names of daily work. Everything else is in submodules: `velado.models`, `velado.methods`,
`velado.operations`, `velado.evaluation`, `velado.attacks`, `velado.questions`, `velado.report`, `velado.appointments`,
`velado.fuzzy`, …

>>> import velado
>>> release = velado.run("project.yaml")            # doctest: +SKIP
>>> release.evaluation.utility.loss                 # doctest: +SKIP
0.162
"""

from typing import TYPE_CHECKING

from velado import lazy_imports

if TYPE_CHECKING:
    from velado.choices import catalog
    from velado.errors import Cancelled, InputError, NoSolution, VeladoError
    from velado.evaluation import Evaluation
    from velado.hierarchies import Hierarchy
    from velado.hierarchies.build import build as build_hierarchy
    from velado.methods import Lattice, Mondrian
    from velado.models import DistinctDiversity, KAnonymity, TCloseness
    from velado.progress import Progress
    from velado.project import Output, Project
    from velado.questions.attack import attack
    from velado.questions.check import check
    from velado.questions.compare import balance, compare
    from velado.questions.decrypt import decrypt
    from velado.questions.estimate import estimate
    from velado.questions.evaluate import evaluate
    from velado.questions.explore import explore
    from velado.questions.fuzzify import fuzzify
    from velado.questions.inspect import inspect_table
    from velado.questions.suggest import suggest
    from velado.release.apply import apply
    from velado.release.result import Release
    from velado.release.run import anonymize, run
    from velado.report.report import write_report
    from velado.schema import Column
    from velado.tables import Source

__version__ = "0.1.0"

__all__ = [
    "Cancelled",
    "Column",
    "DistinctDiversity",
    "Evaluation",
    "Hierarchy",
    "InputError",
    "KAnonymity",
    "Lattice",
    "Mondrian",
    "NoSolution",
    "Output",
    "Progress",
    "Project",
    "Release",
    "Source",
    "TCloseness",
    "VeladoError",
    "anonymize",
    "apply",
    "attack",
    "balance",
    "build_hierarchy",
    "catalog",
    "check",
    "compare",
    "decrypt",
    "estimate",
    "evaluate",
    "explore",
    "fuzzify",
    "inspect_table",
    "run",
    "suggest",
    "write_report",
]

# Where each name is at home: the same as what type checkers see above (a test compares).
_HOMES = {
    "velado.choices": "catalog",
    "velado.errors": "Cancelled InputError NoSolution VeladoError",
    "velado.evaluation": "Evaluation",
    "velado.hierarchies": "Hierarchy",
    "velado.hierarchies.build": "build_hierarchy=build",
    "velado.methods": "Lattice Mondrian",
    "velado.models": "DistinctDiversity KAnonymity TCloseness",
    "velado.progress": "Progress",
    "velado.project": "Output Project",
    "velado.questions.attack": "attack",
    "velado.questions.check": "check",
    "velado.questions.compare": "balance compare",
    "velado.questions.decrypt": "decrypt",
    "velado.questions.estimate": "estimate",
    "velado.questions.evaluate": "evaluate",
    "velado.questions.explore": "explore",
    "velado.questions.fuzzify": "fuzzify",
    "velado.questions.inspect": "inspect_table",
    "velado.questions.suggest": "suggest",
    "velado.release.apply": "apply",
    "velado.release.result": "Release",
    "velado.release.run": "anonymize run",
    "velado.report.report": "write_report",
    "velado.schema": "Column",
    "velado.tables": "Source",
}
__getattr__, __dir__ = lazy_imports.names(__name__, _HOMES)
