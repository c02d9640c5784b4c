"""What is asked about tables and projects; nothing here publishes anything."""

from velado.questions.attack import attack
from velado.questions.check import check
from velado.questions.compare import balance, compare
from velado.questions.decrypt import Decrypted, decrypt
from velado.questions.estimate import Estimate, estimate
from velado.questions.evaluate import evaluate
from velado.questions.fuzzify import Fuzzification, fuzzify
from velado.questions.hierarchy import project_hierarchy
from velado.questions.inspect import Inspection, inspect_table

__all__ = [
    "Decrypted",
    "Estimate",
    "Fuzzification",
    "Inspection",
    "attack",
    "balance",
    "check",
    "compare",
    "decrypt",
    "estimate",
    "evaluate",
    "fuzzify",
    "inspect_table",
    "project_hierarchy",
]
