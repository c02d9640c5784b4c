"""What a release achieves and what it costs."""

from velado.evaluation.evaluation import Evaluation, evaluate
from velado.evaluation.privacy import Check, check_frequency
from velado.evaluation.risk import Risk, risk
from velado.evaluation.utility import Utility, precision, utility

__all__ = ["Check", "Evaluation", "Risk", "Utility", "check_frequency", "evaluate", "precision", "risk", "utility"]
