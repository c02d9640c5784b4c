"""Every node of the generalization lattice with its figures, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from velado.frequency import Classes, FrequencyTable
from velado.frequency.classes import LevelTables
from velado.methods.base import lattice_size
from velado.methods.lattice import THREADS, in_ranges, kernel_tables, too_large, work_arrays
from velado.methods.objectives import compile_objective, value_of
from velado.models import PrivacyModel, compile_rules, judge_classes, whole_models
from velado.models.base import rules_of
from velado.progress import Progress
from velado.results import Discreet

MOST_NODES = 1_000_000
"""About 100 MB of figures."""
TIE = 1e-12


@dataclass(frozen=True, repr=False)
class Figure(Discreet):
    """What a model tells of every node; NaN where it tells nothing. ``whole``: they are whole numbers."""

    values: np.ndarray
    whole: bool


@dataclass(frozen=True, repr=False)
class Surveyed(Discreet):
    """Figures of all nodes, numbered in mixed radix, the first column most significant; see `velado.kernels.survey`.

    ``achieved`` and ``reached`` have the figures of each model by name; the name is empty where a model has one figure.
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
    achieved: tuple[dict[str, Figure], ...]
    reached: tuple[dict[str, Figure], ...]


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
    if whole_models(models):
        return _node_by_node(frequency, models, objective, shape, progress)
    tables = LevelTables.of(frequency)
    rules = compile_rules(models, frequency.judged_columns)
    people = frequency.people
    histograms = people is not None or bool((rules.kind != SIZE).any())
    # No class is too small to be looked at, and nothing is left out for what it suppresses.
    loss, priced = (compile_objective(name, frequency, tables, 1, frequency.records) for name in ("loss", objective))
    unknown, counted = np.full(nodes, np.nan), np.zeros(nodes, dtype=np.int64)
    found = Survey(
        loss=unknown.copy(),
        value=np.full(0 if objective == "loss" else nodes, np.nan),
        kept=counted.copy(),
        classes=counted.copy(),
        smallest=counted.copy(),
        largest=counted,
        least=np.zeros(nodes),
        exposure=unknown,
        people=np.zeros(nodes),
        achieved=np.full((len(rules.kind), nodes), np.nan),
        reached=np.full((len(rules.kind), nodes), np.nan),
        unit=0.0 if people is None else float(people.unit),
        place=frequency.sensitive_domain,
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
    owners = [owner for owner, _ in rules_of(models, frequency.judged_columns)]
    achieved, reached = (_model_figures(models, owners, table) for table in (found.achieved, found.reached))
    progress.at(1.0)
    return Surveyed(
        shape,
        frequency.records,
        value,
        found.loss,
        found.kept,
        found.classes,
        found.smallest,
        found.largest,
        found.least,
        found.exposure,
        found.people,
        achieved,
        reached,
    )


def _node_by_node(
    frequency: FrequencyTable, models: Sequence[PrivacyModel], objective: str, shape: tuple[int, ...], progress: Progress
) -> Surveyed:
    """The same where a model judges the whole release: no kernel knows those, so it takes much longer."""
    nodes = lattice_size(shape)
    # loss, objective, kept, classes, smallest, largest, least, exposure, people
    lines = np.full((nodes, 9), np.nan)
    lines[:, 2:7] = lines[:, 8] = 0
    achieved: list[list[Any]] = []
    reached: list[list[Any]] = []
    for node in range(nodes):
        progress.at(node, nodes)
        levels = [int(x) for x in np.unravel_index(node, shape)] if shape else []
        classes = Classes.at_levels(frequency, levels)
        kept, verdicts = judge_classes(models, frequency.judged_columns, classes)
        reached.append([v.achieved for v in verdicts])
        people = _people(classes)
        lines[node, 6] = people.min()
        if not kept.any():
            achieved.append([None] * len(models))
            continue
        sizes = classes.sizes[kept]
        achieved.append([v.achieved for v in judge_classes(models, frequency.judged_columns, classes.only(kept))[1]])
        lines[node, :2] = value_of("loss", classes, kept), value_of(objective, classes, kept)
        lines[node, 2:6] = sizes.sum(), len(sizes), sizes.min(), sizes.max()
        lines[node, 7:] = people[kept].min(), people[kept].sum()
    progress.at(1.0)
    loss, value, _, _, _, _, least, exposure, people_released = lines.T.copy()
    kept_records, released, smallest, largest = lines[:, 2:6].T.astype(np.int64)
    return Surveyed(
        shape=shape,
        records=frequency.records,
        objective=value,
        loss=loss,
        kept=kept_records,
        classes=released,
        smallest=smallest,
        largest=largest,
        least=least,
        exposure=exposure,
        people=people_released,
        # Where no node releases anything, what all classes reach still tells the names.
        achieved=tuple(_columns([line[i] for line in achieved], reached[0][i]) for i in range(len(models))),
        reached=tuple(_columns([line[i] for line in reached]) for i in range(len(models))),
    )


def _people(classes: Classes) -> np.ndarray:
    """How many people each class has: records, or shares where a person may have several."""
    counted = classes.frequency.people
    if counted is None:
        return classes.sizes.astype(float)
    own = classes.values == counted.first
    of = np.repeat(np.arange(classes.count), np.diff(classes.start))[own]
    return np.bincount(of, weights=classes.value_counts[own], minlength=classes.count) / counted.unit


def _model_figures(models: Sequence[PrivacyModel], owners: Sequence[int], table: np.ndarray) -> tuple[dict[str, Figure], ...]:
    """The figures of rules as the models tell them."""
    return tuple(_read(model, table[[r for r, owner in enumerate(owners) if owner == i]]) for i, model in enumerate(models))


def _read(model: PrivacyModel, figures: np.ndarray) -> dict[str, Figure]:
    """A model's figures as it tells them, from those of its rules."""
    known = np.isfinite(figures).all(axis=0)
    # Nodes share few different figures: each is read once.
    if len(figures) == 1:
        different, place = np.unique(figures[0, known], return_inverse=True)
        lines = different[:, None]
    else:
        found, place = np.unique(figures[:, known], axis=1, return_inverse=True)
        lines = found.T
    told = [model.achieved_level([float(x) for x in line]) for line in lines]
    read = _columns([*told, None], model.achieved_level([1.0] * len(figures)))
    at = np.full(figures.shape[1], len(told))
    at[known] = place.reshape(-1)
    return {name: Figure(figure.values[at], figure.whole) for name, figure in read.items()}


def _columns(told: Sequence[Any], example: Any = None) -> dict[str, Figure]:
    """What a model tells, one after the other, by the names of its figures; infinite figures are none."""
    example = next((t for t in told if t is not None), 0.0) if example is None else example
    parts = {"": example} if not isinstance(example, Mapping) else example
    columns = {}
    for name, one in parts.items():
        cells = [t[name] if name and t is not None else t for t in told]
        values = np.array([np.nan if x is None or np.isinf(x) else x for x in cells], dtype=float)
        columns[name] = Figure(values, isinstance(one, int))
    return columns


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
