"""The exact planner: the most anonymous assignment there is, proven."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from velado.appointments.exact.arcflow import ArcFlow
from velado.appointments.exact.cells import Cells
from velado.appointments.exact.lexicographic import Search
from velado.appointments.exact.model import Model
from velado.appointments.exact.solver import Watch, cp_sat
from velado.appointments.planners.best_fit import BestFit
from velado.appointments.problem import Assignment, Planner, Problem, check_possible
from velado.declarations import Declaration
from velado.errors import NoSolution
from velado.parameters import Number
from velado.progress import Progress
from velado.sentences import Sentence, join_sentences

ARCS_PER_CELL = 300
"""So many more variables may arc flows have than cells: their relaxation is so much better (measured)."""
MOST_ARCS = 200_000
MOST_CELLS = 20_000


@dataclass(frozen=True)
class Exact(Planner):
    """The lexicographically smallest anonymity vector, proven component by component with OR-Tools CP-SAT.

    UCM, algorithm 1, with other models (see `velado.appointments.exact.arcflow` and `velado.appointments.exact.cells`). When the time
    is over, the best assignment so far (no worse than that of `BestFit()`), with the number of components that are proven
    and a bound.

    ``level`` is the prototype's *Level of Search* (UCM, chapter 5: when the algorithm begins to find zeros in the vector,
    it stops before the following values). The text does not say how the number counts; here the search ends as soon as
    that many components are proven to be 0.
    """

    seconds: float = 60.0
    workers: int | None = None
    level: int | None = None
    name: ClassVar[str] = "exact"
    declaration: ClassVar = Declaration(
        title="exact",
        meaning="The most anonymous assignment there is, proven; or the best one found in the time given.",
        example={"seconds": 60},
    )
    parameters: ClassVar = {
        "seconds": Number("time that the search may take", low=0, low_open=True, unit="s"),
        "workers": Number("searches at the same time; all processors by default", low=1, integer=True, optional=True, expert=True),
        "level": Number("stop when so many components are proven to be 0", low=1, integer=True, optional=True, expert=True),
    }

    def assign(self, problem: Problem, progress: Progress | None = None) -> Assignment:
        """Give out appointments, as anonymously as possible."""
        cp_sat()
        began = time.perf_counter()
        check_possible(problem)
        progress = progress or Progress()
        watch = Watch.until(self.seconds, self.workers, progress.part(0.1, 0.9, "prove"))
        try:
            start = BestFit(trials=0).assign(problem, progress.part(0.0, 0.1))
        except NoSolution:
            start = None
        watch.look()
        found = self.improve(problem, start, watch)
        if not found.optimal:
            found = _no_worse_than_best_fit(found, progress.part(0.9, 1.0))
        progress.part(0.9, 1.0, "prove").at(1.0)
        return replace(found, seconds=time.perf_counter() - began)

    def improve(self, problem: Problem, start: Assignment | None, watch: Watch) -> Assignment:
        """Search from an assignment that is known already, or from none."""
        if start is not None and start.vector == problem.base:
            return replace(start, method=self.name, proven=len(problem.base.counts), bound=problem.base)
        model = model_for(problem)
        if model is None:
            if start is None:
                raise _not_found(Sentence("the problem is too large for the exact search"))
            return replace(start, method=self.name, bound=problem.base, notes={"model": "too large"})
        search = Search(model, watch, start)
        if not search.run(self.level):
            raise NoSolution("no-assignment", "no assignment fulfils all conditions", hint=why_none(problem))
        if search.best is None:
            raise _not_found(Sentence("no assignment was found within {seconds:g} s, and none was excluded", seconds=self.seconds))
        kind, slot, units = model.decode(search.best)
        found = Assignment(problem, kind, slot, units, self.name, len(search.proven), search.bound)
        return replace(found, notes={"model": model.name})


def model_for(problem: Problem) -> Model | None:
    """Arc flows for plain problems, unless the groups are so few and large that cells are fewer; None if too large."""
    arcs, cells = ArcFlow.size(problem), Cells.size(problem)
    if problem.is_plain and arcs <= min(ARCS_PER_CELL * cells, MOST_ARCS):
        return ArcFlow(problem)
    return Cells(problem) if cells <= MOST_CELLS else None


def why_none(problem: Problem) -> Sentence:
    """A reason why there is no assignment, where one is easy to see."""
    slots = problem.slot_sets[problem.admissible]
    fitting = (slots & (problem.capacities >= problem.unit_people[:, None])).any(axis=1)
    alone = int(problem.units[~fitting].sum())
    if alone:
        return Sentence("{units:,} people or households fit into none of their admissible slots.", units=alone)
    people = problem.units * problem.unit_people
    for chosen in problem.slot_sets[np.unique(problem.admissible)]:
        bound_to = int(people[~(slots & ~chosen).any(axis=1)].sum())
        places = int(problem.capacities[chosen].sum())
        if bound_to > places:
            return Sentence(
                "{people:,} people may only come to {slots:,} slot(s) with {places:,} places.",
                people=bound_to,
                slots=int(chosen.sum()),
                places=places,
            )
    conditions = {
        Sentence("groups of {required:,} or more in every slot", required=problem.smallest): problem.smallest > 1,
        Sentence("households that stay together"): bool((problem.unit_people > 1).any()),
        Sentence("admissible slots"): not slots.all(),
    }
    asked = join_sentences(", ", [text for text, asked in conditions.items() if asked])
    return Sentence("Relax one of: {conditions}; or add slots.", conditions=asked)


def _no_worse_than_best_fit(found: Assignment, progress: Progress) -> Assignment:
    """What best fit finds with all its trials, if that is better; the proven components are the same then."""
    try:
        other = BestFit().assign(found.problem, progress)
    except NoSolution:
        return found
    if other.vector >= found.vector:
        return found
    return replace(found, kind=other.kind, slot=other.slot, units=other.units)


def _not_found(message: str) -> NoSolution:
    return NoSolution("no-assignment", message, hint="Give it more seconds, or relax the conditions.")
