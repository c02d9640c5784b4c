"""Methods tried on the table itself, as a run would: what stands in the way is mended, or left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from velado.errors import InputError, NoSolution
from velado.progress import Progress
from velado.project import Output, Project
from velado.questions.inspect import Inspection
from velado.questions.suggest.result import Suggestion, Trial, Without
from velado.recognition.units import likely_unit
from velado.release import run
from velado.release.result import Release
from velado.sentences import Sentence
from velado.tables import Source

MOST_NODES = 1_000_000
"""A larger lattice is not searched on trial."""
BUDGET = 20.0
"""Seconds for which it is."""
MONDRIAN: Mapping[str, Any] = {"mondrian": {}}
BY_RANGE: Mapping[str, Any] = {"mondrian": {"width": "range"}}
LATTICE: Mapping[str, Any] = {"lattice": {"suppression": 0.05, "objective": "loss"}}
METHODS = (MONDRIAN, BY_RANGE, LATTICE)
MOST_TRIES = 6
REFUSED = "identifier-in-disguise"


def try_method(
    suggestion: Suggestion, seen: Inspection, source: Source, method: Mapping[str, Any], progress: Progress
) -> tuple[Suggestion, Trial]:
    """Run a method in memory; what stands in the way of a release is left out, and the run begins again."""
    quasi = {c.name for c in suggestion.quasi}
    nodes = math.prod(max(2, len(c.generalizations)) for c in seen.columns if c.name in quasi)
    if "lattice" in method and nodes > MOST_NODES:
        return suggestion, Trial(method, problem=Sentence("not tried: about 10^{power} nodes", power=math.floor(math.log10(nodes))))
    tries = MOST_TRIES + len(suggestion.columns) + len(suggestion.models)
    for i in range(tries):
        try:
            release = _run(suggestion, source, method, progress.of(i, tries))
        except NoSolution as error:
            models = suggestion.models
            if len(models) == 1:
                return suggestion, Trial(method, problem=error.message)
            suggestion = replace(
                suggestion,
                models=models[:-1],
                without=(*suggestion.without, Without(models[-1], Sentence("no recoding satisfies it"))),
            )
        except InputError as error:
            suggestion = _repair(suggestion, seen, error)
        else:
            # As the run will tell it.
            e = release.public_evaluation
            return suggestion, Trial(method, e.utility.loss, e.suppressed / max(e.rows, 1))
    raise InputError("no-suggestion", "no project for this table could be found that runs", file=source.name)


def _run(suggestion: Suggestion, source: Source, method: Mapping[str, Any], progress: Progress) -> Release:
    described = dict(method)
    if "lattice" in described:
        described = {"lattice": {**described["lattice"], "budget": BUDGET}}
    project = Project.from_dict(suggestion.mapping(None, described) | {"source": "-"}, Path())
    release = run(replace(project, source=source, output=Output()), progress)
    assert isinstance(release, Release)
    return release


def _repair(suggestion: Suggestion, seen: Inspection, error: InputError) -> Suggestion:
    """Without the columns that an error names."""
    if error.code == "repeated-identifier":
        return replace(suggestion, unit=likely_unit(seen.columns, seen.rows))
    names = list(error.fields.get("columns", ())) or [error.column]
    kept = [c.name for c in suggestion.columns if c.kept]
    if not all(name in kept for name in names):
        raise error
    for name in names:
        if error.code == REFUSED and (coarser := _coarser(suggestion, str(name))) is not None:
            suggestion = coarser
            continue
        why = Sentence("it would single people out") if error.code == REFUSED else error.message
        reason = Sentence("left out: {problem}", problem=why)
        suggestion = suggestion.leaving_out(str(name), reason)
    return suggestion


def _coarser(suggestion: Suggestion, name: str) -> Suggestion | None:
    """The same with a measurement rounded more; None where that would leave nothing of it."""
    column = suggestion.column(name)
    step = (column.spec.get("operation") or {}).get("round")
    if step is None or column.tries >= MOST_TRIES:
        return None
    digit = int(f"{step:e}"[0])
    wider = step * (2.5 if digit == 2 else 2)
    spec = {**column.spec, "operation": {"round": int(wider) if wider >= 1 else float(f"{wider:.1g}")}}
    coarser = replace(column, spec=spec, tries=column.tries + 1)
    return replace(suggestion, columns=tuple(coarser if c.name == name else c for c in suggestion.columns))
