"""Anonylitics, second scenario: formulas (6) and (7), table 10, and what Mondrian costs here (figures 26, 28, 29).

Each way of holding the data is measured in a process of its own (`main`), so that its largest memory is that of the
measured work.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from velado.frequency import FrequencyTable
from velado.methods import Mondrian
from velado.models import KAnonymity
from velado.progress import Progress
from velado.release import count_table
from velado.report import charts
from velado.schema import Column, Schema
from velado.studies.comparison import Compared, compare
from velado.tables import open_table

if TYPE_CHECKING:
    import pyarrow as pa

BYTES_PER_RECORD = 5.7553
"""The one weight of a record with which all sixteen figures of table 10 come out."""
TABLE_10 = {
    "Windows": (
        2.9,
        {
            4: (8_000_000, 0.0460, 1.056),
            8: (35_000_000, 0.2014, 5.048),
            12: (60_000_000, 0.3453, 8.922),
            16: (86_000_000, 0.4950, 13.046),
        },
    ),
    "Linux": (
        1.9,
        {
            4: (15_000_000, 0.0863, 2.058),
            8: (41_000_000, 0.2360, 5.967),
            12: (65_600_000, 0.3775, 9.804),
            16: (92_000_000, 0.5295, 14.008),
        },
    ),
}
"""Per system the GB that it uses itself, and per GB of RAM: records, their weight in GB, estimate in GB."""
CODES_PER_RECORD = 3 * 4 + 8
"""Bytes of a record here: three codes and a count."""
COPIES = (1, 2, 4)
WAYS = {"records": "all records in memory", "counted": "counted where the data live"}
K = 2


def levels(records: float, k: int) -> float:
    """Formula (6): levels of a balanced binary tree with records / k leaves. Table 10 does not round it."""
    return math.log2(records / k) + 1


def estimate(size: float, records: float, k: int) -> float:
    """Formula (7): the size of the data at every level."""
    return size * levels(records, k)


def largest(memory: float, k: int = K) -> float:
    """Records that formula (7) lets into a memory of so many GB."""
    records = float(k)
    for _ in range(100):
        records = memory * 1e9 / BYTES_PER_RECORD / levels(max(records, 2 * k), k)
    return records


def depth(values: Sequence[int], k: int, split: str) -> int:
    """Levels of the tree of cuts of one column of different values, the root included."""
    ordered = sorted(values)
    at = (len(ordered) + 1) // 2 if split == "median" else k
    if min(at, len(ordered) - at) < k:
        return 1
    return 1 + max(depth(part, k, split) for part in (ordered[:at], ordered[at:]))


def formulas() -> list[Compared]:
    """Table 10, the example of figure 14, and the limit read off figure 26."""
    found = []
    for system, (used, machines) in TABLE_10.items():
        for ram, (records, weight, size) in machines.items():
            name, ours = f"table 10, {system}, {ram} GB", records * BYTES_PER_RECORD / 1e9
            found += [
                compare(name, f"weight of {records:,} records, GB", weight, ours, 5e-5),
                compare(name, "estimate for k = 2, GB", size, estimate(ours, records, K), 5e-4),
                compare(name, "records that the estimate lets into the memory", None, int(largest(ram - used))),
            ]
    example = list(range(1, 9))
    wrong = (
        "log2(leaves) + 1 is the smallest number of levels of a binary tree, not the largest: the distribution split of "
        "different values cuts off k at a time, so there are n/k levels, and formula (7) is no upper bound"
    )
    found += [
        compare("figure 14", "levels by formula (6), 8 records, k = 2", 3, levels(8, 2)),
        compare("figure 14", "levels of the cuts, median split", 3, depth(example, 2, "median")),
        compare("figure 14", "levels of the cuts, distribution split", 3, depth(example, 2, "distribution"), why=wrong),
        compare("figure 26", "GB of data that the estimate lets into 4 GB", 0.16, largest(4) * BYTES_PER_RECORD / 1e9, 5e-3),
    ]
    return found


class Cost(NamedTuple):
    """What one run took; ``megabytes`` is None where the system does not tell."""

    records: int
    seconds: float
    megabytes: float | None
    classes: int


def costs(table: pa.Table, columns: Sequence[str], progress: Progress | None = None) -> dict[str, list[Cost]]:
    """Mondrian on one, two, four copies of a table, all records in memory and counted where the data live."""
    import pyarrow as pa
    import pyarrow.parquet

    progress = progress or Progress()
    progress.at(0.0)
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / f"{copies}.parquet") for copies in COPIES]
        for copies, file in zip(COPIES, files, strict=True):
            progress.check()
            pyarrow.parquet.write_table(pa.concat_tables([table.select(list(columns))] * copies), file)
        return {way: _in_a_process(way, files, progress.of(i, len(WAYS))) for i, way in enumerate(WAYS)}


def _in_a_process(way: str, files: Sequence[str], progress: Progress) -> list[Cost]:
    program = f"from {__name__} import main; main()"
    command = [sys.executable, "-P", "-c", program, way, *files]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            with progress.interrupting(process.kill):
                out, err = process.communicate()
        except BaseException:
            process.kill()
            raise
    progress.check()
    if process.returncode:
        raise RuntimeError(f"the measurement failed: {err[-500:]}")
    return [Cost(*cost) for cost in json.loads(out)]


def measure(way: str, files: Sequence[str]) -> list[Cost]:
    """Seconds and memory of cutting each of some files, the smaller ones first."""
    method, models = Mondrian("distribution", "mode", "std"), [KAnonymity(K)]
    base = _count_file(files[0])
    # Compiled code is loaded before anything is measured.
    method.search(FrequencyTable(base.hierarchies, base.codes[:9], base.counts[:9] + 1), models)
    before, found = _peak(), []
    for copies, file in zip(COPIES, files, strict=True):
        began = time.perf_counter()
        if way == "records":
            codes = base.codes[np.repeat(np.arange(base.rows), base.counts * copies)]
            frequency = FrequencyTable(base.hierarchies, codes, np.ones(len(codes), dtype=np.int64))
        else:
            frequency = _count_file(file)
        classes = method.search(frequency, models).classes.count
        seconds, peak = time.perf_counter() - began, _peak()
        grown = None if before is None or peak is None else max(peak - before, 0.0)
        found.append(Cost(frequency.records, seconds, grown, classes))
    return found


def _count_file(file: str) -> FrequencyTable:
    with open_table(file) as table:
        return count_table(table, Schema(Column(c, "quasi-identifier", type="integer") for c in table.header))


def _peak() -> float | None:
    """The largest memory of this process so far in MB, where the system tells (Linux)."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(kilobytes[0]) / 1000 if kilobytes else None


def compare_costs(measured: dict[str, list[Cost]]) -> list[Compared]:
    """The measured figures; the thesis measured its own program on another machine."""
    found = []
    for way, all_costs in measured.items():
        for cost in all_costs:
            name = f"ours, {cost.records:,} records, {WAYS[way]}"
            found.append(compare(name, "classes", None, cost.classes))
            found.append(compare(name, "seconds", None, round(cost.seconds, 3)))
            if cost.megabytes is not None:
                found.append(compare(name, "memory at most, MB", None, round(cost.megabytes, 1)))
    return found


def draw(folder: Path, measured: dict[str, list[Cost]]) -> list[Path]:
    """Figures 26, 28 and 29 with our figures."""
    memory = {WAYS[way]: [(c.records / 1e6, c.megabytes) for c in measured[way] if c.megabytes is not None] for way in WAYS}
    sizes = [c.records for c in measured["records"]]
    theory = [(n / 1e6, estimate(n * CODES_PER_RECORD, n, K) / 1e6) for n in sizes]
    seconds = {WAYS[way]: [(c.records / 1e6, c.seconds) for c in measured[way]] for way in WAYS}
    x, about = "records, millions", "copies of the synthetic stand-in for CAOBA; measured here, not in the thesis"
    pictures = {
        "figure_26_memory": (
            {"estimate by formula (7)": theory, WAYS["records"]: memory[WAYS["records"]]},
            "MB",
            "Figure 26, our measurement: memory, estimated and used",
        ),
        "figure_28_memory": (memory, "MB", "Figure 28, our measurement: memory of both ways"),
        "figure_29_time": (seconds, "seconds", "Figure 29, our measurement: time of both ways"),
    }
    files = []
    for name, (series, y, title) in pictures.items():
        if not all(series.values()):
            continue
        files.append(folder / f"{name}.png")
        charts.curves(files[-1], series, x, y, title, about)
    return files


def main() -> None:
    """Measure one way with the files of the command line, and print the costs."""
    print(json.dumps(measure(sys.argv[1], sys.argv[2:])))
