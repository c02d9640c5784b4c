"""Spark on this machine: a release by the lattice, and Mondrian whose frequency table does not fit the driver.

    python benchmarks/spark.py --rows 10_000_000 --master "local-cluster[2,1,1024]"

Prints the seconds of every stage, the memory of driver and executors, and the bytes that were shuffled.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

import velado
from velado.progress import Progress, Step

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "16",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.maxResultSize": "2g",
}
WARM = 100_000
COLUMNS: dict[str, dict[str, Any]] = {
    "lattice": {
        "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [5, 10, 20]}},
        "sex": "quasi-identifier",
        "region": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "job": "quasi-identifier",
        "ill": "sensitive",
    },
    "mondrian": {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "zip": {"role": "quasi-identifier", "type": "integer"},
        "income": {"role": "quasi-identifier", "type": "integer"},
        "day": {"role": "quasi-identifier", "type": "integer"},
    },
}
MODELS: dict[str, list[dict[str, Any]]] = {
    "lattice": [{"k-anonymity": {"k": 5}}, {"distinct-diversity": {"l": 3, "column": "ill"}}],
    "mondrian": [{"k-anonymity": {"k": 5}}],
}


def session(master: str, folder: Path) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("benchmark")
    for key, value in {**SETTINGS, "spark.local.dir": str(folder / "local")}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def people(spark: Any, rows: int, path: Path) -> None:
    """Invented people, from the numbers of their rows alone: the same table whoever makes it."""
    if path.exists():
        return
    cell = "CAST(pmod(xxhash64(id, {salt}), {n}) AS INT)"
    skewed = "CAST(power(pmod(xxhash64(id, 5), 1000000) / 1000000.0, 3) * 200000 AS INT)"
    spark.range(rows).selectExpr(
        f"{cell.format(salt=1, n=100)} AS age",
        f"CASE {cell.format(salt=2, n=2)} WHEN 0 THEN 'f' ELSE 'm' END AS sex",
        f"lpad(CAST({cell.format(salt=3, n=20)} AS STRING), 3, '0') AS region",
        f"concat('job ', {cell.format(salt=4, n=12)}) AS job",
        f"{cell.format(salt=6, n=100000)} AS zip",
        f"{skewed} AS income",
        f"{cell.format(salt=7, n=36500)} AS day",
        f"concat('ill ', {cell.format(salt=8, n=10)}) AS ill",
    ).write.parquet(str(path))


class Stages:
    """How long each stage of a call takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._since = "start", time.perf_counter()

    def __call__(self, step: Step) -> None:
        if step.stage != self._stage:
            self.end(step.stage)

    def end(self, following: str = "") -> None:
        now = time.perf_counter()
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = following, now


class Memory(threading.Thread):
    """The largest memory of this process, of the Java machine of the driver, and of executors with their Pythons."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = {"python": 0, "driver": 0, "executors": 0}
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.5):
            now = dict.fromkeys(self.most, 0)
            for process, said in descendants().items():
                java = b"org.apache.spark.deploy.SparkSubmit" in said
                what = "python" if process == os.getpid() else "driver" if java else "executors"
                # Pages that forked Pythons share are counted once for all of them.
                with contextlib.suppress(OSError):
                    share = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE)
                    now[what] += int(share[1]) * 1024 if share else 0
            self.most = {k: max(v, now[k]) for k, v in self.most.items()}


def descendants() -> dict[int, bytes]:
    """This process and all that it has started, with their command lines."""
    parents: dict[int, int] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    own, new = set(), {os.getpid()}
    while new:
        own |= new
        new = {p for p, parent in parents.items() if parent in own} - own
    found = {}
    for process in own:
        with contextlib.suppress(OSError):
            found[process] = Path(f"/proc/{process}/cmdline").read_bytes()
    return found


def shuffled(spark: Any) -> int:
    """Bytes that all stages so far have written for other stages."""
    store = spark.sparkContext._jsc.sc().statusStore()
    java, gateway = spark.sparkContext._jvm, spark.sparkContext._gateway
    everything = java.java.util.ArrayList()
    stages = store.stageList(everything, False, False, gateway.new_array(java.double, 0), everything)
    return sum(stages.apply(i).shuffleWriteBytes() for i in range(stages.size()))


def measured(spark: Any, kind: str, rows: int, folder: Path, memory: str | None) -> dict[str, Any]:
    source, target = folder / f"people-{rows}.parquet", folder / f"out-{kind}-{rows}.parquet"
    method = {"lattice": {"suppression": 0.05}} if kind == "lattice" else {"mondrian": {"memory": memory, "width": "range"}}
    project = {
        "source": {"spark": "session", "path": str(source)},
        "columns": COLUMNS[kind],
        "models": MODELS[kind],
        "method": method,
        "rest": "drop",
        "output": {"spark": "session", "path": str(target), "if_exists": "replace"},
    }
    stages, watching, before = Stages(), Memory(), shuffled(spark)
    watching.start()
    began = time.perf_counter()
    release = velado.run(project, Progress(stages))
    seconds = time.perf_counter() - began
    stages.end()
    watching.over.set()
    watching.join()
    return {
        "what": kind,
        "rows": rows,
        "seconds": round(seconds, 1),
        "stages": {k: round(v, 1) for k, v in stages.seconds.items() if v >= 0.05},
        "memory_mb": {k: round(v / 1e6) for k, v in watching.most.items()},
        "shuffled_mb": round((shuffled(spark) - before) / 1e6),
        "classes": release.evaluation.classes,
        "loss": release.evaluation.utility.loss,
        "generalized_loss": release.evaluation.utility.generalized_loss,
        "discernibility": release.evaluation.utility.discernibility,
        "load": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), nargs="+", default=[1_000_000])
    parser.add_argument("--kind", nargs="+", default=["lattice", "mondrian"], choices=["lattice", "mondrian"])
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--memory", default="50MB", help="of the driver for the frequency table of Mondrian")
    parser.add_argument("--folder", type=Path, default=Path("results/spark"))
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    spark = session(given.master, folder)
    # Kernels are compiled, and Pythons started, before anything is measured.
    people(spark, WARM, folder / f"people-{WARM}.parquet")
    for kind in given.kind:
        measured(spark, kind, WARM, folder, "5MB")
    for rows in given.rows:
        people(spark, rows, folder / f"people-{rows}.parquet")
        for kind in given.kind:
            print(json.dumps(measured(spark, kind, rows, folder, given.memory)), flush=True)


if __name__ == "__main__":
    main()
