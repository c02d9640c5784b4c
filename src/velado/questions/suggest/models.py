"""What models cost: each is compared with a release without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from velado.questions.inspect import Inspection
from velado.questions.suggest.probe import Probe
from velado.questions.suggest.result import Suggestion, Without, protects
from velado.sentences import Sentence

CHEAP = 0.02
"""Models that cost less together are not compared."""
DEAR = 0.1
"""A model that costs more, ..."""
MULTIPLIES = 1.5
"""... and makes the loss so many times as large, is left out."""


def affordable(suggestion: Suggestion, seen: Inspection, probe: Probe) -> Suggestion:
    """The suggestion without the models that multiply the loss, with a remark on those that cost something."""
    least, *others = suggestion.models
    plain = probe.utility(suggestion.quasi, [least])
    if not others or plain is None:
        return suggestion
    costs: list[tuple[float, dict[str, Any]]] = []
    loss = _loss(suggestion, probe, others)
    if loss is not None and loss - plain.loss <= CHEAP:
        return suggestion
    for model in others:
        alone = _loss(suggestion, probe, [model])
        if probe.left <= 0:
            return suggestion
        costs.append(((1.0 if alone is None else alone) - plain.loss, model))
    costs.sort(key=lambda cost: -cost[0])
    kept, without = list(others), list(suggestion.without)
    for cost, model in costs:
        multiplied = loss is None or (loss - plain.loss > DEAR and loss > MULTIPLIES * plain.loss)
        if not multiplied or (cost <= CHEAP and loss is not None):
            break
        kept.remove(model)
        without.append(Without(model, _explain_cost(suggestion, seen, model, cost, plain.loss, left_out=True)))
        loss = _loss(suggestion, probe, kept) if kept else plain.loss
    remarks = [_explain_cost(suggestion, seen, model, cost, plain.loss) for cost, model in costs if model in kept and cost > CHEAP]
    return replace(suggestion, models=(least, *kept), without=tuple(without), remarks=(*suggestion.remarks, *remarks))


def _loss(suggestion: Suggestion, probe: Probe, models: list[dict[str, Any]]) -> float | None:
    """The loss with some of the models; None if no recoding satisfies them."""
    columns = [*suggestion.quasi, *(suggestion.column(str(protects(m))) for m in models)]
    found = probe.utility(columns, [suggestion.models[0], *models])
    return None if found is None else found.loss


def _explain_cost(
    suggestion: Suggestion, seen: Inspection, model: Mapping[str, Any], cost: float, plain: float, left_out: bool = False
) -> str:
    """What a model costs, and that its column is nearly empty, if that is why."""
    ((name, _),) = model.items()
    column = str(protects(model))
    empty = next(c.missing for c in seen.columns if c.name == column) / max(seen.rows, 1)
    if plain + cost >= 1:
        return Sentence("no recoding satisfies it")
    if not left_out:
        return Sentence(
            "{model} on '{column}' costs {cost:.2f} of {loss:.2f}", model=name, column=column, cost=cost, loss=plain + cost
        )
    if empty > 0.5:
        return Sentence(
            "{model} on '{column}' costs {cost:.2f} of {loss:.2f}: {share:.0%} of its cells are empty",
            model=name,
            column=column,
            cost=cost,
            loss=plain + cost,
            share=empty,
        )
    return Sentence(
        "{model} on '{column}' costs {cost:.2f} of {loss:.2f}: write it if that is worth it",
        model=name,
        column=column,
        cost=cost,
        loss=plain + cost,
    )
