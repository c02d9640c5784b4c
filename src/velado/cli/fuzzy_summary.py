"""Fuzzy sets in a few readable tables."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from velado import Evaluation
from velado.cli.terminal import figure, plain, say, table
from velado.cli.verdicts import show_verdicts
from velado.questions import Fuzzification
from velado.sentences import Sentence, join_sentences


def show(result: Fuzzification, name: str) -> None:
    """Print the sets, what their classes achieve, and the crisp measures of their labels beside it."""
    e = result.evaluation
    assert e.fuzzy is not None
    say(
        "[bold]{name}[/]: {released:,} of {rows:,} records in {fuzzy:,} fuzzy classes, {classes:,} combinations of labels",
        name=name,
        released=e.released,
        rows=e.rows,
        fuzzy=e.fuzzy.classes,
        classes=e.classes,
    )
    for p in e.fuzzy.partitions:
        known = any(s.centre or s.corners for s in p.sets)
        breaks = result.breaks.get(p.columns[0], [])
        centre = Sentence("corners") if p.sets[0].corners else Sentence("centre")
        place = (Sentence("from"), Sentence("to")) if breaks else (centre,) if known else ()
        lines = [
            (
                " / ".join(s.name.values()),
                *(breaks[i : i + 2] if breaks else [_place(s)] if known else []),
                round(s.sigma_count, 1),
                s.cardinality,
                s.records,
            )
            for i, s in enumerate(p.sets)
        ]
        header = (Sentence("set"), *place, "σ-count", Sentence("non-fuzzy cardinality"), Sentence("records"))
        table(Sentence("Sets of {columns}", columns=_and(map(plain, p.columns))), lines, header)
    cautions(e)
    measures(e)
    curve = [*e.fuzzy.possibility.items(), (0, -1.0)]
    # Of equal figures the one for the most records says all.
    shown = [(k, p) for (k, p), (_, following) in pairwise(curve) if figure(p) != figure(following)]
    table("Possibility that classes have at least so many records", shown, ("records", "possibility"))
    if e.models:
        show_verdicts("Models", e.models)


def cautions(evaluation: Evaluation) -> None:
    """Say which sets were not learned as they should be, and which were drawn where nobody is."""
    for p in evaluation.fuzzy.partitions if evaluation.fuzzy else ():
        columns = _and(p.columns)
        if p.converged is False:
            say(
                "[yellow]{columns}: not converged after {n:,} iterations; other sets may fit better[/]",
                columns=columns,
                n=p.iterations,
            )
        # Of sets that only suppressed people belong to nothing is said.
        regularized = [p.sets[i] for i in p.regularized if p.sets[i].records]
        if regularized:
            listed = ", ".join(" / ".join(s.name.values()) for s in regularized)
            say("[yellow]{columns}: singular covariance, regularized, in the sets {sets}[/]", columns=columns, sets=listed)
        empty = [name for s in p.sets if s.corners and not s.sigma_count for name in s.name.values()]
        if empty:
            say(
                "[yellow]{columns}: nobody belongs to {sets}; are the breakpoints right?[/]", columns=columns, sets=", ".join(empty)
            )


def measures(e: Evaluation) -> None:
    """Print fuzzy measures beside the crisp ones, where there are both."""
    if e.fuzzy is None or e.after is None:
        return
    lines: list[tuple[Any, ...]] = [
        (Sentence("anonymity: largest Q (possibility ½); k"), e.fuzzy.q, e.after.k),
        (Sentence("smallest class: non-fuzzy cardinality; records"), e.fuzzy.cardinality["smallest"], e.after.k),
    ]
    for column, s in e.fuzzy.sensitive.items():
        crisp = e.after.sensitive[column]
        lines += [
            (Sentence("{column}: ℓ-diversity", column=column), s.l, crisp["l_distinct"]),
            (Sentence("{column}: t-closeness, equal distance (largest)", column=column), s.t, crisp["t_equal"]),
            (Sentence("… smallest, as the Oviedo thesis reports it"), s.t_smallest, None),
            (Sentence("{column}: t-closeness, ordered distance (largest)", column=column), s.t_ordered, crisp["t_ordered"]),
            (Sentence("… smallest, as the Oviedo thesis reports it"), s.t_ordered_smallest, None),
            (Sentence("{column}: surest belief of who knows its distribution", column=column), s.posterior, None),
        ]
    table("Measures of the degrees, and of the labels", lines, ("", "fuzzy", "crisp"))


def _place(of: Any) -> str:
    shown = of.corners or (of.centre.values() if of.centre else [None])
    return "; ".join(figure(x) for x in shown)


def _and(columns: Iterable[str]) -> Sentence:
    return join_sentences(Sentence(" and "), columns)
