"""Every node of the generalization lattice with its figures, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from velado.frequency import Classes, FrequencyTable
from velado.frequency.classes import LevelTables
from velado.methods.base import lattice_size
from velado.methods.lattice import THREADS, in_ranges, kernel_tables, too_large, work_arrays
from velado.methods.objectives import compile_objective, value_of
from velado.models import PrivacyModel, Verdict, WholeModel, compile_rules, judge_classes, single_models, whole_models
from velado.models.base import rules_of
from velado.progress import Progress

MOST_NODES = 1_000_000
"""About 100 MB of figures."""
TIE = 1e-12


@dataclass(frozen=True)
class Figure:
    """What a model tells of every node; NaN where it tells nothing. ``whole``: they are whole numbers."""

    values: np.ndarray
    whole: bool


@dataclass(frozen=True)
class Surveyed:
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
    tables = LevelTables.of(frequency)
    rules = compile_rules(single_models(models), frequency.judged)
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
    single = single_models(models)
    owners = [owner for owner, _ in rules_of(single, frequency.judged)]
    achieved, reached = (_told(single, owners, table) for table in (found.achieved, found.reached))
    surveyed = Surveyed(
        shape, frequency.records, value, found.loss, found.kept, found.classes, found.smallest, found.largest,
        found.least, found.exposure, found.people, achieved, reached,
    )  # fmt: skip
    if whole_models(models):
        surveyed = _judged_whole(surveyed, frequency, models, objective, progress)
    progress.at(1.0)
    return surveyed


def _judged_whole(
    surveyed: Surveyed, frequency: FrequencyTable, models: Sequence[PrivacyModel], objective: str, progress: Progress
) -> Surveyed:
    """Every node judged as a whole: what is released of it, and what each model has with and without suppression.

    Node by node, much slower than the survey of single classes, whose figures are overwritten.
    """
    nodes = len(surveyed.kept)
    single = iter(surveyed.achieved)
    parts = [{"": 0} if isinstance(m, WholeModel) else dict.fromkeys(next(single)) for m in models]
    achieved, reached = ([{name: np.full(nodes, np.nan) for name in p} for p in parts] for _ in range(2))
    for node in range(nodes):
        progress.check()
        levels = np.unravel_index(node, surveyed.shape) if surveyed.shape else ()
        classes = Classes.at_levels(frequency, [int(x) for x in levels])
        kept, verdicts = judge_classes(models, frequency.judged, classes)
        released = classes.only(kept)
        _tell(reached, node, verdicts)
        if released.count:
            _tell(achieved, node, judge_classes(models, frequency.judged, released)[1])
        sizes, people = released.sizes, released.people
        surveyed.kept[node], surveyed.classes[node] = sizes.sum(), released.count
        surveyed.smallest[node], surveyed.largest[node] = (sizes.min(), sizes.max()) if released.count else (0, 0)
        surveyed.exposure[node], surveyed.people[node] = people.min() if released.count else np.nan, people.sum()
        surveyed.loss[node] = value_of("loss", classes, kept)
        if objective != "loss":
            surveyed.objective[node] = value_of(objective, classes, kept) if released.count else np.nan
    return replace(surveyed, achieved=_whole_numbers(achieved), reached=_whole_numbers(reached))


def _tell(figures: list[dict[str, np.ndarray]], node: int, verdicts: Sequence[Verdict]) -> None:
    for told, verdict in zip(figures, verdicts, strict=True):
        for name, values in told.items():
            figure = verdict.achieved[name] if name else verdict.achieved
            values[node] = np.nan if figure is None or not np.isfinite(figure) else figure


def _whole_numbers(figures: Sequence[dict[str, np.ndarray]]) -> tuple[dict[str, Figure], ...]:
    """The figures, and whether they are whole numbers."""
    known = ({name: x[~np.isnan(x)] for name, x in told.items()} for told in figures)
    return tuple(
        {name: Figure(x, bool((there[name] == np.round(there[name])).all())) for name, x in told.items()}
        for told, there in zip(figures, known, strict=True)
    )


def _told(models: Sequence[PrivacyModel], owners: Sequence[int], table: np.ndarray) -> tuple[dict[str, Figure], ...]:
    """The figures of rules as the models tell them."""
    return tuple(
        _read(model, table[[r for r, owner in enumerate(owners) if owner == i]]) for i, model in enumerate(models)
    )


def _read(model: PrivacyModel, figures: np.ndarray) -> dict[str, Figure]:
    """A model's figures as it tells them, from those of its rules; infinite ones are none."""
    known = ~np.isnan(figures).any(axis=0)
    # Nodes share few different figures: each is read once.
    if len(figures) == 1:
        different, place = np.unique(figures[0, known], return_inverse=True)
        lines = different[:, None]
    else:
        found, place = np.unique(figures[:, known], axis=1, return_inverse=True)
        lines = found.T
    told = [model.achieved([float(x) for x in line]) if np.isfinite(line).all() else None for line in lines]
    example = model.achieved([1.0] * len(figures))
    names = tuple(example) if isinstance(example, Mapping) else ("",)
    read = {}
    for name in names:
        cells = [t if t is None or not name else t[name] for t in told]
        values = np.full(figures.shape[1], np.nan)
        values[known] = np.array([np.nan if c is None else c for c in cells], dtype=float)[place.reshape(-1)]
        read[name] = Figure(values, isinstance(example[name] if name else example, int))
    return read


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
