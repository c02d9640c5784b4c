"""Time and peak memory as rows grow from 10⁴ to 10⁷ (Adult resampled, Parquet), beside DuckDB alone.

    python benchmarks/scale.py [--folder FOLDER] [--most 10000000]

Each measurement is a process of its own, so that peak memory is its own. DuckDB alone reads, groups by the same
columns and writes the same file.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from velado.studies import data_folder, ubb

MEMORY = "768MB"


def generate(folder: Path, rows: int, data: Path) -> Path:
    path = folder / f"adult_{rows}.parquet"
    if not path.exists():
        connection = duckdb.connect()
        connection.execute(
            f"CREATE TABLE a AS SELECT * FROM read_csv('{data / 'adult' / 'adult.csv'}', delim=';', all_varchar=true)"
        )
        connection.execute("CREATE TABLE numbered AS SELECT row_number() OVER () - 1 AS i, * FROM a")
        connection.execute(
            f"COPY (SELECT n.* EXCLUDE (i) FROM range({rows}) r JOIN numbered n ON n.i = hash(r.range) % 30162) "
            f"TO '{path}' (FORMAT parquet)"
        )
    return path


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def duckdb_alone(path: Path, folder: Path) -> dict:
    names = ", ".join(f'"{c}"' for c in (*ubb.QUASI_IDENTIFIERS, "occupation"))
    began = time.perf_counter()
    connection = duckdb.connect(config={"memory_limit": MEMORY})
    connection.sql(f"SELECT {names}, count(*) FROM '{path}' GROUP BY ALL").to_arrow_table()
    grouped = time.perf_counter()
    connection.execute(f"COPY (SELECT * FROM '{path}') TO '{folder / 'alone.parquet'}' (FORMAT parquet)")
    done = time.perf_counter()
    return {"seconds": done - began, "group": grouped - began, "write": done - grouped, "peak": peak()}


def velado_run(path: Path, folder: Path, data: Path, order: str) -> dict:
    from velado import KAnonymity, Lattice, Output, anonymize

    columns = ubb.columns(data / "adult")
    warm = duckdb.sql(f"SELECT * FROM '{path}' LIMIT 2000").to_arrow_table()
    anonymize(warm, columns, [KAnonymity(5)])
    marks: list[tuple[str, float]] = []
    base = peak()
    began = time.perf_counter()
    output = Output(path=folder / "release.parquet", order=order)
    release = anonymize(
        path, columns, [KAnonymity(5)], Lattice(), output=output, progress=lambda s, t: marks.append((t, time.perf_counter()))
    )
    done = time.perf_counter()
    stages = {}
    for (text, at), (_, until) in zip(marks, [*marks[1:], ("", done)], strict=True):
        stages[text.split()[0]] = stages.get(text.split()[0], 0.0) + until - at
    return {"seconds": done - began, "peak": peak(), "before": base, "rows": release.evaluation.rows, "stages": stages}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--most", type=int, default=10_000_000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    data = data_folder(arguments.data).resolve()
    if arguments.child:
        kind, path = arguments.child
        folder = Path(path).parent
        result = duckdb_alone(Path(path), folder) if kind == "duckdb" else velado_run(Path(path), folder, data, kind)
        print(json.dumps(result))
        return
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="velado-scale-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(
        f"{'rows':>10} {'DuckDB s':>9} {'peak MB':>8}   {'Velado s':>9} {'peak MB':>8} {'times':>6}   {'unshuffled s':>12}   stages"
    )
    rows = 10_000
    while rows <= arguments.most:
        path = generate(folder, rows, data)
        results = {}
        for kind in ("duckdb", "shuffle", "keep"):
            command = [sys.executable, __file__, "--data", str(data), "--child", kind, str(path)]
            results[kind] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        alone, ours = results["duckdb"], results["shuffle"]
        stages = ", ".join(f"{k} {v:.2f}" for k, v in ours["stages"].items())
        print(
            f"{rows:10,} {alone['seconds']:9.2f} {alone['peak']:8.0f}   {ours['seconds']:9.2f} {ours['peak']:8.0f} "
            f"{ours['seconds'] / alone['seconds']:6.2f}   {results['keep']['seconds']:12.2f}   {stages}"
        )
        rows *= 10


if __name__ == "__main__":
    main()
