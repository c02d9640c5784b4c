"""All measures of a release against the whole original: for its owners."""

from __future__ import annotations

from typing import Any

import velado
from velado.service.documents.opening import entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import as_json, given, one_table, released_project


def perform(work: Work) -> dict[str, Any]:
    """The evaluation of a release."""
    wanted = given(work, of.Evaluate)
    with entered(work) as room:
        population = None if wanted.population is None else room.opened(wanted.population)
        found = velado.evaluate(
            None, None, project=one_table(released_project(room, work), wanted.table), measures=wanted.measures, target=wanted.target,
            population=population, weights=wanted.weights, fraction=wanted.fraction, l=wanted.l, queries=wanted.queries,
            seed=wanted.seed, progress=work.progress,
        )  # fmt: skip
    return dict(as_json(found))
