"""Every node of a lattice: Adult with all its quasi-identifiers, and a lattice of a million nodes.

    python benchmarks/explore.py [--million]

Times are of calls in a process whose kernels are loaded; memory is the peak of the process, and what the figures of the
nodes need. With --million, 3 x 10^5 to 10^6 nodes of an invented table are explored and written as CSV as well.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from velado import Column, KAnonymity, Lattice, Project, TCloseness, explore
from velado.models import RecursiveDiversity
from velado.questions import Exploration
from velado.report.formats.lattice import save_nodes
from velado.studies import data_folder, ubb


def adult(data: Path, models: tuple) -> Project:
    source = {"path": str(data / "adult" / "adult.csv"), "delimiter": ";"}
    return Project(source, tuple(ubb.columns(data / "adult")), models, Lattice(suppression=0.05), rest="drop")


def invented(columns: int, levels: int, rows: int) -> Project:
    """Columns whose hierarchies have so many levels: levels ** columns nodes."""
    rng = np.random.default_rng(1)
    leaves = 2 ** (levels - 1)
    hierarchy = {"rows": [[f"{i:03}", *(f"{level}:{i >> level}" for level in range(1, levels))] for i in range(leaves)]}
    names = [f"q{j}" for j in range(columns)]
    table = pa.table({c: [f"{x:03}" for x in rng.integers(0, leaves, rows)] for c in names})
    described = tuple(Column(c, "quasi-identifier", hierarchy=hierarchy) for c in names)
    return Project(table, described, (KAnonymity(5),), Lattice(suppression=0.1))


def size(found: Exploration) -> float:
    return sum(a.nbytes for a in (found.status, found.minimal, *found.measured.values())) / 1e6


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    configurations = {
        "k 5": (KAnonymity(5),),
        "k 5, (4,4)-diversity": (KAnonymity(5), RecursiveDiversity(4, 4, "occupation")),
        "k 5, t 0.2 in a tree": (KAnonymity(5), TCloseness(0.2, "occupation", "hierarchical")),
    }
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, models in configurations.items():
        project, seconds, work = adult(data, models), [], []
        for _ in range(6):
            began, used = time.perf_counter(), time.process_time()
            found = explore(project)
            seconds.append(time.perf_counter() - began)
            work.append(time.process_time() - used)
        print(
            f"Adult, {name:22} {len(found):9,} nodes: best of five {min(seconds[1:]):6.2f} s, of the processors "
            f"{min(work[1:]):5.2f} s, figures {size(found):5.1f} MB, peak {peak():6.0f} MB",
            flush=True,
        )
    if not arguments.million:
        return
    with tempfile.TemporaryDirectory() as folder:
        for columns in (9, 10):
            project = invented(columns, 4, 2_000)
            began, used = time.perf_counter(), time.process_time()
            found = explore(project, most_nodes=2_000_000)
            explored = time.perf_counter() - began, time.process_time() - used
            before = peak()
            began = time.perf_counter()
            save_nodes(found, Path(folder) / "nodes.csv")
            written = time.perf_counter() - began
            print(
                f"{columns} columns of 4 levels {len(found):9,} nodes: {explored[0]:6.1f} s, of the processors "
                f"{explored[1]:6.1f} s, figures {size(found):6.1f} MB, peak {before:6.0f} MB; CSV "
                f"{(Path(folder) / 'nodes.csv').stat().st_size / 1e6:.0f} MB in {written:.1f} s, peak {peak():.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
