"""What of that which prevents an attack the table can reach at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from velado.attacks.base import LEAVE_OUT, Attack, Prevention
from velado.frequency import Classes
from velado.models import judge_classes, model_from


def within_reach(attack: Attack, classes: Classes) -> Attack:
    """The attack with those preventions that some release of the table satisfies.

    Everybody in one class is the most that a recoding can do: a model that fails there (three different values of a
    column that has two, a k above the table) fails everywhere. A t of 0 is reached by nothing else and is left out, too.
    Where nothing is left, only not publishing the column helps.
    """
    if not attack.prevented_by:
        return attack
    frequency = classes.frequency
    whole = Classes.from_ids(frequency, np.zeros(frequency.rows, dtype=np.int64), 1)
    kept = tuple(p for p in attack.prevented_by if _is_reachable(p, whole))
    return replace(attack, prevented_by=kept or (Prevention(measure=LEAVE_OUT),))


def _is_reachable(prevention: Prevention, whole: Classes) -> bool:
    if prevention.model is None:
        return True
    if prevention.parameters.get("t") == 0:
        return False
    model = model_from(prevention.model, prevention.parameters)
    passes, _ = judge_classes([model], whole.frequency.judged_columns, whole)
    return bool(passes.all())
