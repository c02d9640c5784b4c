"""A table in fuzzy sets, before anything is released."""

from __future__ import annotations

from typing import Any

import velado
from velado.methods import method_from
from velado.methods.fuzzy import Fuzzy
from velado.questions.fuzzify import Fuzzification
from velado.report.charts.plane import across, degrees
from velado.service.jobs import parameters as of
from velado.service.jobs.job_room import enter_room
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import as_json, parse_parameters

POINTS = 120
"""Points of a curve."""


def perform(work: Work) -> dict[str, Any]:
    """The measures of the sets, and their curves."""
    wanted = parse_parameters(work, of.Fuzzify)
    method = method_from(Fuzzy.name, {"sets": 3, **wanted.method})
    assert isinstance(method, Fuzzy)
    with enter_room(work) as room:
        found = velado.fuzzify(
            room.resolve_source(work.task.source),
            wanted.quasi_identifiers,
            wanted.sensitive,
            method=method,
            models=room.models(wanted.models),
            progress=work.progress,
        )
    return {**as_json(found), "sets": curves(found)}


def curves(found: Fuzzification) -> dict[str, Any]:
    """Per column that has sets of its own: their names, and how far numbers belong to each."""
    fuzzy = found.found.fuzzy
    assert fuzzy is not None
    drawn: dict[str, Any] = {}
    for coding in fuzzy.codings:
        if len(coding.columns) == 1:
            column = coding.columns[0]
            grid = across(coding, column, found.scales).grid(POINTS)
            degree = degrees(coding, grid[:, None])
            drawn[column] = {
                "names": list(fuzzy.names[column]),
                "x": [float(x) for x in grid],
                "degrees": [[round(float(y), 4) for y in row] for row in degree.T],
            }
    return drawn
