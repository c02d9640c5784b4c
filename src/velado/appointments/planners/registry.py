"""The planners by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.appointments.planners.best_fit import BestFit
from velado.appointments.planners.exact import Exact
from velado.appointments.planners.find_slots import FindSlots
from velado.appointments.planners.random_slots import RandomSlots
from velado.appointments.problem import Planner
from velado.errors import InputError, suggest
from velado.parameters import build
from velado.sentences import Sentence

PLANNERS: dict[str, type[Planner]] = {p.name: p for p in (RandomSlots, FindSlots, BestFit, Exact)}


def planner_title(name: str) -> Sentence:
    """What a planner is called."""
    return Sentence(PLANNERS[name].declaration.title) if name in PLANNERS else Sentence(name)


def planner_from(name: str, arguments: Mapping[str, Any] | None = None) -> Planner:
    """A planner from its name and parameters.

    >>> planner_from("random", {"seed": 3})
    RandomSlots(seed=3)
    """
    if name not in PLANNERS:
        raise InputError("unknown-method", Sentence("there is no method '{name}'", name=name), hint=suggest(name, PLANNERS))
    made: Planner = build(PLANNERS[name], arguments, Sentence("the method {name}", name=name))
    return made
