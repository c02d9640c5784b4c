"""The lattice search over the UBB configurations and nine quasi-identifiers, beside ARX if a command for it is given.

    python benchmarks/lattice.py [--arx "COMMAND"] [--runs 7]

COMMAND prints one CSV line per configuration: an id as below, then (anywhere) its median seconds as the
column named seconds_median in the header line. It runs right before ours, so both see the same machine.
"""

from __future__ import annotations

import argparse
import csv
import io
import shlex
import statistics
import subprocess
import time
from pathlib import Path

from velado import Column, KAnonymity, Lattice, TCloseness
from velado.models import RecursiveDiversity
from velado.studies import data_folder, ubb


def configurations() -> dict[str, tuple[str, list, dict]]:
    rows: dict[str, tuple[str, list, dict]] = {}
    for k in (2, 5, 8, 12, 15, 17, 20, 25):
        rows[f"k{k}"] = ("eight", [KAnonymity(k)], {})
    for order in (2, 4, 6, 8, 10, 12):
        rows[f"k5-c4-l{order}"] = ("eight", [KAnonymity(5), RecursiveDiversity(4, order, "occupation")], {})
    for tenth in range(1, 11):
        t = tenth / 10
        rows[f"k5-t{t}"] = ("eight", [KAnonymity(5), TCloseness(t, "occupation", "hierarchical")], {})
    rows["k5-s0.05"] = ("eight", [KAnonymity(5)], {"suppression": 0.05})
    rows["k5-s0"] = ("eight", [KAnonymity(5)], {"suppression": 0.0})
    rows["qi9-k5-s1"] = ("nine", [KAnonymity(5)], {})
    rows["qi9-k5-s0.05"] = ("nine", [KAnonymity(5)], {"suppression": 0.05})
    rows["qi9-k5-s0"] = ("nine", [KAnonymity(5)], {"suppression": 0.0})
    return rows


def nine(data: Path) -> list[Column]:
    """Occupation joins the quasi-identifiers: 12,960 nodes."""
    return [Column(c.name, "quasi-identifier", hierarchy=c.hierarchy) for c in ubb.columns(data / "adult")]


def rival(command: str | None) -> dict[str, float]:
    if not command:
        return {}
    printed = subprocess.run(shlex.split(command), capture_output=True, text=True, check=True).stdout
    reader = csv.DictReader(io.StringIO(printed))
    key = (reader.fieldnames or [""])[0]
    return {row[key]: float(row["seconds_median"]) for row in reader}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--arx")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    arx = rival(arguments.arx)
    tables = {"eight": ubb.load(data), "nine": ubb.load(data, nine(data))}
    print(f"{'configuration':14} {'levels':20} {'evaluated':>9} {'Velado ms':>10} {'ARX ms':>8} {'times':>6}")
    ours_total = arx_total = 0.0
    for name, (table, models, options) in configurations().items():
        method, frequency = Lattice(**options), tables[table]
        found = method.search(frequency, models)
        seconds = []
        for _ in range(arguments.runs):
            began = time.perf_counter()
            method.search(frequency, models)
            seconds.append(time.perf_counter() - began)
        median = statistics.median(seconds)
        levels = " ".join(map(str, found.levels))
        beside = f"{1000 * arx[name]:8.0f} {arx[name] / median:6.1f}" if name in arx else ""
        print(f"{name:14} {levels:20} {found.search.evaluated:9} {1000 * median:10.1f} {beside}")
        if name in arx:
            ours_total, arx_total = ours_total + median, arx_total + arx[name]
    if arx_total:
        print(f"{'all':14} {'':20} {'':9} {1000 * ours_total:10.0f} {1000 * arx_total:8.0f} {arx_total / ours_total:6.1f}")


if __name__ == "__main__":
    main()
