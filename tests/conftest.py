"""What several test files share: a small hospital table, a project about it, and the command line."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from hypothesis import settings

import shared_duckdb
import suite_parts
from harness import judge_hook
from velado import cli
from velado.cli import terminal
from velado.samples import hospital

judge_hook.install()

# Tests expect English, whatever the language of the machine.
os.environ["VELADO_LANGUAGE"] = "en"

# The same examples on every machine and in every run, few of them in `make test`; `make torture` draws new ones.
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=8)
settings.register_profile("same", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("torture", deadline=None, max_examples=500)
settings.load_profile("torture" if os.environ.get("VELADO_TORTURE") else "same")

VELADO = Path(sys.executable).with_name("velado")
PROJECT: dict[str, Any] = {
    "name": "patients",
    "source": {"path": "patients.csv"},
    "columns": {
        "name": {"role": "identifier"},
        "national_id": {"role": "identifier"},
        "birth_date": {"role": "quasi-identifier", "type": "date", "hierarchy": {"dates": ["year", "decade"]}},
        "sex": {"role": "quasi-identifier"},
        "postal_code": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "city": {"role": "insensitive", "exposure": "accepted"},
        "marital_status": {"role": "insensitive", "exposure": "accepted"},
        "diagnosis": {"role": "sensitive"},
        "cost": {"role": "insensitive", "exposure": "accepted"},
    },
    "models": [{"k-anonymity": {"k": 5}}],
    "method": {"lattice": {"suppression": 0.1}},
    "output": {"path": "out.csv"},
}


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output; anything beside it is an error."""
        return json.loads(self.out)


Command = Callable[..., Ended]


@pytest.fixture(scope="session")
def patients() -> pa.Table:
    """400 invented patients."""
    return hospital(400)


@pytest.fixture(scope="session")
def patients_csv(patients: pa.Table) -> str:
    """The patients as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(patients.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in patients.columns), strict=True))
    return text.getvalue()


@pytest.fixture
def write_project(tmp_path: Path, patients_csv: str) -> Callable[..., Path]:
    """Write ``patients.csv`` and ``project.yaml``; arguments replace keys of the project, None removes one.

    ``columns`` changes single columns: ``write_project(columns={"city": None})`` leaves the city out.
    """

    def write(columns: dict[str, Any] | None = None, **changes: Any) -> Path:
        (tmp_path / "patients.csv").write_text(patients_csv, encoding="utf-8")
        project = {**PROJECT, "columns": {**PROJECT["columns"], **(columns or {})}, **changes}
        project["columns"] = {name: c for name, c in project["columns"].items() if c is not None}
        project = {key: value for key, value in project.items() if value is not None}
        path = tmp_path / "project.yaml"
        path.write_text(yaml.safe_dump(project, sort_keys=False, allow_unicode=True), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The environment of commands: wide lines, no colours, compiled files kept."""
    unwanted = ("PYTHONDONTWRITEBYTECODE", "FORCE_COLOR", "NO_COLOR")
    return {k: v for k, v in os.environ.items() if k not in unwanted} | {"COLUMNS": "200", "PYTHONUTF8": "1"}


@pytest.fixture
def shell(tmp_path: Path, environment: dict[str, str]) -> Command:
    """Run the installed command in a process of its own."""

    def run(*args: Any, **options: Any) -> Ended:
        ended = subprocess.run(
            [VELADO, *map(str, args)], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", timeout=120, **options
        )
        if ended.returncode == 0:
            judge_hook.WATCH.command(tmp_path, list(map(str, args)), ended.stdout)
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture
def main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command's entry point in this process, which is faster."""

    def run(*args: Any, columns: int = 200) -> Ended:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(terminal.out, "width", columns)  # made before, with the width of that time
        monkeypatch.setattr(sys, "argv", ["velado", *map(str, args)])
        handlers = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        capsys.readouterr()
        code: Any = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        return Ended(code, *capsys.readouterr())

    return run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--judge",
        action="store_true",
        help="The second judge is behind every run, and every table has an engine of its own, whatever the test is marked with.",
    )


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in suite_parts.PARTS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test is in a part. The longest come first, so that at the end no worker waits for another that is still at one."""
    suite_parts.mark(items)
    if found := [*suite_parts.wrong(items)]:
        raise pytest.UsageError("\n".join(found))
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Quick tests share an engine, unless they are about its own."""
    quick = item.get_closest_marker(suite_parts.QUICK) is not None and not item.config.getoption("--judge")
    shared_duckdb.use(shared=quick and item.get_closest_marker("own_engine") is None)


# The second judge


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    """A test in which the second judge refused a release has failed, whatever else it found."""
    wanted = item.get_closest_marker("judged") is not None or item.config.getoption("--judge")
    judge_hook.WATCH.away = not wanted or item.get_closest_marker("unjudged") is not None
    try:
        result = yield
    finally:
        refusals, judge_hook.WATCH.refusals = judge_hook.WATCH.refusals, []
    assert not refusals, "the second judge refuses: " + "; ".join(refusals)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["judged"] = dict(judge_hook.WATCH.tally)


def pytest_testnodedown(node: Any) -> None:
    """Sum up what the workers of pytest-xdist judged."""
    judge_hook.WATCH.tally.update(getattr(node, "workeroutput", {}).get("judged", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tally = judge_hook.WATCH.tally
    if tally:
        terminalreporter.write_line(
            f"second judge: {tally['judged']:,} releases judged, {tally['matched']:,} of them matched with their original "
            f"records, {tally['skipped']:,} skipped (more than {judge_hook.MOST_ROWS:,} rows, or elsewhere)"
        )
