"""Tables larger than memory: the engine cuts where the data live until a part fits (the thesis's Rothko-D).

Every cut is the one that Mondrian makes in memory, chosen from counts of single columns. Parts that fit are solved one by
one and appended, or, by an engine of many machines, all at once where they lie (`release/cluster_parts.py`); their classes are
not kept. The release is verified in lots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from velado.errors import InputError
from velado.evaluation.part_sums import PartSums
from velado.frequency import FrequencyTable
from velado.methods import Mondrian, Search
from velado.methods.axes import Axis
from velado.methods.base import no_solution
from velado.methods.clock import Clock
from velado.models import CLASS, PrivacyModel, check_basis
from velado.models.base import OnSensitive
from velado.progress import Progress
from velado.project.people import person_column
from velado.release.cluster_parts import solve_spread
from velado.release.column_exposure import check_published, passing
from velado.release.count import check_size, count_columns
from velado.release.fit import Fitted
from velado.release.manifest import Made, manifests_of
from velado.release.measure import Measured, with_published
from velado.release.memory import Estimate
from velado.release.part_solver import Axes, Solver, as_one_row, cut_of, frequency_of, marginal_of, places_of
from velado.release.plan import Planned
from velado.release.result import Release, release_in_parts
from velado.release.treatments import treated_plan, treatments
from velado.release.verify import Expected, verify_written
from velado.sentences import Sentence
from velado.tables import Capability, ColumnType, Part, Plan, Session, Slot, Split, Translation, open_stage

ENGINE_SHARE = 0.4
"""Share of the memory that the engine may use while parts are solved."""
ENGINE_LEAST = 256_000_000
"""With less the engine cannot sort or join."""


def run_in_parts(fitted: Fitted, expected: Estimate, session: Session, progress: Progress) -> Release:
    """Cut, solve and append part by part; verify what was written, and publish it."""
    clock = Clock()
    follow = progress.through(open=1, fit=1, count=3, split=3, solve=10, verify=4, publish=1)
    project, table = fitted.project, fitted.table
    treated = treatments(table, fitted.schema, project.folder)
    plan = treated_plan(treated)
    check_possible(fitted, plan)
    memory = max(ENGINE_LEAST, round(expected.memory * ENGINE_SHARE))
    table.limit(memory)
    follow("count")
    axes = _axes(fitted)
    planned = Planned(fitted, treated, plan, int(axes.leaf_records[0].sum()))
    most, merged = _most_rows(expected), PartSums()
    with open_stage([planned.sink], session) as stage:
        (slot,) = stage.slots
        solver = Solver.of(axes, fitted)
        follow("split")
        if Capability.SPREAD in table.engine.capabilities:
            with table.spread(*_translations(planned, axes), planned.plan, slot) as spread:
                for solved_part in solve_spread(spread, solver, project.models, follow):
                    merged.join(solved_part)
        else:
            with table.split(*_translations(planned, axes), planned.plan, slot) as split:
                solving = follow("solve")
                for part, frequency in _solvable(split, axes, most, project.models, solving):
                    solved = solver.solve(frequency, merged, solving.part(0, 0))
                    split.write(part, solved.rows, solved.shown, solved.labels)
                split.finish()
        table.check_unchanged()
        search = Search(0, 0, False, None, clock.seconds, Sentence("greedy cuts, in parts"))
        verified = verify_written(stage, slot, _expected_release(planned, axes, slot, merged, most), memory, follow("verify"))
        verified = check_published(planned, verified, axes.hierarchies)
        evaluation = merged.evaluation(project.models, verified.verdicts, verified.sizes, verified.labels)
        # Nobody is suppressed here: everybody may know what the owner knows.
        measured = with_published(Measured(evaluation, evaluation), verified)
        manifests = manifests_of(Made.of(planned, slot, follow("publish")), search, None, measured)
        (published,) = stage.publish([manifests.evidence()])
    return release_in_parts(planned, search, verified, measured, manifests, published)


def check_possible(fitted: Fitted, plan: Plan) -> None:
    """Refuse what cannot be done in parts."""
    project, engine = fitted.project, fitted.table.engine
    if Capability.SPREAD not in engine.capabilities:
        engine.require(Capability.SPLIT)
    elif getattr(project.method, "split", None) == "distribution":
        raise _impossible(Sentence("'split: distribution' on a cluster, which cuts off a few records at a time,"))
    if person_column(project, fitted.table) is not None:
        raise _impossible(Sentence("counting people who have several rows"))
    if plan.replaced or plan.noise:
        raise _impossible(Sentence("operations other than suppress and drop"))
    if any(isinstance(m, OnSensitive) and m.strict for m in project.models):
        raise _impossible(Sentence("models with 'strict: true'"))
    check_basis(project.models, {CLASS})
    if project.method.divides:
        raise _impossible(Sentence("'relaxed: true'"))
    if project.output.order == "keep":
        raise _impossible(Sentence("'order: keep'"))
    if project.output.recoding is not None:
        raise _impossible(Sentence("saving the recoding"))


def _expected_release(planned: Planned, axes: Axes, slot: Slot, merged: PartSums, most: int) -> Expected:
    """What the release must hold; it is counted in as many passes as memory needs."""
    # What is counted is each class with each of its sensitive values.
    values = max((s.width for s in axes.sensitive), default=1)
    counted = sum(times * min(size, values) for size, times in merged.sizes.items())
    columns = len(axes.hierarchies)
    return Expected(
        header=planned.header,
        treatments=planned.treatments,
        # The description of the table without its rows: what verification needs of the original.
        original=FrequencyTable(axes.hierarchies, np.zeros((0, columns), np.int32), np.zeros(0, np.int64), axes.sensitive),
        models=planned.project.models,
        released=merged.kept,
        guarded=slot.sink.is_guarded,
        passes=max(1, -(-counted // most)),
        passing=passing(planned.fitted.schema),
        in_parts=True,
        allowance=planned.project.allowance,
    )


def _most_rows(expected: Estimate) -> int:
    """Distinct rows that a part may have."""
    share = (1 - ENGINE_SHARE) * expected.memory
    return max(1000, int(share * expected.distinct / max(expected.needed, 1)))


def _axes(fitted: Fitted) -> Axes:
    """Count every column by itself."""
    project = fitted.project
    hierarchies, sensitive, leaf_records = count_columns(fitted.table, fitted.schema, project.folder)
    records = int(leaf_records[0].sum())
    method = project.method
    assert isinstance(method, Mondrian)
    check_size(
        FrequencyTable(hierarchies, np.zeros((1, len(hierarchies)), np.int32), np.array([records]), sensitive), project.models
    )
    cutter = method.cutter(hierarchies, records, project.models, sensitive)
    return Axes(hierarchies, sensitive, leaf_records, cutter)


def _translations(planned: Planned, axes: Axes) -> tuple[list[Translation], list[Translation]]:
    """The recoded columns as places, the sensitive ones as codes."""
    places = [
        Translation(axis.hierarchy.column, axis.hierarchy.leaves, places_of(axis), (), typed=_has_own_type(planned.fitted, axis))
        for axis in axes.cutter.axes
    ]
    coded = [Translation(s.column, tuple(s.number), np.array([*s.number.values()]), ()) for s in axes.sensitive]
    return places, coded


def _has_own_type(fitted: Fitted, axis: Axis) -> bool:
    """Whether every label of a column is a value of its own type: among missing values some class may show ``*``."""
    method, h = fitted.project.method, axis.hierarchy
    assert isinstance(method, Mondrian)
    return method.has_centre(axis) and None not in h.leaves and fitted.table.type_of(h.column) is not ColumnType.TEXT


def _solvable(
    split: Split, axes: Axes, most: int, models: Sequence[PrivacyModel], progress: Progress
) -> Iterator[tuple[Part, FrequencyTable]]:
    """The parts that fit, in order; larger ones are cut by the engine."""
    cutter = axes.cutter
    open_parts = [split.whole()]
    users = {open_parts[0].within: 1}
    done = 0
    while open_parts:
        part = open_parts.pop()
        marginals = [marginal_of(axes, j, m) for j, m in enumerate(split.marginals(part))]
        records = int(marginals[0].records.sum())
        if not done and part.within_records == records and not cutter.is_satisfied(marginals):
            raise no_solution(as_one_row(axes, marginals), models, 0.0)
        cut = cut_of(axes, marginals) if records > most else None
        new: list[Part] = []
        if cut is None:
            yield part, frequency_of(axes, split.count(part))
            done += records
            progress.at(done, split.records)
        else:
            j, pieces = cut
            new = [split.own(_within(part, j, low, high), size) for low, high, size in pieces]
        for p in new:
            users[p.within] = users.get(p.within, 0) + 1
        users[part.within] -= 1
        if not users[part.within]:
            split.drop(part)
        open_parts += reversed(new)


def _within(part: Part, j: int, low: int, high: int) -> Part:
    lows, highs = list(part.low), list(part.high)
    lows[j], highs[j] = max(lows[j], low), min(highs[j], high)
    return replace(part, low=tuple(lows), high=tuple(highs))


def _impossible(what: str) -> InputError:
    return InputError(
        "not-in-parts",
        Sentence("the table is too large for the memory and must be solved in parts; {what} cannot be done so", what=what),
        hint="Allow more memory (method: {mondrian: {memory: 8GB}}), or leave that out.",
    )
