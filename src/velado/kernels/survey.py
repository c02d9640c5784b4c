"""Every node of the generalization lattice with its figures; nothing is pruned.

Nodes are visited in the order of `lattice.sweep_nodes`, each grouped from its nearest ancestor on the stack, and every
class is judged exactly. Ranges are independent of each other, so threads can take one each if they have their own
stack and scratch; the arrays of `Survey` are shared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from velado.kernels.compiler import helper, kernel
from velado.kernels.lattice import (
    AVERAGE,
    BASES,
    DISCERNIBILITY,
    ENTRIES_USED,
    ROWS_USED,
    STOP,
    _combine,
    _has_descendants,
    _is_ancestor,
    _room,
    _store,
    _swept,
    group_node,
    levels_of,
)
from velado.kernels.measures import at_least, judge_rule


class Survey(NamedTuple):
    """What is found of each node, one array element each.

    ``kept``: records of satisfying classes; ``classes``, ``smallest`` and ``largest`` are about these classes.
    ``exposure`` is the smallest number of people of a satisfying class, ``least`` that of all classes, ``people`` those of
    all satisfying classes together: records, or shares where a person has several (``unit`` is then what one weighs under the
    value ``place`` of the histograms, the last one, and 0 otherwise). ``achieved[r]`` and ``reached[r]``: worst figure of rule r among satisfying classes
    and among all. ``value`` is empty where the objective is the loss. What nothing is known of is NaN, or 0 for counts.
    """

    loss: np.ndarray
    value: np.ndarray
    kept: np.ndarray
    classes: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray
    least: np.ndarray
    exposure: np.ndarray
    people: np.ndarray
    achieved: np.ndarray
    reached: np.ndarray
    unit: float
    place: int


@helper
def _objective_value(tables, objective, scratch, levels, sizes, rows, found, kept):
    """The objective at a node whose satisfying classes are marked in the scratch."""
    m = levels.shape[0]
    satisfied = scratch.satisfied
    suppressed = tables.records - kept
    if objective.kind == DISCERNIBILITY:
        squares = 0.0
        for c in range(found):
            if satisfied[c]:
                squares += float(sizes[c]) * sizes[c]
        return squares + float(suppressed) * tables.records
    if objective.kind == AVERAGE:
        classes = 0
        for c in range(found):
            if satisfied[c]:
                classes += 1
        return kept / classes
    costs = scratch.column_cost
    price = scratch.price
    flat = tables.cells.reshape(tables.cells.shape[0] * m)
    for j in range(m):
        costs[j] = 0.0
        for leaf in range(tables.first[j], tables.first[j + 1]):
            price[leaf] = objective.cost[levels[j], leaf]
    for c in range(found):
        if satisfied[c]:
            cell = np.uint64(rows[c]) * np.uint64(m)
            for j in range(m):
                costs[j] += sizes[c] * price[flat[cell + np.uint64(j)]]
    for j in range(m):
        costs[j] += suppressed * objective.suppressed_cost[j]
    return _combine(objective.kind, objective.scale, objective.shift, costs)


@helper
def _worst(rules, figures, satisfied, found, node, achieved, reached):
    """The worst figure of every rule, among satisfying classes and among all."""
    for r in range(rules.kind.shape[0]):
        higher = at_least(rules.kind[r])
        worst = np.inf if higher else -np.inf
        kept = worst
        for c in range(found):
            figure = figures[r, c]
            if higher:
                worst = min(worst, figure)
                kept = min(kept, figure) if satisfied[c] else kept
            else:
                worst = max(worst, figure)
                kept = max(kept, figure) if satisfied[c] else kept
        reached[r, node] = worst
        achieved[r, node] = kept


@helper
def _measure(tables, rules, objective, loss, search, scratch, figures, survey, levels, node, at, found):
    """Judge and price a node that was grouped."""
    sizes = search.sizes[at : at + found]
    rows = search.rows[at : at + found]
    satisfied = scratch.satisfied
    for c in range(found):
        satisfied[c] = True
    for r in range(rules.kind.shape[0]):
        for c in range(found):
            scratch.keepable[c] = 1
        judge_rule(
            rules,
            r,
            found,
            sizes,
            scratch.class_start,
            scratch.class_values,
            scratch.class_counts,
            figures[r],
            satisfied,
            scratch.keepable,
            np.bool_(True),
            scratch.buffer,
            scratch.reals,
        )
    _worst(rules, figures, satisfied, found, node, survey.achieved, survey.reached)
    kept = np.int64(0)
    classes = np.int64(0)
    smallest = np.int64(tables.records)
    largest = np.int64(0)
    least = np.inf
    exposure = np.inf
    people = 0.0
    for c in range(found):
        size = sizes[c]
        here = float(size)
        if survey.unit > 0:
            last = scratch.class_start[c + 1] - 1
            known = last >= scratch.class_start[c] and scratch.class_values[last] == survey.place
            here = scratch.class_counts[last] / survey.unit if known else 0.0
        least = min(least, here)
        if not satisfied[c]:
            continue
        kept += size
        classes += 1
        smallest = min(smallest, size)
        largest = max(largest, size)
        exposure = min(exposure, here)
        people += here
    survey.kept[node] = kept
    survey.classes[node] = classes
    survey.least[node] = least
    if classes == 0:
        return
    survey.smallest[node] = smallest
    survey.largest[node] = largest
    survey.exposure[node] = exposure
    survey.people[node] = people
    survey.loss[node] = _objective_value(tables, loss, scratch, levels, sizes, rows, found, kept)
    if survey.value.shape[0] > 0:
        survey.value[node] = _objective_value(tables, objective, scratch, levels, sizes, rows, found, kept)


@kernel(size=lambda tables, rules, objective, loss, search, *rest: search.base_rows[0] * (rest[-1] - rest[-2]))
def survey_nodes(tables, rules, objective, loss, search, scratch, figures, survey, first, last):
    """Measure the nodes at the positions ``first`` … ``last`` − 1 of the sweep; False if asked to stop before."""
    levels = np.zeros(tables.strides.shape[0], np.int64)
    search.integers[BASES] = 1
    search.integers[ROWS_USED] = search.base_rows[0]
    search.integers[ENTRIES_USED] = search.base_entries[1]
    for position in range(first, last):
        if search.integers[STOP] != 0:
            return False
        node = _swept(tables.sweep, tables.strides, tables.depth, position)
        while search.integers[BASES] > 1 and not _is_ancestor(
            tables.sweep, tables.strides, tables.depth, search.base_node[search.integers[BASES] - 1], node
        ):
            search.integers[BASES] -= 1
            search.integers[ROWS_USED] = search.base_first[search.integers[BASES]]
            search.integers[ENTRIES_USED] = search.base_entries[search.integers[BASES]]
        base = search.integers[BASES] - 1
        levels_of(tables.strides, tables.depth, node, levels)
        at = _room(search.rows, search.base_rows, search.integers)
        found, entries = group_node(tables, objective, search, scratch, levels, base, at)
        _measure(tables, rules, objective, loss, search, scratch, figures, survey, levels, node, at, found)
        if _has_descendants(tables.sweep, tables.depth, levels):
            _store(search, scratch.class_start, scratch.class_values, scratch.class_counts, node, at, found, entries)
    return True
