"""All nodes of the lattice of a project: what is said of all in the result, the nodes themselves in an Arrow file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

import velado
from velado.questions.exploration import STATUSES, Exploration
from velado.results import encode
from velado.service.jobs import parameters as of
from velado.service.jobs.job_room import enter_room
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import one_table, parse_parameters

NODES = "nodes.arrow"


def perform(work: Work) -> dict[str, Any]:
    """The head of an exploration; its arrays are in a file."""
    wanted = parse_parameters(work, of.Explore)
    with enter_room(work) as room:
        project = one_table(room.project(), wanted.table)
        found = velado.explore(project, most_nodes=wanted.most_nodes, progress=work.progress)
    save_nodes(found, work.task.folder / NODES)
    return {**head(found), "table": wanted.table, "method": project.method.name}


def head(found: Exploration) -> dict[str, Any]:
    """What holds for the whole lattice."""
    best = found.optimal
    return {
        "schema": found.SCHEMA,
        "project": found.project,
        "columns": list(found.columns),
        "levels": list(found.levels),
        "labels": labels_of(found),
        "rows": found.rows,
        "limit": found.limit,
        "objective": found.objective,
        "person": found.person,
        "models": encode(found.models),
        "counts": found.counts,
        "nodes": len(found),
        "statuses": list(STATUSES),
        "optimal": None if best is None else encode(best),
        "figures": list(found.measured),
        "whole": sorted(found.whole),
        "file": NODES,
    }


def labels_of(found: Exploration) -> dict[str, list[int]]:
    """How many labels each column has at each of its levels."""
    assert found.frequency is not None
    return {h.column: [len(labels) for labels in h.labels] for h in found.frequency.hierarchies}


def save_nodes(found: Exploration, path: Path) -> None:
    """Levels, height, status (its place in ``statuses``), minimal, and all figures of every node, in lexicographic order."""
    import pyarrow as pa

    vectors = np.unravel_index(np.arange(len(found)), found.levels)
    names = [f"level({c})" for c in found.columns]
    arrays = [pa.array(v.astype(np.int16)) for v in vectors]
    names += ["height", "status", "minimal"]
    arrays += [pa.array(found.heights.astype(np.int32)), pa.array(found.status), pa.array(found.minimal)]
    # Where there is no figure stands NaN, as in the exploration itself: a null is what was hidden from somebody.
    names += list(found.measured)
    arrays += [pa.array(values) for values in found.measured.values()]
    table = pa.Table.from_arrays(arrays, names)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
