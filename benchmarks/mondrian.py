"""Mondrian on Adult, beside anonypy and mosaicrown/mondrian if interpreters for them are given, and on growing tables.

    python benchmarks/mondrian.py [--anonypy PYTHON] [--mosaicrown PYTHON --mosaicrown-source FOLDER]
                                  [--part adult|growing] [--folder FOLDER] [--most 10000000]

PYTHON is an interpreter of an environment with anonypy, or with what mosaicrown/mondrian's local mode needs (see its
setup.py); FOLDER holds its sources (the folder with anonymize.py). Rivals run right before ours, once; only their
anonymization is timed. All partitions are measured here, by one definition. *others*: cores that other processes kept
busy meanwhile (Linux; from the processor time of the whole machine without ours).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from velado import Column, KAnonymity, Mondrian, Output, anonymize
from velado.release import count_table
from velado.schema import Schema
from velado.studies import data_folder, ubb
from velado.tables import open_table

K = 5
MEDIAN = Mondrian(split="median", width="range")
"""LeFevre's plain method, which the other programs have and which the figures of growing tables were taken with."""
QUASI = list(ubb.QUASI_IDENTIFIERS)
NUMBER = "age"
GROWING = ("age", "zip", "income", "hours", "education", "children")

ANONYPY = """
import json, sys, time
import pandas as pd
from anonypy import Preserver, mondrian
path, quasi, number, sensitive, k = json.loads(sys.argv[1])
data = pd.read_csv(path, sep=";")
data = data.astype({c: "category" for c in data.columns if c != number})
kept, partition = [], mondrian.Mondrian.partition
def recorded(*given, **named):
    kept.extend(partition(*given, **named))
    return kept
mondrian.Mondrian.partition = recorded
preserver = Preserver(data, quasi, sensitive)
began = time.perf_counter()
preserver.anonymize_k_anonymity(k)
seconds = time.perf_counter() - began
print(json.dumps({"seconds": seconds, "classes": [[int(i) for i in part] for part in kept]}))
"""

MOSAICROWN = """
import contextlib, functools, io, json, os, sys, time
path, quasi, number, sensitive, k, source, trees, score = json.loads(sys.argv[1])
sys.path.insert(0, source)
import pandas as pd
from mondrian import anonymization
from mondrian.generalization import generalization_preproc
from mondrian.score import norm_span, span
data = pd.read_csv(path, sep=";")
data = data.astype({c: object for c in data.columns if c != number})
items = [
    {"qi_name": c, "generalization_type": "categorical", "params": {"taxonomy_tree": t, "create_ordering": True}}
    for c, t in trees.items()
]
taxonomies = generalization_preproc({"quasiid_generalizations": items}, data)
order = {c: t["taxonomy_ordering"] for c, t in taxonomies.items()}
spans = {
    c: data[c].max() - data[c].min() if c == number else len(order[c]) - 1 if c in order else data[c].nunique()
    for c in quasi
}
scores = {"span": span, "norm_span": functools.partial(norm_span, total_spans=spans, categoricals_with_order=order)}
kept, partition = [], anonymization.partition_dataframe
def recorded(*given, **named):
    kept.extend(partition(*given, **named))
    return kept
anonymization.partition_dataframe = recorded
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    began = time.perf_counter()
    anonymization.anonymize(
        df=data, id_columns=[], quasiid_columns=quasi, sensitive_columns=[sensitive], column_score=scores[score],
        K=k, L=None, quasiid_gnrlz=taxonomies, categoricals_with_order=order,
    )
    seconds = time.perf_counter() - began
print(json.dumps({"seconds": seconds, "classes": [[int(i) for i in part] for part in kept]}))
"""


class Clock:
    """Seconds, and how many cores others kept busy meanwhile."""

    def __init__(self) -> None:
        self.at, self.own, self.all = time.perf_counter(), self._own(), self._all()

    @staticmethod
    def _own() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(u.ru_utime + u.ru_stime for u in used)

    @staticmethod
    def _all() -> float:
        try:
            fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        except OSError:
            return math.nan
        user, nice, system, _, _, hard, soft, stolen = map(int, fields)
        return (user + nice + system + hard + soft + stolen) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> tuple[float, float]:
        seconds = time.perf_counter() - self.at
        return seconds, max((self._all() - self.all - self._own() + self.own) / seconds, 0.0)


@dataclass(frozen=True)
class Adult:
    """The records as they are in the file, and the paths of the hierarchies' rows from leaf to root."""

    folder: Path
    records: list[dict[str, str]]
    paths: dict[str, list[list[str]]]

    @classmethod
    def read(cls, folder: Path) -> Adult:
        with open(folder / "adult.csv", encoding="utf-8", newline="") as stream:
            records = list(csv.DictReader(stream, delimiter=";"))
        paths = {}
        for column in QUASI:
            present = {r[column] for r in records}
            with open(folder / f"hierarchy_{column}.csv", encoding="utf-8", newline="") as stream:
                paths[column] = [p for p in csv.reader(stream, delimiter=";") if p[0] in present]
        return cls(folder, records, paths)

    def by_frequency(self, column: str) -> list[str]:
        return [value for value, _ in Counter(r[column] for r in self.records).most_common()]

    def by_tree(self, column: str) -> list[str]:
        """Groups in the order in which they first appear in the file, the highest level first."""
        seen: dict[tuple[int, str], int] = {}
        for path in self.paths[column]:
            for level in enumerate(path):
                seen.setdefault(level, len(seen))
        return [p[0] for p in sorted(self.paths[column], key=lambda p: [seen[x] for x in list(enumerate(p))[::-1]])]

    def columns(self, order: Callable[[str], list[str]] | None) -> list[Column]:
        """With the hierarchies' trees, or with the categories in an order."""
        described = ubb.columns(self.folder)
        if order is None:
            return described
        number = Column(NUMBER, "quasi-identifier", type="integer")
        ordered = [Column(c, "quasi-identifier", hierarchy={"order": order(c)}) for c in QUASI if c != NUMBER]
        columns = {c.name: c for c in [*described, number, *ordered]}
        return [columns[c.name] for c in described]

    def taxonomies(self, folder: Path) -> dict[str, str]:
        """The trees as mosaicrown reads them."""
        files = {}
        for column in QUASI:
            if column == NUMBER:
                continue
            root: dict[str, Any] = {}
            for value in self.by_tree(column):
                path = next(p for p in self.paths[column] if p[0] == value)
                node = root
                for level, text in reversed(list(enumerate(path))):
                    node = node.setdefault(f"{level}:{text}" if level else text, {})

            def nested(name: str, below: dict[str, Any]) -> dict[str, Any]:
                return {"cat": name, "subcats": [nested(n, b) for n, b in below.items()] or None}

            files[column] = str(folder / f"taxonomy_{column}.json")
            (name, below), *_ = root.items()
            Path(files[column]).write_text(json.dumps(nested(name, below)), encoding="utf-8")
        return files

    def measure(self, class_of: np.ndarray, order: Callable[[str], list[str]] | str | None) -> dict[str, float]:
        """Loss of a partition, averaged over all cells.

        ``loss``, by the values that a class has: numbers (max − min)/(MAX − MIN), categories (values − 1)/(all − 1).
        ``shown``, by the values that its labels stand for: *set*: the values themselves; None: the lowest common group
        of the tree; an order: all values from the first to the last.
        """
        sizes = np.bincount(class_of)
        loss, shown = [], []
        for column in QUASI:
            texts = [r[column] for r in self.records]
            if column == NUMBER:
                wide = _range(class_of, np.array(texts, dtype=float))
                loss.append(wide)
                shown.append(wide)
                continue
            values = order(column) if callable(order) else self.by_tree(column)
            codes = _codes(texts, values)
            pairs = np.unique(class_of.astype(np.int64) * len(values) + codes)
            different = (np.bincount(pairs // len(values)) - 1) / (len(values) - 1)
            loss.append(different)
            if order == "set":
                shown.append(different)
            elif order is None:
                shown.append((self._group_sizes(column, pairs // len(values), pairs % len(values)) - 1) / (len(values) - 1))
            else:
                shown.append(_range(class_of, codes.astype(float)))
        cells = len(self.records) * len(QUASI)
        return {
            "loss": float(sum((x * sizes).sum() for x in loss) / cells),
            "shown": float(sum((x * sizes).sum() for x in shown) / cells),
            "classes": len(sizes),
            "smallest": int(sizes.min()),
            "discernibility": int((sizes.astype(np.int64) ** 2).sum()),
        }

    def _group_sizes(self, column: str, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """How many values the lowest common group of each class has."""
        values = self.by_tree(column)
        path_of = {p[0]: p for p in self.paths[column]}
        found = np.zeros(int(classes.max()) + 1)
        for level in range(len(self.paths[column][0]) - 1, -1, -1):
            groups = [tuple(path_of[v][level:]) for v in values]
            number = {g: i for i, g in enumerate(dict.fromkeys(groups))}
            group = np.array([number[g] for g in groups])
            low, high = _outer(classes, group[codes].astype(float))
            found = np.where(low == high, np.bincount(group)[low.astype(int)], found)
        return found


def _codes(texts: list[str], values: list[str]) -> np.ndarray:
    number = {v: i for i, v in enumerate(values)}
    return np.array([number[t] for t in texts], dtype=np.int64)


def _outer(classes: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low = np.full(int(classes.max()) + 1, np.inf)
    high = -low
    np.minimum.at(low, classes, numbers)
    np.maximum.at(high, classes, numbers)
    return low, high


def _range(classes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    low, high = _outer(classes, numbers)
    return (high - low) / (numbers.max() - numbers.min())


def rival(python: str, code: str, given: list[Any]) -> tuple[float, float, np.ndarray]:
    """Seconds of the anonymization, cores busy with other things, and the class of each record."""
    clock = Clock()
    printed = subprocess.run([python, "-c", code, json.dumps(given)], capture_output=True, text=True, check=True).stdout
    _, others = clock.stop()
    result = json.loads(printed)
    class_of = np.full(sum(map(len, result["classes"])), -1)
    for number, members in enumerate(result["classes"]):
        class_of[members] = number
    return result["seconds"], others, class_of


def searched(adult: Adult, columns: list[Column], method: Mondrian, runs: int) -> tuple[float, float, np.ndarray]:
    """The same of our search on a frequency table, warm."""
    frequency = ubb.load(adult.folder.parent, columns)
    found = method.search(frequency, [KAnonymity(K)])
    seconds, clock = [], Clock()
    for _ in range(runs):
        began = time.perf_counter()
        method.search(frequency, [KAnonymity(K)])
        seconds.append(time.perf_counter() - began)
    _, others = clock.stop()
    leaves = [h.leaves for h in frequency.hierarchies]
    rows = (tuple(leaf[c] for leaf, c in zip(leaves, row, strict=True)) for row in frequency.codes.tolist())
    class_at = dict(zip(rows, found.classes.class_of.tolist(), strict=True))
    return statistics.median(seconds), others, np.array([class_at[tuple(r[c] for c in QUASI)] for r in adult.records])


def end_to_end(adult: Adult, columns: list[Column], method: Mondrian, output: Path) -> None:
    """Read the CSV file, search, write, read back and verify."""
    source = {"path": str(adult.folder / "adult.csv"), "delimiter": ";"}
    anonymize(source, columns, [KAnonymity(K)], method, output=Output(path=output))


def beside(arguments: argparse.Namespace, data: Path, folder: Path) -> None:
    adult = Adult.read(data / "adult")
    task = [str((data / "adult" / "adult.csv").resolve()), QUASI, NUMBER, ubb.SENSITIVE, K]
    print(
        f"{'':44} {'ms':>8} {'whole ms':>8} {'others':>6} {'classes':>7} {'smallest':>8} {'discernibility':>14} "
        f"{'loss':>7} {'shown':>7}"
    )

    def line(name: str, seconds: float, whole: float | None, others: float, figures: dict[str, float]) -> None:
        print(
            f"{name:44} {1000 * seconds:8.1f} {'' if whole is None else format(1000 * whole, '.0f'):>8} {others:6.1f} "
            f"{figures['classes']:7,} {figures['smallest']:8} {figures['discernibility']:14,} "
            f"{figures['loss']:7.4f} {figures['shown']:7.4f}",
            flush=True,
        )

    if arguments.anonypy:
        seconds, others, class_of = rival(arguments.anonypy, ANONYPY, task)
        line("anonypy, categories", seconds, None, others, adult.measure(class_of, "set"))
    if arguments.mosaicrown:
        source = str(arguments.mosaicrown_source.resolve())
        trees = adult.taxonomies(folder)
        for name, taxonomies, score, order in (
            ("mosaicrown, categories, norm_span", {}, "norm_span", "set"),
            ("mosaicrown, categories, span", {}, "span", "set"),
            ("mosaicrown, trees in order, norm_span", trees, "norm_span", None),
        ):
            given = [*task, source, taxonomies, score]
            seconds, others, class_of = rival(arguments.mosaicrown, MOSAICROWN, given)
            line(name, seconds, None, others, adult.measure(class_of, order))
    orders = {"trees": None, "order by frequency": adult.by_frequency, "order of the trees": adult.by_tree}
    methods = {
        ", median": MEDIAN,
        ", distribution": Mondrian(split="distribution", width="range"),
        ", balanced, range": Mondrian(width="range"),
        ", balanced, values": Mondrian(),
    }
    for (cut, order), (options, method) in itertools.product(orders.items(), methods.items()):
        name = f"Velado, {cut}{options}"
        columns = adult.columns(order)
        seconds, others, class_of = searched(adult, columns, method, arguments.runs)
        whole = []
        for _ in range(arguments.runs + 1):
            began = time.perf_counter()
            end_to_end(adult, columns, method, folder / "release.csv")
            whole.append(time.perf_counter() - began)
        line(name, seconds, statistics.median(whole[1:]), others, adult.measure(class_of, order))
    clock = Clock()
    child("adult", folder / "release.csv", data)
    print(f"Velado, trees, a process of its own with everything: {clock.stop()[0]:.2f} s")


def generate(folder: Path, rows: int) -> Path:
    """Six numeric quasi-identifiers: rounded gamma, heavy tail, rounded log-normal, normal, uniform, Poisson."""
    path = folder / f"people_{rows}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(7)
    illness = pa.array(["flu", "asthma", "gout", "stroke", "cancer", "none"])
    writer = None
    for begin in range(0, rows, 1_000_000):
        n = min(1_000_000, rows - begin)
        numbers = {
            "age": rng.gamma(9, 4.5, n).clip(0, 99),
            "zip": rng.zipf(1.3, n) % 900,
            "income": (np.exp(rng.normal(10, 0.6, n)) // 250 * 250).clip(0, 200_000),
            "hours": rng.normal(38, 9, n).clip(0, 98),
            "education": rng.integers(0, 18, n),
            "children": rng.poisson(1.1, n).clip(0, 9),
        }
        table = pa.table({name: column.astype(np.int32) for name, column in numbers.items()})
        ill = pa.array(rng.choice(6, n, p=[0.2, 0.15, 0.1, 0.1, 0.05, 0.4]))
        table = table.append_column("ill", illness.take(ill))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return path


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def growing_columns() -> list[Column]:
    return [*(Column(c, "quasi-identifier", type="integer") for c in GROWING), Column("ill", "sensitive")]


def whole_run(path: Path) -> dict[str, Any]:
    """From file to verified file, with the time between one progress report and the next as stages."""
    marks: list[tuple[str, float]] = []

    def progress(_: float, text: str) -> None:
        marks.append((text, time.perf_counter()))

    began = time.perf_counter()
    output = Output(path=path.parent / "release.parquet")
    release = anonymize(path, growing_columns(), [KAnonymity(K)], MEDIAN, output=output, progress=progress)
    done = time.perf_counter()
    stages = {"opening": marks[0][1] - began}
    for (text, at), (_, until) in zip(marks, [*marks[1:], ("", done)], strict=True):
        stages[text] = stages.get(text, 0.0) + until - at
    return {"seconds": done - began, "peak": peak(), "stages": stages, "classes": release.evaluation.classes}


def search_alone(path: Path) -> dict[str, Any]:
    with open_table(path) as table:
        frequency = count_table(table, Schema(growing_columns()))
    began = time.perf_counter()
    found = MEDIAN.search(frequency, [KAnonymity(K)])
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "peak": peak(), "rows": frequency.rows, "classes": found.classes.count}


def child(kind: str, path: Path, data: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--data", str(data), "--child", kind, str(path)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def be_child(kind: str, path: Path, data: Path) -> dict[str, Any]:
    if kind == "adult":
        adult = Adult(data / "adult", [], {})
        end_to_end(adult, adult.columns(None), MEDIAN, path)
        return {}
    first = next(pq.ParquetFile(path).iter_batches(batch_size=2000))
    anonymize(pa.Table.from_batches([first]), growing_columns(), [KAnonymity(K)], MEDIAN)
    return whole_run(path) if kind == "whole" else search_alone(path)


def growing(arguments: argparse.Namespace, data: Path, folder: Path) -> None:
    print(
        f"{'rows':>10} {'distinct':>10} {'classes':>9}   {'search s':>8} {'ns/n·log n':>10} {'others':>6}   "
        f"{'whole s':>8} {'ns/n·log n':>10} {'peak MB':>8} {'others':>6}   stages"
    )
    rows = 100_000
    while rows <= arguments.most:
        path = generate(folder, rows)
        unit = 1e9 / (rows * math.log2(rows))
        for _ in range(arguments.repeat):
            clock = Clock()
            search = child("search", path, data)
            busy = clock.stop()[1]
            clock = Clock()
            whole = child("whole", path, data)
            others = clock.stop()[1]
            stages = ", ".join(f"{k} {v:.2f}" for k, v in whole["stages"].items())
            print(
                f"{rows:10,} {search['rows']:10,} {search['classes']:9,}   {search['seconds']:8.2f} "
                f"{search['seconds'] * unit:10.2f} {busy:6.1f}   {whole['seconds']:8.2f} {whole['seconds'] * unit:10.2f} "
                f"{whole['peak']:8.0f} {others:6.1f}   {stages}",
                flush=True,
            )
        rows *= 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--anonypy")
    parser.add_argument("--mosaicrown")
    parser.add_argument("--mosaicrown-source", type=Path)
    parser.add_argument("--part", choices=("adult", "growing"))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--most", type=int, default=10_000_000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.mosaicrown and not arguments.mosaicrown_source:
        parser.error("--mosaicrown needs --mosaicrown-source")
    data = data_folder(arguments.data).resolve()
    if arguments.child:
        kind, path = arguments.child
        print(json.dumps(be_child(kind, Path(path), data)))
        return
    with tempfile.TemporaryDirectory(prefix="velado-mondrian-") as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if arguments.part != "growing":
            beside(arguments, data, folder)
        if arguments.part != "adult":
            growing(arguments, data, folder)


if __name__ == "__main__":
    main()
