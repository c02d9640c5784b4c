"""``velado.check`` with all measures on Adult, beside pycanon's functions if an interpreter that has it is given.

    python benchmarks/check.py [--pycanon PYTHON]

PYTHON is an interpreter of an environment with pycanon installed (pip install pycanon).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path

from velado import check
from velado.studies import data_folder, ubb

PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity as a
data, qi, sa = pd.read_csv(sys.argv[1], sep=";"), json.loads(sys.argv[2]), ["occupation"]
calls = {
    "k": lambda: a.k_anonymity(data, qi),
    "l distinct": lambda: a.l_diversity(data, qi, sa),
    "l entropy": lambda: a.entropy_l_diversity(data, qi, sa),
    "alpha": lambda: a.alpha_k_anonymity(data, qi, sa),
    "t": lambda: a.t_closeness(data, qi, sa),
    "beta": lambda: a.basic_beta_likeness(data, qi, sa),
    "beta enhanced": lambda: a.enhanced_beta_likeness(data, qi, sa),
    "delta": lambda: a.delta_disclosure(data, qi, sa),
    "c": lambda: a.recursive_c_l_diversity(data, qi, sa),
}
times = {}
for name, call in calls.items():
    began = time.perf_counter()
    call()
    times[name] = time.perf_counter() - began
print(json.dumps(times))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pycanon")
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    folder = data_folder(arguments.data) / "adult"
    path = folder / "adult.csv"
    trees = {"occupation": {"file": str(folder / "hierarchy_occupation.csv")}}
    seconds = []
    for _ in range(8):
        began = time.perf_counter()
        check(path, list(ubb.QUASI_IDENTIFIERS), ["occupation"], trees=trees)
        seconds.append(time.perf_counter() - began)
    median = statistics.median(seconds[1:])
    print(f"velado.check, all measures, CSV included: first {seconds[0]:.2f} s, then {median:.3f} s (median of 7)")
    if arguments.pycanon:
        command = [arguments.pycanon, "-c", PYCANON, str(path), json.dumps(ubb.QUASI_IDENTIFIERS)]
        times = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for name, value in times.items():
            print(f"  pycanon {name:14} {value:8.2f} s")
        total = sum(times.values())
        print(f"pycanon, nine functions: {total:.1f} s = {total / median:.0f} times as long")


if __name__ == "__main__":
    main()
