"""Projects: describe a release once, run it, verify it, keep the evidence."""

from velado.project.anonylitics import import_anonylitics
from velado.project.attack import attack
from velado.project.check import check
from velado.project.comparison import balance, compare
from velado.project.counting import count_table, project_hierarchy
from velado.project.decryption import Decrypted, decrypt
from velado.project.document import Output, Project
from velado.project.estimate import Estimate, estimate
from velado.project.evaluation import evaluate
from velado.project.fuzzification import Fuzzification, fuzzify
from velado.project.inspection import Inspection, inspect_table
from velado.project.release import LightRelease, Release, Releases
from velado.project.run import anonymize, run

__all__ = [
    "Decrypted",
    "Estimate",
    "Fuzzification",
    "Inspection",
    "LightRelease",
    "Output",
    "Project",
    "Release",
    "Releases",
    "anonymize",
    "attack",
    "balance",
    "check",
    "compare",
    "count_table",
    "decrypt",
    "estimate",
    "evaluate",
    "fuzzify",
    "import_anonylitics",
    "inspect_table",
    "project_hierarchy",
    "run",
]
