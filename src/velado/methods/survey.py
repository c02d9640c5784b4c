"""Every node of the generalization lattice with its figures, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from velado.frequency import Classes, FrequencyTable
from velado.frequency.classes import LevelTables
from velado.methods.base import lattice_size
from velado.methods.lattice import THREADS, in_ranges, kernel_tables, too_large, work_arrays
from velado.methods.objectives import compile_objective, value_of
from velado.models import PrivacyModel, WholeModel, compile_rules, judge_classes, single_models, whole_models
from velado.progress import Progress

MOST_NODES = 1_000_000
"""About 100 MB of figures."""
TIE = 1e-12


@dataclass(frozen=True)
class Surveyed:
    """Figures of all nodes, numbered in mixed radix, the first column most significant; see `velado.kernels.survey`.

    ``achieved`` and ``reached`` (with and without suppression) have a line for each rule of single classes; ``whole`` has
    them by the number of each model of the whole.
    """

    shape: tuple[int, ...]
    records: int
    objective: np.ndarray
    loss: np.ndarray
    kept: np.ndarray
    classes: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray
    least: np.ndarray
    exposure: np.ndarray
    people: np.ndarray
    achieved: np.ndarray
    reached: np.ndarray
    whole: Mapping[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)


def survey(
    frequency: FrequencyTable,
    models: Sequence[PrivacyModel],
    objective: str = "loss",
    most: int = MOST_NODES,
    progress: Progress | None = None,
) -> Surveyed:
    """Judge and price every node: all classes of all nodes, O(nodes × classes × models), one thread per core.

    Nodes are grouped from finer ones. The figures are shared by all threads, so memory is what the figures need (about
    100 bytes per node) and a stack of groupings per thread.
    """
    from velado.kernels import lattice as kernel
    from velado.kernels.measures import SIZE
    from velado.kernels.survey import Survey, survey_nodes

    progress = progress or Progress()
    shape = tuple(h.levels for h in frequency.hierarchies)
    nodes = lattice_size(shape)
    if nodes > most:
        raise too_large(nodes, most, "Raise the limit (--most-nodes, most_nodes=), or take fewer quasi-identifiers.")
    tables = LevelTables.of(frequency)
    rules = compile_rules(single_models(models), frequency.judged)
    people = frequency.people
    histograms = people is not None or bool((rules.kind != SIZE).any())
    # No class is too small to be looked at, and nothing is left out for what it suppresses.
    loss, priced = (compile_objective(name, frequency, tables, 1, frequency.records) for name in ("loss", objective))
    counts = (np.zeros(nodes, dtype=np.int64) for _ in range(4))
    rule_figures = (np.full((len(rules.kind), nodes), np.nan) for _ in range(2))
    found = Survey(
        np.full(nodes, np.nan),
        np.full(0 if objective == "loss" else nodes, np.nan),
        *counts,
        np.zeros(nodes),
        np.full(nodes, np.nan),
        np.zeros(nodes),
        *rule_figures,
        0.0 if people is None else float(people.unit),
    )
    seen = kernel_tables(frequency, tables)
    workers = [work_arrays(kernel, frequency, rules, 0, histograms) for _ in range(min(THREADS, nodes))]
    figures = {id(state): np.empty((len(rules.kind), frequency.rows)) for state, _ in workers}

    def work(worker: tuple[Any, Any], first: int, last: int) -> bool:
        state, scratch = worker
        return bool(survey_nodes(seen, rules, priced, loss, state, scratch, figures[id(state)], found, first, last))

    in_ranges(nodes, workers, work, progress)
    none = found.classes == 0
    found.achieved[:, none] = np.nan
    value = found.loss if objective == "loss" else found.value
    surveyed = Surveyed(
        shape, frequency.records, value, found.loss, found.kept, found.classes, found.smallest, found.largest,
        found.least, found.exposure, found.people, found.achieved, found.reached,
    )  # fmt: skip
    if whole_models(models):
        surveyed = replace(surveyed, whole=_judge_whole(surveyed, frequency, models, objective, progress))
    progress.at(1.0)
    return surveyed


def _judge_whole(
    surveyed: Surveyed, frequency: FrequencyTable, models: Sequence[PrivacyModel], objective: str, progress: Progress
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Judge every node as a whole, and correct what is released of it; what each model of the whole has with and without
    suppression. Node by node, much slower than the rest."""
    nodes = len(surveyed.kept)
    figures = {
        i: (np.full(nodes, np.nan), np.full(nodes, np.nan)) for i, m in enumerate(models) if isinstance(m, WholeModel)
    }
    for node in range(nodes):
        progress.check()
        levels = np.unravel_index(node, surveyed.shape) if surveyed.shape else ()
        classes = Classes.at_levels(frequency, [int(x) for x in levels])
        kept, verdicts = judge_classes(models, frequency.judged, classes)
        released = classes.only(kept)
        for i, (achieved, reached) in figures.items():
            model = models[i]
            reached[node] = verdicts[i].achieved
            if released.count and isinstance(model, WholeModel):
                achieved[node] = model.judge(released).achieved
        surveyed.kept[node], surveyed.classes[node] = released.sizes.sum(), released.count
        surveyed.smallest[node], surveyed.largest[node] = (
            (released.sizes.min(), released.sizes.max()) if released.count else (0, 0)
        )
        people = released.people
        surveyed.exposure[node] = people.min() if released.count else np.nan
        surveyed.people[node] = people.sum()
        surveyed.loss[node] = value_of("loss", classes, kept)
        if objective != "loss":
            surveyed.objective[node] = value_of(objective, classes, kept) if released.count else np.nan
        surveyed.achieved[:, node] = surveyed.achieved[:, node] if released.count else np.nan
    return figures


def satisfying(surveyed: Surveyed, limit: int) -> np.ndarray:
    """Which nodes release something and suppress no more than so many records."""
    return np.asarray((surveyed.kept > 0) & (surveyed.records - surveyed.kept <= limit))


def minimal(shape: Sequence[int], good: np.ndarray) -> np.ndarray:
    """Which good nodes have no good node below them (k-minimal generalizations, Samarati 2001).

    >>> minimal((2, 2), np.array([False, True, True, True])).tolist()
    [False, True, True, False]
    """
    below = good.reshape(shape)
    for axis in range(len(shape)):
        below = np.logical_or.accumulate(below, axis=axis)
    above = np.zeros(tuple(shape), dtype=bool)
    for axis in range(len(shape)):
        higher = tuple(slice(1, None) if a == axis else slice(None) for a in range(len(shape)))
        lower = tuple(slice(None, -1) if a == axis else slice(None) for a in range(len(shape)))
        above[higher] |= below[lower]
    return good & ~above.reshape(-1)


def best(surveyed: Surveyed, good: np.ndarray) -> int | None:
    """The good node with the smallest objective; ties: smallest sum of levels, then the smallest vector."""
    values = np.where(good, surveyed.objective, np.inf)
    lowest = float(values.min(initial=np.inf))
    if not np.isfinite(lowest):
        return None
    tied = np.flatnonzero(values <= lowest + TIE * max(1.0, abs(lowest)))
    heights = np.sum(np.unravel_index(tied, surveyed.shape), axis=0)
    return int(tied[np.lexsort((tied, heights))[0]])
