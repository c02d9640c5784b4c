"""Look at every node of the generalization lattice of a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from velado.errors import InputError
from velado.frequency import FrequencyTable
from velado.methods import Method, kernels_ready
from velado.methods.suppression import suppression_limit
from velado.methods.survey import MOST_NODES, Surveyed, best, minimal, satisfying, survey
from velado.models import PrivacyModel
from velado.progress import Progress
from velado.project import Project
from velado.questions.exploration import STATUSES, Asked, Exploration
from velado.release.count import count
from velado.release.fit import fit
from velado.release.people import Membership
from velado.sentences import Sentence
from velado.tables import Session, open_table

__all__ = ["Exploration", "explore"]


def explore(project: Project | str | Path, *, most_nodes: int = MOST_NODES, progress: Progress | None = None) -> Exploration:
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
    with open_table(project.source, session=Session(follow("open"))) as table:
        counted = count(fit(project, table, follow("fit")), follow("count"))
        members = None if counted.person is None else Membership.of(table, counted.frequency, counted.person)
    exploring = follow("explore")
    if not kernels_ready(counted.frequency.rows, "survey_nodes"):
        exploring.part(0, 0, "compile").at(0)
    return explore_table(project, counted.frequency, members, most_nodes, exploring)


def check_full_domain(method: Method) -> None:
    """Refuse methods that do not choose a node of the lattice."""
    if not method.full_domain:
        raise InputError(
            "no-lattice",
            Sentence("the method {method} recodes locally: it chooses no node of a lattice", method=method.name),
            hint="Write 'method: lattice' (or samarati, datafly, incognito, fixed) to explore the lattice.",
        )


def explore_table(
    project: Project, frequency: FrequencyTable, members: Membership | None, most_nodes: int, progress: Progress
) -> Exploration:
    """The exploration of a table that was counted."""
    models, method = project.models, project.method
    objective = str(getattr(method, "objective", "loss"))
    found = survey(frequency, models, objective, most_nodes, progress)
    limit = suppression_limit(method.suppression, frequency.records)  # type: ignore[attr-defined]
    asked, figures, whole = _figures(models, found)
    good = satisfying(found, limit)
    lowest = minimal(found.shape, good)
    status = np.select([good & lowest, good, found.kept > 0], [1, 2, 3], 4).astype(np.int8)
    chosen = best(found, good)
    if chosen is not None:
        status[chosen] = STATUSES.index("optimal")
    return Exploration(
        project.name,
        frequency.columns,
        found.shape,
        frequency.records,
        limit,
        objective,
        None if frequency.people is None else frequency.people.column,
        asked,
        status,
        lowest,
        figures,
        whole,
        frequency,
        tuple(models),
        members,
    )


def _figures(models: Sequence[PrivacyModel], found: Surveyed) -> tuple[tuple[Asked, ...], dict[str, np.ndarray], frozenset[str]]:
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
    keys = _keys(models)
    asked = [
        Asked(model.name, model.requirements(), tuple(_name(key, part) for part in read))
        for (key, model), read in zip(keys.items(), found.achieved, strict=True)
    ]
    for kind, told in (("achieved", found.achieved), ("reached", found.reached)):
        for key, read in zip(keys, told, strict=True):
            for part, figure in read.items():
                name = f"{kind}({_name(key, part)})"
                figures[name] = figure.values
                whole |= {name} if figure.whole else set()
    return tuple(asked), figures, frozenset(whole)


def _name(key: str, part: str) -> str:
    """The name of a figure; models such as (α,k)-anonymity have several."""
    return f"{key}.{part}" if part else key


def _keys(models: Sequence[PrivacyModel]) -> dict[str, PrivacyModel]:
    """The models by their names, with their column where a name is not enough, and numbered where that is not either."""
    often = Counter(m.name for m in models)
    keys: dict[str, PrivacyModel] = {}
    for model in models:
        name = model.name if often[model.name] == 1 else f"{model.name} {model.sensitive_column or ''}".strip()
        key, number = name, 1
        while key in keys:
            number += 1
            key = f"{name} #{number}"
        keys[key] = model
    return keys
