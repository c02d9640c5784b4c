"""What joint exposure costs beside the rest of a run: CSV to verified CSV, twelve published columns.

    python benchmarks/exposure.py [--rows 1000000]

Adult, resampled with replacement; eight quasi-identifiers, four other columns of which only the person and the keeper know.
Seconds of the clock and of the processors, of the parts that look at what is published and of the whole run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import velado
from velado.release import column_exposure, verify

DATA = Path(os.environ.get("VELADO_DATA", "../shared/data")) / "adult"
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")


class Watch:
    """Seconds that some functions take: clock, processors."""

    def __init__(self) -> None:
        self.seconds: dict[str, tuple[float, float]] = {}

    def around(self, place: Any, name: str) -> None:
        """Measure a function of a module."""
        function: Callable[..., Any] = getattr(place, name)

        def measured(*given: Any, **more: Any) -> Any:
            clock, processors = time.perf_counter(), time.process_time()
            try:
                return function(*given, **more)
            finally:
                spent = time.perf_counter() - clock, time.process_time() - processors
                before = self.seconds.get(name, (0.0, 0.0))
                self.seconds[name] = (before[0] + spent[0], before[1] + spent[1])

        setattr(place, name, measured)


def people(rows: int) -> pa.Table:
    """Adult resampled, with three columns of numbers."""
    chance = np.random.default_rng(7)
    table = pyarrow.csv.read_csv(DATA / "adult.csv", parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
    table = table.take(chance.integers(0, table.num_rows, rows))
    table = table.append_column("height", pa.array(np.round(chance.normal(170, 9, rows)).astype(int)))
    table = table.append_column("glucose", pa.array(np.round(chance.normal(95, 15, rows)).astype(int)))
    return table.append_column("cost", pa.array(np.round(chance.lognormal(6, 1, rows), 2)))


def main() -> None:
    """Measure and print."""
    ask = argparse.ArgumentParser()
    ask.add_argument("--rows", type=int, default=1_000_000)
    rows = ask.parse_args().rows
    columns: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": {"file": str(DATA / f"hierarchy_{name}.csv"), "delimiter": ";"}}
        for name in QUASI
    }
    for name in ("occupation", "height", "glucose", "cost"):
        columns[name] = {"role": "sensitive", "known": "never"}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "people.csv"
        table = people(rows)
        pyarrow.csv.write_csv(table, source)
        project = {
            "source": str(source),
            "columns": columns,
            "rest": "drop",
            "models": [{"k-anonymity": {"k": 5}}],
            "method": {"lattice": {"suppression": 0.05}},
            "output": {"path": str(Path(folder) / "out.csv")},
        }
        small = {**project, "source": table.slice(0, 5000), "output": None}
        velado.run(small)
        watch = Watch()
        for place, name in (
            (verify, "expose_jointly"),
            (verify, "expose"),
            (column_exposure, "narrowed"),
            (column_exposure, "sampled_released"),
            (column_exposure, "with_copies"),
        ):
            watch.around(place, name)
        clock, processors = time.perf_counter(), time.process_time()
        release = velado.run(project)
        whole = time.perf_counter() - clock, time.process_time() - processors
    joint = release.public_evaluation.exposure
    print(f"{rows:,} rows, {len(columns)} columns; {joint.below_with_private:,} below k by everything, sampled {joint.sampled}")
    for name, (a, b) in watch.seconds.items():
        print(f"  {name:18} {a:6.2f} s, processors {b:6.2f} s")
    new = [sum(watch.seconds[n][i] for n in ("expose_jointly", "narrowed")) for i in (0, 1)]
    print(f"joint exposure {new[0]:.2f} s ({new[1]:.2f}), rest of the run {whole[0] - new[0]:.2f} s ({whole[1] - new[1]:.2f})")


if __name__ == "__main__":
    main()
