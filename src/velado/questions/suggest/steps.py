"""Describe a table so that a run of it succeeds, links nobody, and loses little."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from velado.errors import InputError
from velado.progress import Progress
from velado.questions.inspect import Inspection, inspect_table
from velado.questions.suggest.copies import Copies, spread_out
from velado.questions.suggest.describe import could_be_known, describe_columns
from velado.questions.suggest.models import affordable
from velado.questions.suggest.probe import Probe
from velado.questions.suggest.quasi_identifiers import add_quasi_identifiers
from velado.questions.suggest.result import Suggestion, Trial
from velado.questions.suggest.trials import METHODS, try_method
from velado.questions.suggest.wishes import Wishes
from velado.sentences import Sentence
from velado.tables import Session, Source, open_table

MOST_ROWS = 2_000_000
"""Of larger tables no release is made on trial."""
SMALLEST = 4


def suggest(
    data: Any,
    progress: Progress | None = None,
    *,
    inspection: Inspection | None = None,
    most_rows: int = MOST_ROWS,
    k: int | None = None,
    qi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    never: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    person: str | None = None,
    copies: bool = True,
) -> Suggestion:
    """Describe a table so that a run of it succeeds, links nobody, and loses little: what ``velado init`` writes.

    Columns that others know, or could know, are quasi-identifiers as far as that costs little; what only the person and the
    keeper of the table know is kept. What cannot be published so is left out, with the reason. ``inspection``: what
    `velado.inspect_table` found, if it was asked already. Of tables of more than ``most_rows`` no release is made on trial.

    What you say wins: names of columns, or patterns such as ``survey_*``, that others know (``qi``), that must not be learnt
    (``sensitive``), that only the person and you know (``never``), that are to be published in whatever form is safe
    (``keep``), or not at all (``drop``); the column of the ``person`` whose rows these are; the ``k``; whether ``copies`` of
    a row are one person. A suggestion is no decision: read it, and correct the roles.
    """
    wishes = replace(Wishes.of(k, person, qi=qi, sensitive=sensitive, never=never, keep=keep, drop=drop), copies=copies)
    source = Source.of(data)
    follow = (progress or Progress()).through(open=2, inspect=2, search=6)
    seen = inspection or inspect_table(source, follow("open"))
    said = wishes.of_columns([c.name for c in seen.columns], source.name)
    if seen.rows < SMALLEST:
        raise InputError(
            "no-suggestion",
            Sentence("a table of {records} record(s) hides nobody", records=seen.rows),
            file=source.name,
            hint="Publish nothing of it, or describe it yourself in a project file.",
        )
    source = replace(source, missing=seen.markers(source) or source.missing)
    suggestion = replace(_describe_table(seen, source, wishes, said, follow("inspect"), most_rows), source=source)
    if not suggestion.quasi:
        raise InputError(
            "no-suggestion",
            "no column could be what others know of a person: there is nothing to generalize",
            file=source.name,
            hint="Describe the table yourself in a project file.",
        )
    if seen.rows > most_rows:
        problem = Sentence("not tried: more than {most:,} rows", most=most_rows)
        return replace(suggestion, trials=tuple(Trial(method, problem=problem) for method in METHODS))
    trying, trials = follow("search"), []
    for i, method in enumerate(METHODS):
        suggestion, trial = try_method(suggestion, seen, source, method, trying.of(i, len(METHODS)))
        trials.append(trial)
    trials.sort(key=lambda t: math.inf if t.loss is None else t.loss)
    return replace(suggestion, trials=tuple(trials))


def _describe_table(
    seen: Inspection, source: Source, wishes: Wishes, said: dict[str, str], progress: Progress, most_rows: int
) -> Suggestion:
    """Columns, models and k, before any method is tried."""
    with open_table(source, session=Session(progress)) as table:
        suggestion = describe_columns(seen, table, wishes, said)
        candidates = could_be_known(seen, suggestion, table)
        probe = Probe.of(table, suggestion, seen.rows if seen.rows <= most_rows else most_rows**2, progress)
        suggestion = add_quasi_identifiers(suggestion, candidates, table, probe, seen.rows)
        if not suggestion.quasi:
            return suggestion
        suggestion = affordable(suggestion, seen, probe)
        return spread_out(suggestion, Copies.of(table, seen) if wishes.copies else None, probe)
