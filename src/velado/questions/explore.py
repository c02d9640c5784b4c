"""Look at every node of the generalization lattice of a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from velado.errors import InputError
from velado.frequency import FrequencyTable
from velado.methods import Method, kernels_ready
from velado.methods.suppression import suppression_limit
from velado.methods.survey import MOST_NODES, Surveyed, best, minimal, satisfying, survey
from velado.models import PrivacyModel
from velado.models.base import rules_of
from velado.progress import Progress
from velado.project import Project
from velado.questions.exploration import STATUSES, Asked, Exploration
from velado.release.count import count
from velado.release.fit import fit
from velado.release.people import Membership
from velado.sentences import Sentence
from velado.tables import Session, open_table

__all__ = ["Exploration", "explore"]


def explore(
    project: Project | str | Path, *, most_nodes: int = MOST_NODES, progress: Progress | None = None
) -> Exploration:
    """Every node of the lattice of a project's quasi-identifiers, with objective, suppressed records, classes, risk,
    what each model achieves, and whether it satisfies them; nothing is written.

    The table is read and counted once. A lattice of more than ``most_nodes`` is refused. For the full-domain methods: lattice,
    samarati, datafly, incognito and fixed.

    >>> import pyarrow as pa
    >>> from velado import Column, KAnonymity, Project
    >>> people = pa.table({"age": ["31", "38", "52"]})
    >>> columns = (Column("age", "quasi-identifier", hierarchy={"intervals": [10, 100]}),)
    >>> found = explore(Project(people, columns, (KAnonymity(2),)))
    >>> [(n.levels, n.status, n.suppressed) for n in found.nodes()]
    [((0,), 'failing', 3), ((1,), 'optimal', 1), ((2,), 'satisfying', 0)]
    """
    project = Project.of(project)
    project.check_modelled()
    check_full_domain(project.method)
    follow = (progress or Progress()).through(open=1, fit=1, count=3, explore=10)
    with open_table(project.source, project.folder, Session(follow("open"))) as table:
        counted = count(fit(project, table, follow("fit")), follow("count"))
        members = None if counted.person is None else Membership.of(table, counted.frequency, counted.person)
    exploring = follow("explore")
    if not kernels_ready(counted.frequency.rows):
        exploring.part(0, 0, "compile").at(0)
    return explored(project, counted.frequency, members, most_nodes, exploring)


def check_full_domain(method: Method) -> None:
    """Refuse methods that do not choose a node of the lattice."""
    if not method.full_domain:
        raise InputError(
            "no-lattice",
            Sentence("the method {method} recodes locally: it chooses no node of a lattice", method=method.name),
            hint="Write 'method: lattice' (or samarati, datafly, incognito, fixed) to explore the lattice.",
        )


def explored(
    project: Project, frequency: FrequencyTable, members: Membership | None, most_nodes: int, progress: Progress
) -> Exploration:
    """The exploration of a table that was counted."""
    models, method = project.models, project.method
    objective = str(getattr(method, "objective", "loss"))
    found = survey(frequency, models, objective, most_nodes, progress)
    limit = suppression_limit(method.suppression, frequency.records)  # type: ignore[attr-defined]
    asked, figures, whole = _figures(models, frequency, found)
    good = satisfying(found, limit)
    lowest = minimal(found.shape, good)
    status = np.select([good & lowest, good, found.kept > 0], [1, 2, 3], 4).astype(np.int8)
    chosen = best(found, good)
    if chosen is not None:
        status[chosen] = STATUSES.index("optimal")
    return Exploration(
        project.name, frequency.columns, found.shape, frequency.records, limit, objective,
        None if frequency.people is None else frequency.people.column, asked, status, lowest, figures, whole,
        frequency, tuple(models), members,
    )  # fmt: skip


def _figures(
    models: Sequence[PrivacyModel], frequency: FrequencyTable, found: Surveyed
) -> tuple[tuple[Asked, ...], dict[str, np.ndarray], frozenset[str]]:
    """What is listed of every node, and which of it are whole numbers."""
    released = found.classes > 0
    classes = np.where(released, found.classes, 1)
    # A class has whole people, and at least one.
    fewest = np.maximum(np.ceil(found.exposure - 1e-9), 1)
    suppressed = found.records - found.kept
    figures = {
        "objective": found.objective,
        "loss": found.loss,
        "suppressed": suppressed,
        "share": suppressed / max(found.records, 1),
        "classes": found.classes,
        "smallest": np.where(released, found.smallest, np.nan),
        "largest": np.where(released, found.largest, np.nan),
        "average": np.where(released, found.kept / classes, np.nan),
        "k": np.floor(found.least + 1e-9).astype(np.int64),
        "highest_risk": 1 / fewest,
        "average_risk": np.where(released, np.minimum(classes / np.maximum(found.people, 1), 1), np.nan),
    }
    whole = {"suppressed", "classes", "smallest", "largest", "k"}
    single = [i for i, m in enumerate(models) if i not in found.whole]
    of_rule = [single[i] for i, _ in rules_of([models[i] for i in single], frequency.judged)]
    asked = []
    measured: dict[str, dict[str, np.ndarray]] = {"achieved": {}, "reached": {}}
    for i, (key, model) in enumerate(_keys(models).items()):
        own = [r for r, owner in enumerate(of_rule) if owner == i]
        names: tuple[str, ...] = ()
        for place, (kind, table) in enumerate((("achieved", found.achieved), ("reached", found.reached))):
            if i in found.whole:
                read, integral = _read_whole(key, found.whole[i][place])
            else:
                read, integral = _read(model, key, table[own])
            measured[kind] |= read
            names = tuple(read)
            whole |= {f"{kind}({name})" for name in integral}
        asked.append(Asked(model.name, model.required(), names))
    figures |= {f"{kind}({name})": array for kind, part in measured.items() for name, array in part.items()}
    return tuple(asked), figures, frozenset(whole)


def _keys(models: Sequence[PrivacyModel]) -> dict[str, PrivacyModel]:
    """The models by their names, with their column where a name is not enough, and numbered where that is not either."""
    often = Counter(m.name for m in models)
    keys: dict[str, PrivacyModel] = {}
    for model in models:
        key = model.name if often[model.name] == 1 else f"{model.name} {model.sensitive_column or ''}".strip()
        number = 2
        while key in keys:
            key, number = f"{key.partition(' #')[0]} #{number}", number + 1
        keys[key] = model
    return keys


def _read_whole(key: str, figures: np.ndarray) -> tuple[dict[str, np.ndarray], list[str]]:
    """The figures of a model of the whole, which are what it tells; and whether they are whole numbers."""
    known = figures[~np.isnan(figures)]
    return {key: figures}, [key] if len(known) and (known == np.round(known)).all() else []


def _read(model: PrivacyModel, key: str, figures: np.ndarray) -> tuple[dict[str, np.ndarray], list[str]]:
    """A model's figures as it tells them, from those of its rules; infinite ones are none. And which are whole numbers."""
    known = ~np.isnan(figures).any(axis=0)
    # Nodes share few different figures: each is read once.
    lines, place = np.unique(figures[:, known], axis=1, return_inverse=True)
    told = [model.achieved([float(x) for x in line]) if np.isfinite(line).all() else None for line in lines.T]
    parts = next((t for t in told if t is not None), None)
    names: Mapping[str, Any] = {f"{key}.{name}": name for name in parts} if isinstance(parts, Mapping) else {key: None}
    read, integral = {}, []
    for shown, name in names.items():
        cells = [t if t is None or name is None else t[name] for t in told]
        column = np.full(figures.shape[1], np.nan)
        column[known] = np.array([np.nan if c is None else c for c in cells], dtype=float)[place.reshape(-1)]
        read[shown] = column
        if cells and all(c is None or isinstance(c, int) for c in cells):
            integral.append(shown)
    return read, integral
