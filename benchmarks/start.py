"""How long a user waits: the first answer after installation, and whole later commands.

    python benchmarks/start.py [--sources FOLDER …] [--runs 5] [--adult adult.csv]

FOLDER is a ``src`` folder of Velado; several are measured in turn, so that noise of the machine meets all of them.
Seconds by the clock, and of the processors (all processes of the command that have ended with it); of several runs the fastest.
The first commands find an empty cache.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from velado.studies import data_folder

SMALL = "age,sex,zip,diagnosis\n" + "".join(f"{20 + i % 50},{'FM'[i % 2]},280{i % 20:02},flu\n" for i in range(200))
LARGE = "age,sex,zip,diagnosis\n" + "".join(
    f"{18 + i * 7 % 73},{'FM'[i % 2]},28{i * i % 301:03},{('flu', 'asthma', 'cold')[i % 3]}\n" for i in range(5000)
)
PROJECT = """source: large.csv
columns:
  age: {role: quasi-identifier, type: integer}
  sex: {role: quasi-identifier}
  zip: {role: quasi-identifier}
  diagnosis: {role: sensitive}
models: [{k-anonymity: {k: 5}}, {distinct-diversity: {l: 2, column: diagnosis}}]
method: {mondrian: {}}
output: out.csv
"""
FIRST = {"first demo": "demo", "first Mondrian": "run large.yaml", "first init": "init large.csv --output made.yaml --force"}
LATER = {
    "--help": "--help",
    "a mistake": "run",
    "inspect": "inspect small.csv",
    "init": "init small.csv --force",
    "hierarchy": "hierarchy velado-demo/hospital.yaml postal_code",
    "demo again": "demo",
}
ADULT = "--delimiter ; --qi sex,age,race,marital-status,education,native-country,workclass,occupation --sensitive salary-class"


def measured(arguments: list[str], source: Path, folder: Path, cache: str) -> tuple[float, float]:
    environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "NUMBA_CACHE_DIR": str(folder / cache)}
    command = [sys.executable, "-c", "from velado.cli import main; main()", *arguments]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, used


def compiled(cache: Path) -> None:
    """Wait for the second process, which goes on after the command."""
    while any(cache.rglob("compiling")):
        time.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sources", type=Path, nargs="+", default=[Path(__file__).parents[1] / "src"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--adult", type=Path, default=data_folder(None) / "adult" / "adult.csv")
    given = parser.parse_args()
    commands = {name: line.split() for name, line in LATER.items()}
    if given.adult.is_file():
        commands["check of Adult"] = ["check", str(given.adult.resolve()), *ADULT.split()]
    print(f"{'command':<16}" + "".join(f"{'clock s':>10}{'processors s':>14}" for _ in given.sources))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "small.csv").write_text(SMALL)
        (folder / "large.csv").write_text(LARGE)
        (folder / "large.yaml").write_text(PROJECT)
        rows = {}
        for title, line in FIRST.items():
            rows[title] = []
            for i, source in enumerate(given.sources):
                shutil.rmtree(folder / f"cache{i}", ignore_errors=True)
                rows[title].append(measured(line.split(), source, folder, f"cache{i}"))
                compiled(folder / f"cache{i}")
        for title, arguments in commands.items():
            tried = [[measured(arguments, s, folder, f"cache{i}") for i, s in enumerate(given.sources)] for _ in range(given.runs)]
            rows[title] = [tuple(map(min, zip(*times, strict=True))) for times in zip(*tried, strict=True)]  # type: ignore[misc]
        for title, figures in rows.items():
            print(f"{title:<16}" + "".join(f"{clock:>10.2f}{used:>14.2f}" for clock, used in figures))


if __name__ == "__main__":
    main()
