"""Compare settings of a project on one frequency table; find the strongest that keeps utility."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from velado.errors import InputError, NoSolution, suggest
from velado.evaluation import Comparison, Pair, Setting, Wanted, check_numeric, evaluate, judge
from velado.evaluation.comparison import CONDITIONS, Balance, check_conditions
from velado.evaluation.comparison import balance as choose
from velado.frequency import FrequencyTable
from velado.hierarchies import Cover
from velado.methods import Method, method_from
from velado.models import KAnonymity, PrivacyModel, strengths
from velado.progress import Progress
from velado.project import AnyProject, Project
from velado.project.people import person_column
from velado.project.rules import check_described
from velado.release.count import check_size, count_table
from velado.release.people import Membership, with_shares
from velado.schema import Schema
from velado.sentences import Sentence
from velado.tables import Session, open_table

DEFAULT_K = tuple(range(2, 21))


@dataclass(frozen=True)
class Variant:
    """A project with other parameters."""

    parameters: dict[str, Any]
    models: tuple[PrivacyModel, ...]
    method: Method


def compare(
    project: AnyProject, grid: Mapping[str, Sequence[Any]], *, measures: Sequence[str] = ("ks",), progress: Progress | None = None
) -> Comparison:
    """Search and evaluate every combination of the grid's values; the table is read and counted once.

    ``grid`` maps parameters of the project's models that say how strong they are (``k``, ``l``, ``t``, …) and of its method
    (``suppression``, ``method`` itself) to the values to try. Nothing is written.

    >>> import pyarrow as pa
    >>> from velado import Column, KAnonymity
    >>> people = pa.table({"age": ["31", "38", "39", "52", "57"]})
    >>> age = Column("age", "quasi-identifier", hierarchy={"intervals": [10, 100]})
    >>> comparison = compare(Project(people, (age,), (KAnonymity(2),)), {"k": [2, 3]})
    >>> [(s.parameters, s.levels, s.evaluation.suppressed) for s in comparison.settings]
    [({'k': 2}, {'age': 1}, 0), ({'k': 3}, {'age': 1}, 2)]
    """
    project = Project.of(project)
    variants = _variants(project, grid)
    follow = (progress or Progress()).through(open=1, count=2, compare=10)
    frequency, members = _count_project(project, variants, follow)
    return _compare_variants(frequency, members, variants, grid, measures, follow("compare"))


def balance(
    project: AnyProject,
    conditions: Mapping[str, float],
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    progress: Progress | None = None,
) -> Balance:
    """The strongest setting of the grid (default k = 2 … 20) whose release meets all utility conditions.

    ``conditions`` are names of `CONDITIONS` with their limits, for instance ``{"loss": 0.2}`` or ``{"ks": 0.95}``.
    """
    check_conditions(conditions)
    project = Project.of(project)
    grid = grid or {"k": DEFAULT_K}
    variants = _variants(project, grid)
    follow = (progress or Progress()).through(open=1, count=2, compare=10)
    frequency, members = _count_project(project, variants, follow)
    if "ks" in conditions:
        check_numeric(Cover.at_level(h, min(1, h.height)) for h in frequency.hierarchies)
    measures = [m for m in (CONDITIONS[name].measure for name in conditions) if m is not None]
    return choose(_compare_variants(frequency, members, variants, grid, measures, follow("compare")), conditions)


def grid_parameters() -> tuple[str, ...]:
    """What a grid may vary: how strong the models are, how much may be suppressed, and the method."""
    return (*strengths(), "suppression", "method")


def _count_project(
    project: Project, variants: Sequence[Variant], follow: Callable[[str], Progress]
) -> tuple[FrequencyTable, Membership | None]:
    project.check_modelled()
    with open_table(project.source, session=Session(follow("open"))) as table:
        schema = Schema(project.columns).fit_header(table.header, project.rest, table.name)
        check_described(project, schema)
        follow("count")
        person = person_column(project, table)
        frequency = count_table(table, schema, variants[0].models, project.folder)
        members = None if person is None else Membership.of(table, frequency, person)
        return with_shares(table, frequency, person), members


def _compare_variants(
    frequency: FrequencyTable,
    members: Membership | None,
    variants: Sequence[Variant],
    grid: Mapping[str, Sequence[Any]],
    measures: Sequence[str],
    progress: Progress,
) -> Comparison:
    """All variants, one thread per core: the kernels let go of Python's lock."""
    settings: list[Setting] = []
    # Settings run side by side, so none of them says how far the whole is; all of them hear of a cancel.
    apart = progress.part(0, 0)
    with ThreadPoolExecutor(min(len(variants), os.cpu_count() or 1)) as pool:
        running = [pool.submit(_setting, frequency, members, variant, tuple(measures), apart) for variant in variants]
        try:
            for i, future in enumerate(running):
                settings.append(future.result())
                progress.at(i + 1, len(running))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return Comparison.of(tuple(grid), settings)


def _setting(
    frequency: FrequencyTable, members: Membership | None, variant: Variant, measures: tuple[str, ...], progress: Progress
) -> Setting:
    try:
        check_size(frequency, variant.models)
        found = variant.method.search(frequency, variant.models, progress)
    except NoSolution as error:
        return Setting(variant.parameters, reason=error.message)
    pair = Pair.of(found.classes, found.kept, found.covers, found.labels, fuzzy=found.fuzzy)
    pair = pair if members is None else members.with_people(pair)
    evaluation = evaluate(pair, variant.models, judge(pair, variant.models), Wanted(measures), progress)
    levels = None if found.levels is None else dict(zip(frequency.columns, found.levels, strict=True))
    return Setting(variant.parameters, evaluation, levels)


def _variants(project: Project, grid: Mapping[str, Sequence[Any]]) -> list[Variant]:
    """All combinations, every model and method checked before anything is read."""
    if not grid:
        raise InputError("empty-grid", "say which parameter to vary", hint="For example --k 2..25.")
    known = grid_parameters()
    for name, values in grid.items():
        if name not in known:
            raise InputError(
                "unknown-parameter", Sentence("a comparison cannot vary '{name}'", name=name), hint=suggest(name, known)
            )
        if not len(values):
            raise InputError("empty-grid", Sentence("there is no value to try for '{name}'", name=name))
    combinations = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    return [Variant(c, _models(project.models, c), _method(project.method, c)) for c in combinations]


def _models(models: Sequence[PrivacyModel], parameters: Mapping[str, Any]) -> tuple[PrivacyModel, ...]:
    changed = list(models)
    for name, value in parameters.items():
        if name not in strengths():
            continue
        if name == "k" and not any("k" in m.parameters for m in changed):
            changed.insert(0, KAnonymity(value))
            continue
        if not any(name in m.parameters for m in changed):
            raise InputError(
                "no-such-parameter",
                Sentence("no model of the project has the parameter '{name}'", name=name),
                hint=Sentence("Add a model that has it to the project: {models} do not.", models=[m.name for m in changed]),
            )
        changed = [replace(m, **{name: value}) if name in m.parameters else m for m in changed]
    return tuple(changed)


def _method(method: Method, parameters: Mapping[str, Any]) -> Method:
    wanted = {k: v for k, v in parameters.items() if k == "suppression"}
    if "method" in parameters:
        # What the project says of its own method holds for another one as far as that has the parameter.
        own = {k: getattr(method, k) for k in method.parameters}
        plain = method_from(str(parameters["method"]), None)
        method = replace(plain, **{k: v for k, v in own.items() if k in plain.parameters})
    for name in wanted:
        if name not in method.parameters:
            raise InputError(
                "no-such-parameter", Sentence("the method {method} has no parameter '{name}'", method=method.name, name=name)
            )
    return replace(method, **wanted)
