"""Fuzzy c-means beside scikit-fuzzy, and the fuzzy measures on growing tables.

    python benchmarks/fuzzy.py [--skfuzzy PYTHON] [--part c-means|measures] [--rows 100000] [--columns 4] [--sets 5]

PYTHON is an interpreter of an environment with scikit-fuzzy (and scipy, networkx, packaging, which it does not declare).
Both start from the same centres and update the centres as often as ours until it comes to rest; the rival runs
right before ours, ours is the median of several runs. Each is measured with the threads that its libraries take.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from velado.fuzzy import (
    CMeans,
    FuzzyCardinality,
    GustafsonKessel,
    KMeans,
    closeness,
    distributions,
    largest_q,
    posterior,
    record_histograms,
    value_cardinality,
)

SKFUZZY = """
import json, sys, time
import numpy as np
import skfuzzy
path, sets, iterations = json.loads(sys.argv[1])
given = np.load(path)
began = time.perf_counter()
found = skfuzzy.cmeans(given["points"].T, sets, 2, error=0, maxiter=iterations, init=given["memberships"].T)
seconds = time.perf_counter() - began
print(json.dumps({"seconds": seconds, "centres": found[0].tolist(), "iterations": int(found[5])}))
"""


def points(rows: int, columns: int, sets: int) -> np.ndarray:
    """Overlapping clouds in the unit cube; the seed is fixed."""
    rng = np.random.default_rng(1)
    middle = rng.random((sets, columns))
    cloud = rng.integers(0, sets, rows)
    found = middle[cloud] + rng.normal(0, 0.15, (rows, columns))
    return (found - found.min(axis=0)) / (found.max(axis=0) - found.min(axis=0))


def timed(action: Callable[[], Any], runs: int = 5) -> tuple[float, Any]:
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), result


def first_memberships(x: np.ndarray, start: np.ndarray) -> np.ndarray:
    inverse = 1 / np.maximum(((x[:, None] - start[None]) ** 2).sum(axis=2), 1e-30)
    return inverse / inverse.sum(axis=1, keepdims=True)


def beside_skfuzzy(python: str | None, rows: int, columns: int, sets: int) -> None:
    x = points(rows, columns, sets)
    start = x[np.random.default_rng(2).choice(rows, sets, replace=False)]
    method = CMeans(sets)
    ours = method.fit(x, start=start)
    print(f"{rows:,} rows × {columns} columns, {sets} sets, {ours.iterations} iterations, converged: {ours.converged}")
    if python:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "given.npz"
            np.savez(path, points=x, memberships=first_memberships(x, start))
            arguments = json.dumps([str(path), sets, ours.iterations - 1])
            ended = subprocess.run([python, "-c", SKFUZZY, arguments], capture_output=True, text=True, check=True)
        theirs = json.loads(ended.stdout)
        centres = np.array(theirs["centres"])
        centres = centres[np.lexsort(centres.T[::-1])]
        print(f"  scikit-fuzzy             {theirs['seconds']:8.3f} s   {theirs['iterations']} iterations")
    seconds, _ = timed(lambda: method.fit(x, start=start))
    print(f"  Velado, c-means          {seconds:8.3f} s")
    if python:
        print(
            f"  times {theirs['seconds'] / seconds:.1f}; largest difference of a centre {np.abs(centres - ours.centres).max():.1e}"
        )
    for other in (GustafsonKessel(sets), KMeans(sets)):
        seconds, found = timed(lambda other=other: other.fit(x, start=start), runs=1)
        print(f"  Velado, {other.name:17}{seconds:8.3f} s   {found.iterations} iterations")


def measures(most: int) -> None:
    print("      rows   Q-anonymity s   cardinalities s   t-closeness s   posterior s    (9 classes, 50 sensitive values)")
    rows = 10_000
    while rows <= most:
        rng = np.random.default_rng(3)
        memberships = rng.dirichlet(np.full(9, 0.2), rows)
        counts = rng.integers(1, 5, rows)
        histograms = record_histograms(rng.integers(0, 50, rows), 50)
        q, _ = timed(lambda m=memberships, c=counts: largest_q(FuzzyCardinality.of(m, c)), runs=1)
        c, found = timed(lambda m=memberships, h=histograms: value_cardinality(m, h), runs=1)
        expected = np.asarray(histograms.sum(axis=0)) / rows
        of_classes = distributions(found)
        t, _ = timed(lambda m=memberships, p=of_classes, e=expected: closeness(m, p, e, ordered=True), runs=1)
        p, _ = timed(lambda m=memberships, h=histograms: posterior(m, h), runs=1)
        print(f"{rows:10,} {q:15.3f} {c:17.3f} {t:15.3f} {p:13.3f}")
        rows *= 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skfuzzy", metavar="PYTHON")
    parser.add_argument("--part", choices=["c-means", "measures"])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--most", type=int, default=1_000_000)
    given = parser.parse_args()
    print(f"load of the machine {os.getloadavg()[0]:.1f}", file=sys.stderr)
    if given.part != "measures":
        beside_skfuzzy(given.skfuzzy, given.rows, given.columns, given.sets)
    if given.part != "c-means":
        measures(given.most)


if __name__ == "__main__":
    main()
