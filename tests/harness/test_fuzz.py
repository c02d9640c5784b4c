"""Whatever somebody writes into a project, a table or a hierarchy: a clear end, never a traceback or a crash.

Cases are drawn from fixed seeds and run in a process of its own with limits of time and memory. ``VELADO_TORTURE=1``
tries thirty times as many.
"""

import json
import os
import random
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import cases

pytestmark = pytest.mark.faults
WORKER = Path(__file__).with_name("fuzz_worker.py")
MEMORY = 6 << 30
SECONDS = 180.0
TIMES = 30 if os.environ.get("VELADO_TORTURE") else 1


class Worker:
    """A process that runs commands; a new one takes its place when it dies or takes too long."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, folder: Path, *argv: str, seconds: float = SECONDS) -> dict[str, Any]:
        """How a command ended: ``code`` is negative for a signal, None when the time was up."""
        if self.process is None:
            command = [sys.executable, str(WORKER), str(MEMORY)]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=self.environment)
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"argv": argv, "cwd": str(folder)}).encode() + b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        line = process.stdout.readline() if ready else b""
        if line:
            return json.loads(line)
        err = self.stop()
        return {"code": process.returncode if ready else None, "out": "", "err": err}

    def stop(self) -> str:
        """End the process; return what it said at its end."""
        if self.process is None:
            return ""
        process, self.process = self.process, None
        process.kill()
        return process.communicate()[1].decode(errors="replace")


@pytest.fixture(scope="module")
def worker(environment: dict[str, str]) -> Iterator[Worker]:
    found = Worker(environment)
    yield found
    found.stop()


class Tally:
    """How cases ended, and which of them ended as none may."""

    def __init__(self) -> None:
        self.codes: Counter[Any] = Counter()
        self.wrong: list[tuple[str, Any, str]] = []

    def add(self, case: str, ended: dict[str, Any]) -> None:
        code, err = ended["code"], ended["err"]
        self.codes[code] += 1
        told = code == 0 or err.startswith(("Error: ", "Usage: "))
        # 70 would be allowed if it happened, but what a seed finds is mended.
        if code not in (0, 1, 2) or "Traceback" in err + ended["out"] or "panicked" in err or not told:
            self.wrong.append((case, code, err[-600:]))

    def check(self) -> None:
        print(dict(self.codes))
        assert self.wrong == []


def drawn(kind: str, times: int) -> Iterator[tuple[str, random.Random]]:
    for seed in range(times * TIMES):
        yield f"{kind} {seed}", random.Random(f"{kind} {seed}")


def write(path: Path, project: Any) -> None:
    path.write_text(yaml.safe_dump(project, sort_keys=False, allow_unicode=True), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return cases.folder_of(tmp_path / "data")


def test_what_is_mutated_was_valid(worker: Worker, folder: Path) -> None:
    codes = []
    for project in (*cases.PROJECTS, cases.SEVERAL):
        write(folder / "p.yaml", project)
        # The kernels may have to be compiled first.
        codes.append(worker.run(folder, "run", "p.yaml", seconds=600)["code"])
        cases.folder_of(folder)
    assert codes == [0] * len(codes)


@pytest.mark.quick
def test_projects(worker: Worker, folder: Path) -> None:
    tally = Tally()
    for case, rng in drawn("project", 60):
        write(folder / "p.yaml", cases.mutated(rng))
        command = rng.choice([["run"]] * 5 + [["estimate"], ["hierarchy"], ["evaluate"], ["report"]])
        column = ["age"] if command == ["hierarchy"] else []
        tally.add(case, worker.run(folder, *command, "p.yaml", *column))
        cases.folder_of(folder)
    tally.check()


def test_yaml(worker: Worker, folder: Path) -> None:
    tally = Tally()
    for number, text in enumerate(cases.YAML_TEXTS):
        (folder / "p.yaml").write_text(text, encoding="utf-8")
        tally.add(f"text {number}", worker.run(folder, "run", "p.yaml"))
    for case, rng in drawn("text", 20):
        (folder / "p.yaml").write_text(cases.mutated_text(rng), encoding="utf-8")
        tally.add(case, worker.run(folder, "run", "p.yaml"))
    tally.check()


def on_file(worker: Worker, folder: Path, file: str, rng: random.Random) -> dict[str, Any]:
    """Run a project about a file, or inspect it."""
    if rng.random() < 0.2:
        return worker.run(folder, "inspect", file)
    write(folder / "p.yaml", cases.project_on(file, rng))
    return worker.run(folder, "run", "p.yaml")


def test_csv(worker: Worker, folder: Path) -> None:
    tally = Tally()
    for case, make in cases.CSV_FILES.items():
        (folder / "in.csv").write_bytes(make())
        for command in (["inspect"], ["check", "--qi", "age"]):
            tally.add(case, worker.run(folder, command[0], "in.csv", *command[1:]))
    for case, rng in drawn("csv", 20):
        (folder / "in.csv").write_bytes(cases.damaged(cases.csv_bytes(), rng))
        tally.add(case, on_file(worker, folder, "in.csv", rng))
    tally.check()


def test_arrow(worker: Worker, folder: Path) -> None:
    tally = Tally()
    for case, rng in drawn("arrow", 20):
        table = rng.choice([cases.plain(), cases.typed()])
        packed = rng.choice(["lz4", "zstd", "uncompressed", "uncompressed"])
        (folder / "in.arrow").write_bytes(cases.damaged(cases.arrow_bytes(table, compression=packed), rng))
        tally.add(case, on_file(worker, folder, "in.arrow", rng))
    tally.check()


def test_parquet(worker: Worker, folder: Path) -> None:
    tally = Tally()
    for case, rng in drawn("parquet", 20):
        table = rng.choice([cases.plain(), cases.typed()])
        packed, coded = rng.choice(["snappy", "zstd", "none", "gzip"]), rng.random() < 0.5
        data = cases.parquet_bytes(table, compression=packed, use_dictionary=coded)
        (folder / "in.parquet").write_bytes(cases.damaged(data, rng))
        tally.add(case, on_file(worker, folder, "in.parquet", rng))
    tally.check()


def test_xlsx(worker: Worker, folder: Path) -> None:
    tally = Tally()
    books = [cases.xlsx_bytes(table, folder / "book.xlsx") for table in (cases.plain(), cases.typed())]
    for case, rng in drawn("xlsx", 20):
        (folder / "in.xlsx").write_bytes(cases.damaged_zip(rng.choice(books), rng))
        tally.add(case, on_file(worker, folder, "in.xlsx", rng))
    tally.check()


@pytest.mark.quick
def test_hierarchy_files(worker: Worker, folder: Path) -> None:
    tally = Tally()
    write(folder / "p.yaml", cases.PROJECTS[2])
    for case, rng in drawn("hierarchy", 12):
        (folder / "zip.csv").write_bytes(cases.damaged(cases.hierarchy_bytes(), rng))
        tally.add(case, worker.run(folder, "run", "p.yaml"))
    tally.check()
