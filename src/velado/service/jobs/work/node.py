"""One node of a lattice: its classes, the smallest first, and rows as they would be released."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from velado.frequency import FrequencyTable
from velado.project import Project
from velado.questions.exploration import Asked, Exploration, NodeClasses
from velado.questions.explore import check_full_domain, explore_table
from velado.release.count import count
from velado.release.fit import fit
from velado.release.people import Membership
from velado.results import encode
from velado.service.jobs import parameters as of
from velado.service.jobs.job_room import enter_room
from velado.service.jobs.task import Work
from velado.service.jobs.work.explore import NODES
from velado.service.jobs.work.shared import one_table, parse_parameters, remembered_as
from velado.tables import Session, open_table

MOST_SIZES = 500
MOST_LABELS = 8
"""Labels of a column that are told as examples of its level."""


def perform(work: Work) -> dict[str, Any]:
    """A node; a warm process has counted the table already."""
    wanted = parse_parameters(work, of.Node)
    with enter_room(work) as room:
        project = one_table(room.project(), wanted.table)
        found = _exploration(work, project, wanted)
        node = found.node(wanted.levels, wanted.l)
        data = _classes(node, wanted)
        assert found.frequency is not None
        data["labels"] = {
            h.column: list(h.labels[level][:MOST_LABELS])
            for h, level in zip(found.frequency.hierarchies, node.node.levels, strict=True)
        }
        if wanted.records:
            data["examples"] = _examples(project, found.frequency, node.node.levels, wanted.records)
    return data


def _exploration(work: Work, project: Project, wanted: of.Node) -> Exploration:
    """All nodes, with the counted table: from memory, from the job that looked at them, or anew."""
    job = (work.task.things.get("jobs") or {}).get(wanted.exploration) if wanted.exploration else None
    key = remembered_as(work, work.task.document, wanted.exploration if job else None, wanted.table)
    kept = work.memory.get("exploration")
    if kept is not None and kept[0] == key:
        return kept[1]  # type: ignore[no-any-return]
    project.check_modelled()
    check_full_domain(project.method)
    follow = work.progress.through(open=1, fit=1, count=3, explore=10)
    with open_table(project.source, project.folder, Session(follow("open"))) as table:
        counted = count(fit(project, table, follow("fit")), follow("count"))
        members = None if counted.person is None else Membership.of(table, counted.frequency, counted.person)
    found = None
    if job is not None and job.get("kind") == "explore" and job.get("document") == work.task.document:
        found = _read(job, project, counted.frequency, members)
    if found is None:
        most = of.Explore().most_nodes
        found = explore_table(project, counted.frequency, members, most, follow("explore"))
    work.memory["exploration"] = (key, found)
    return found


def _read(job: dict[str, Any], project: Project, frequency: FrequencyTable, members: Membership | None) -> Exploration | None:
    """The nodes as their job has left them; None if the table is another one now."""
    import pyarrow as pa

    head = job["result"]
    if list(frequency.columns) != head["columns"] or frequency.records != head["rows"]:
        return None
    with pa.memory_map(str(Path(job["folder"]) / NODES)) as file:
        nodes = pa.ipc.open_file(file).read_all()
    asked = tuple(Asked(m["name"], m["required"], tuple(m["tells"])) for m in head["models"])
    return Exploration(
        head["project"],
        tuple(head["columns"]),
        tuple(head["levels"]),
        head["rows"],
        head["limit"],
        head["objective"],
        head["person"],
        asked,
        nodes["status"].to_numpy().copy(),
        nodes["minimal"].to_numpy().copy(),
        {name: nodes[name].to_numpy().copy() for name in head["figures"]},
        frozenset(head["whole"]),
        frequency,
        tuple(project.models),
        members,
    )


def _classes(found: NodeClasses, wanted: of.Node) -> dict[str, Any]:
    figures = found.classes
    order = np.argsort(figures.sizes if figures.people is None else figures.people, kind="stable")
    chosen = order[wanted.offset : wanted.offset + wanted.limit]
    rows = zip(figures.take(chosen).rows(), found.released[chosen].tolist(), strict=True)
    sizes, often = np.unique(figures.sizes, return_counts=True)
    return {
        "node": encode(found.node),
        "columns": list(found.columns),
        "l": figures.l,
        "total": len(figures),
        "released": int(found.released.sum()),
        "sizes": [[int(size), int(n)] for size, n in zip(sizes[:MOST_SIZES], often[:MOST_SIZES], strict=True)],
        "classes": [{**row, "released": kept} for row, kept in rows],
    }


def _examples(project: Project, frequency: FrequencyTable, levels: tuple[int, ...], most: int) -> dict[str, Any]:
    """The first rows of the table at the levels of a node: quasi-identifiers, and sensitive columns that stay as they are."""
    hierarchies = {h.column: (h, level) for h, level in zip(frequency.hierarchies, levels, strict=True)}
    shown = [c.name for c in project.columns if c.role == "sensitive" and c.operation is None]
    with open_table(project.source, project.folder, Session()) as table:
        page = table.page(0, most)
    columns = {}
    for name in (*hierarchies, *(n for n in shown if n in page.column_names)):
        cells = page[name].to_pylist()
        if name in hierarchies:
            h, level = hierarchies[name]
            cells = [h.labels[level][h.maps[level][h.code[v]]] if v in h.code else None for v in cells]
        columns[name] = cells
    return {"columns": list(columns), "rows": [list(row) for row in zip(*columns.values(), strict=True)]}
