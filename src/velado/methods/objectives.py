"""What a search minimises (``measures.md`` §3).

Per-cell objectives price a record by its group in each column and by a fixed price if it is
suppressed: loss, loss-mean, precision, entropy. Per-class objectives price classes by size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from velado.declarations import Declaration
from velado.errors import InputError, suggest
from velado.frequency import Classes, FrequencyTable
from velado.frequency.classes import LevelTables
from velado.sentences import Sentence

CellPrices = tuple[list[list[np.ndarray]], np.ndarray, np.ndarray, np.ndarray]
"""Prices per column and level and group; price of suppression; scale and shift of a column's sum."""


def _loss(frequency: FrequencyTable) -> CellPrices:
    prices, scale, shift = [], [], []
    n = frequency.records
    for h in frequency.hierarchies:
        domain = len(h.leaves)
        prices.append([h.group_sizes(level) / domain for level in range(h.levels)])
        span = n - n / domain
        scale.append(1 / span if domain > 1 and n else 0.0)
        shift.append(-n / domain / span if domain > 1 and n else 0.0)
    return prices, np.ones(len(prices)), np.array(scale), np.array(shift)


def _loss_mean(frequency: FrequencyTable) -> CellPrices:
    prices, suppressed, scale, shift = _loss(frequency)
    m = max(len(prices), 1)
    return prices, suppressed, scale / m, shift / m


def _precision(frequency: FrequencyTable) -> CellPrices:
    prices = [
        [np.full(len(h.labels[level]), level / h.height if h.height else 0.0) for level in range(h.levels)]
        for h in frequency.hierarchies
    ]
    suppressed = np.array([1.0 if h.height else 0.0 for h in frequency.hierarchies])
    m = max(len(prices), 1)
    scale = np.full(len(prices), 1 / (m * max(frequency.records, 1)))
    return prices, suppressed, scale, np.zeros(len(prices))


def _entropy(frequency: FrequencyTable) -> CellPrices:
    """−log2 Pr(value | group) = log2 records(group) − log2 records(value); the last part is constant."""
    prices, constants = [], []
    n = frequency.records
    for h, records in zip(frequency.hierarchies, frequency.leaf_records, strict=True):
        levels = []
        for level in range(h.levels):
            group = np.bincount(h.maps[level], weights=records, minlength=len(h.labels[level]))
            levels.append(np.log2(np.maximum(group, 1)))
        prices.append(levels)
        present = records[records > 0]
        constants.append(-float((present * np.log2(present)).sum()))
    suppressed = np.full(len(prices), np.log2(max(n, 1)))
    whole = sum(n * np.log2(max(n, 1)) + c for c in constants)
    scale = 1 / whole if whole > 0 else 0.0
    return prices, suppressed, np.full(len(prices), scale), np.array(constants) * scale


CELL_OBJECTIVES: dict[str, Callable[[FrequencyTable], CellPrices]] = {
    "loss": _loss,
    "loss-mean": _loss_mean,
    "precision": _precision,
    "entropy": _entropy,
}
OBJECTIVES: dict[str, Declaration] = {
    "loss": Declaration(title="loss", meaning="The geometric mean of the share of detail that each column loses: 0 none, 1 all."),
    "loss-mean": Declaration(
        title="loss (arithmetic mean)", meaning="The mean of the share of detail that each column loses: 0 none, 1 all."
    ),
    "precision": Declaration(
        title="precision",
        meaning="1 minus the mean of level divided by highest level over all cells; it is maximised.",
        more={"better": "larger"},
    ),
    "entropy": Declaration(
        title="entropy loss", meaning="The share of the information about the original values that the released ones lose."
    ),
    "discernibility": Declaration(
        title="discernibility", meaning="Every record costs the size of its class, a suppressed one the size of the table."
    ),
    "average-class-size": Declaration(title="average class size", meaning="Released records divided by released classes."),
}


def value_of(name: str, classes: Classes, kept: np.ndarray) -> float:
    """The objective of a node whose kept classes are released: what the search kernel computes, for any choice of classes."""
    frequency, sizes = classes.frequency, classes.sizes[kept].astype(float)
    suppressed = frequency.records - sizes.sum()
    if name == "discernibility":
        return float((sizes**2).sum() + suppressed * frequency.records)
    if name == "average-class-size":
        return float(sizes.sum() / len(sizes))
    assert classes.levels is not None
    prices, suppressed_price, scale, shift = CELL_OBJECTIVES[name](frequency)
    released = kept[classes.class_of]
    counts = frequency.counts[released].astype(float)
    losses = []
    for j, (h, level) in enumerate(zip(frequency.hierarchies, classes.levels, strict=True)):
        price = prices[j][level][h.maps[level][frequency.codes[released, j]]]
        cost = float((counts * price).sum()) + suppressed * suppressed_price[j]
        losses.append(max(0.0, float(scale[j] * cost + shift[j])))
    if name == "loss":
        return math.prod(1 + x for x in losses) ** (1 / max(len(losses), 1)) - 1
    return sum(losses)


def compile_objective(name: str, frequency: FrequencyTable, tables: LevelTables, smallest_class: int, limit: int) -> Any:
    """The objective as the arrays that the search kernel uses; ``limit`` = records that may be suppressed."""
    from velado.kernels import lattice as kernel

    if name not in OBJECTIVES:
        raise InputError("unknown-objective", Sentence("there is no objective '{name}'", name=name), hint=suggest(name, OBJECTIVES))
    m = len(frequency.hierarchies)
    cost = np.zeros(tables.maps.shape)
    sorted_at = np.zeros((m, len(cost) + 1), dtype=np.int64)
    cheapest_records: list[np.ndarray] = []
    cheapest_costs: list[np.ndarray] = []
    suppressed, scale, shift = np.zeros(m), np.zeros(m), np.zeros(m)
    if name in CELL_OBJECTIVES:
        prices, suppressed, scale, shift = CELL_OBJECTIVES[name](frequency)
        at = 0
        for j, h in enumerate(frequency.hierarchies):
            for level in range(h.levels):
                price = prices[j][level]
                cost[level, tables.first[j] : tables.first[j + 1]] = price[h.maps[level]]
                records = np.bincount(h.maps[level], weights=frequency.leaf_records[j], minlength=len(price))
                order = np.argsort(price, kind="stable")
                sorted_at[j, level] = at
                cheapest_records.append(np.append(0.0, np.cumsum(records[order])))
                cheapest_costs.append(np.append(0.0, np.cumsum((records * price)[order])))
                at += len(price) + 1
                sorted_at[j, level + 1] = at
    kinds = {"loss": kernel.GEOMETRIC, "discernibility": kernel.DISCERNIBILITY, "average-class-size": kernel.AVERAGE}
    return kernel.Objective(
        kind=kinds.get(name, kernel.SUM),
        cost=cost,
        suppressed_cost=suppressed,
        scale=scale,
        shift=shift,
        sorted_at=sorted_at,
        sorted_records=np.concatenate([*cheapest_records, np.zeros(0)]),
        sorted_costs=np.concatenate([*cheapest_costs, np.zeros(0)]),
        smallest_class=smallest_class,
        limit=limit,
    )
