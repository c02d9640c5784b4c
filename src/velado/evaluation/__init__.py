"""What a release achieves and what it costs."""

from velado.evaluation.evaluation import MEASURES, Evaluation, Wanted, evaluate, numeric_columns
from velado.evaluation.learning import Outcome
from velado.evaluation.pair import Pair
from velado.evaluation.privacy import Check, check_frequency
from velado.evaluation.risk import Risk, risk
from velado.evaluation.utility import Utility, precision, utility

__all__ = [
    "MEASURES",
    "Check",
    "Evaluation",
    "Outcome",
    "Pair",
    "Risk",
    "Utility",
    "Wanted",
    "check_frequency",
    "evaluate",
    "numeric_columns",
    "precision",
    "risk",
    "utility",
]
