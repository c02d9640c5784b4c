"""What a release achieves and what it costs."""

from velado.evaluation.aggregates import aggregates, mode_with_suppressed
from velado.evaluation.classes import ClassFigures, class_figures, released_figures
from velado.evaluation.comparison import CONDITIONS, Balance, Comparison, Setting
from velado.evaluation.evaluation import MEASURES, MORE, Evaluation, Wanted, check_numeric, evaluate, judge
from velado.evaluation.learning import Outcome
from velado.evaluation.pair import Pair, People
from velado.evaluation.privacy import Check, check_frequency
from velado.evaluation.public import public, public_verdicts
from velado.evaluation.risk import Risk, risk
from velado.evaluation.utility import Utility, precision, utility

__all__ = [
    "CONDITIONS",
    "MEASURES",
    "MORE",
    "Balance",
    "Check",
    "ClassFigures",
    "Comparison",
    "Evaluation",
    "Outcome",
    "Pair",
    "People",
    "Risk",
    "Setting",
    "Utility",
    "Wanted",
    "aggregates",
    "check_frequency",
    "check_numeric",
    "class_figures",
    "evaluate",
    "judge",
    "mode_with_suppressed",
    "precision",
    "public",
    "public_verdicts",
    "released_figures",
    "risk",
    "utility",
]
