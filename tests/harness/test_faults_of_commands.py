"""Signals, kills, full disks and closed pipes while a command works: exit code, words and files say the same."""

import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import typer
import yaml

from conftest import VELADO, Ended
from harness.quick_cases import some
from servers.studio import until
from velado.cli import app
from velado.samples import hospital

pytestmark = pytest.mark.faults
TORTURE = int(os.environ.get("VELADO_TORTURE", "0") or 0)
SERVER = """
import contextlib, fcntl, io, json, os, sys
import cryptography.hazmat.primitives.ciphers.aead, duckdb, numba, pandas, scipy.special, xlsxwriter
import pyarrow.compute, pyarrow.csv, pyarrow.feather, pyarrow.parquet
import velado.cli

with contextlib.redirect_stdout(io.StringIO()):
    velado.cli.app(["--version"], standalone_mode=False)

def run(wanted, streams):
    os.chdir(wanted["folder"])
    os.environ.update(wanted["environment"])
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
    sys.argv = ["velado", *wanted["args"]]
    try:
        exec(wanted["fault"], {"os": os, "sys": sys})
        velado.cli.main()
    except SystemExit as stop:
        sys.stdout.flush()
        os._exit(stop.code or 0)
    except BaseException:
        import traceback
        traceback.print_exc()
    os._exit(99)

for line in sys.stdin:
    # Not files: the limit of a file's size must not be one of the output. The pipes hold all of it.
    pipes = [os.pipe() for _ in range(2)]
    for pipe in pipes:
        fcntl.fcntl(pipe[1], fcntl.F_SETPIPE_SZ, 1 << 20)
    child = os.fork()
    if child == 0:
        run(json.loads(line), [pipe[1] for pipe in pipes])
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = []
    for read, write in pipes:
        os.close(write)
        with open(read, encoding="utf-8") as stream:
            texts.append(stream.read())
    print(json.dumps([code, *texts]), flush=True)
"""
"""Runs commands in processes that need not import everything anew; a fault is a program that comes first."""
KEY = "c41f" * 16
PATIENTS = {
    "source": {"path": "patients.csv"},
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 50]}},
        "town": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
    },
    "models": [{"k-anonymity": {"k": 2}}],
    "method": {"mondrian": {}},
    "output": {"path": "out.csv"},
}
LIGHT = {
    "source": {"path": "patients.csv"},
    "protection": "operations",
    "columns": {"name": {"operation": {"encrypt": {"key": "env:VELADO_KEY"}}}},
    "rest": "insensitive",
    "output": {"path": "out.csv"},
}
RUN = ("run", "project.yaml", "--json")
CLOSED = "read, write = os.pipe(); os.close(read); os.dup2(write, 1)"
COMMANDS = typer.main.get_command(app).commands
Velado = Callable[..., Ended]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    yield process
    process.stdin.close()
    process.wait()


def command(server: subprocess.Popen, folder: Path, args: tuple[str, ...], fault: str = "") -> Ended:
    """Run a command in ``folder/work``, with a fault; temporary files have a folder beside it."""
    (folder / "tmp").mkdir(exist_ok=True)
    variables = {"TMPDIR": str(folder / "tmp"), "VELADO_KEY": KEY}
    wanted = {"folder": str(folder / "work"), "environment": variables, "args": args, "fault": fault}
    server.stdin.write(json.dumps(wanted) + "\n")
    server.stdin.flush()
    ended = Ended(*json.loads(server.stdout.readline()))
    assert "Traceback" not in ended.err, ended.err
    return ended


@pytest.fixture
def velado(server: subprocess.Popen, tmp_path: Path) -> Velado:
    return lambda *args, fault="": command(server, tmp_path, args, fault)


@pytest.fixture(scope="module")
def first(server: subprocess.Popen, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 300 people, some of them with letters that Latin-1 writes otherwise, and a release of it."""
    folder = tmp_path_factory.mktemp("first")
    work = folder / "work"
    work.mkdir()
    table = pa.table(
        {
            "name": [f"Núria {i}" for i in range(300)],
            "age": [str(20 + i * 7 % 60) for i in range(300)],
            "town": [f"town {i % 5}" for i in range(300)],
            "illness": [f"illness {i % 11}" for i in range(300)],
        }
    )
    pyarrow.csv.write_csv(table, work / "patients.csv")
    text = (work / "patients.csv").read_text(encoding="utf-8")
    (work / "latin.csv").write_text(text, encoding="latin-1")
    (work / "slots.csv").write_text("day,capacity\n" + "".join(f"day {i},60\n" for i in range(5)))
    write(work, LIGHT)
    assert command(server, folder, RUN).code == 0
    return work


@pytest.fixture
def work(tmp_path: Path, first: Path) -> Path:
    """A copy of it."""
    (tmp_path / "tmp").mkdir()
    return shutil.copytree(first, tmp_path / "work")


def write(work: Path, project: dict[str, Any], **changes: Any) -> None:
    (work / "project.yaml").write_text(yaml.safe_dump({**project, **changes}, sort_keys=False))


def files(work: Path) -> dict[str, str]:
    """Everything that is there, hidden or not."""
    return {
        str(p.relative_to(work.parent)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder"
        for place in (work, work.parent / "tmp")
        for p in sorted(place.rglob("*"))
    }


def consistent(work: Path, name: str = "out.csv") -> bool:
    manifest = json.loads((work / f"{name}.manifest.json").read_text())
    return manifest["output"]["sha256"] == hashlib.sha256((work / name).read_bytes()).hexdigest()


# Signals

SENT = """
def send(place, name, number, to=os.getpid()):
    real = getattr(place, name)
    def sending(*args, **options):
        os.kill(to, number)
        return real(*args, **options)
    setattr(place, name, sending)
"""
BEFORE = {
    "writing": "import velado.tables.duckdb.table as m; send(m.DuckDBTable, 'write', {0})",
    "making a folder": "send(os, 'mkdir', {0})",
    "waiting for others": "import velado.tables.publication.publish as m; send(m, 'locked_folders', {0})",
}
AFTER = {
    "writing the journal": "import velado.tables.publication.publish as m; send(m.Journal, 'write', {0})",
    "keeping the old files": "send(os, 'link', {0})",
    "renaming": "send(os, 'replace', {0})",
    "forking": "send(os, 'fork', {0})",
    "tidying up": "import velado.tables.publication.journal as m; send(m.Journal, 'close', {0})",
    "telling": "import velado.cli.run as m; send(m, 'print_json', {0})",
    "writing to the terminal": "import velado.cli as m; send(m, '_flush', {0})",
}


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "Interrupted"), (signal.SIGTERM, "Terminated")])
@pytest.mark.parametrize("place", some(BEFORE, "writing"))
def test_a_signal_before_publication(place: str, number: int, word: str, work: Path, velado: Velado) -> None:
    before = files(work)
    ended = velado(*RUN, fault=SENT + BEFORE[place].format(int(number)))
    assert (ended.code, ended.out) == (128 + number, "")
    assert ended.err == f"{word}; nothing was published.\n"
    assert files(work) == before


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "Interrupted"), (signal.SIGTERM, "Terminated")])
@pytest.mark.parametrize("place", some(AFTER, "renaming"))
def test_a_signal_after_publication_began(place: str, number: int, word: str, work: Path, velado: Velado) -> None:
    """It is finished, and told to the end."""
    before = files(work)
    ended = velado(*RUN, fault=SENT + AFTER[place].format(int(number)))
    assert ended.code == 0
    assert ended.json["rows"] == 300
    assert ended.err == f"{word} after publishing out.csv.manifest.json, out.csv.private.json, out.csv.\n"
    changed = {name for name, digest in files(work).items() if before.get(name) != digest}
    assert changed == {"work/out.csv", "work/out.csv.manifest.json", "work/out.csv.private.json"}
    assert consistent(work)


def test_a_second_signal_does_not_wait_for_the_reader(work: Path, velado: Velado) -> None:
    fault = SENT + "import velado.cli.run as m; send(m, 'print_json', 15); send(m, 'print_json', 15)"
    ended = velado(*RUN, fault=fault)
    assert (ended.code, ended.out) == (0, "")
    assert "after publishing" in ended.err
    assert consistent(work)


def test_what_is_published_first_is_not_all(work: Path, velado: Velado) -> None:
    """A command that publishes one table after another is not done after the first."""
    fault = SENT + "import velado.tables.publication.publish as m; send(m.Journal, 'close', 15)"
    ended = velado("appointments", "generate", ".", "--tables", "3", fault=fault)
    assert ended.code == 128 + signal.SIGTERM
    assert ended.err == "Terminated after publishing people0.csv.\n"
    assert sorted(p.name for p in work.glob("people*")) == ["people0.csv"]


# Killed outright: temporary files of every kind

KILL = "def kill(*args, **options): os.kill(os.getpid(), 9)\n"
IN_PARTS = {**PATIENTS, "method": {"mondrian": {"memory": "1kB"}}}
SORTED = {**IN_PARTS, "output": {"path": "out.csv", "order": "sorted"}}
KILLS: dict[str, tuple[dict[str, Any], str, str]] = {
    "staged": (LIGHT, "velado.tables.duckdb.table.DuckDBTable.write", "new/out.csv"),
    "transcoded": ({**LIGHT, "source": {"path": "latin.csv"}}, "velado.tables.duckdb.table.DuckDBTable.write", "utf8.csv"),
    "XLSX": ({**LIGHT, "output": {"path": "out.xlsx"}}, "xlsxwriter.Workbook._store_workbook", "/tmp"),
    "parts": (IN_PARTS, "velado.tables.duckdb.append.Appender.append", "parts.duckdb"),
    "unsorted": (SORTED, "velado.tables.duckdb.append.Appender._sort", "out.csv.unsorted.parquet"),
}


@pytest.mark.parametrize("kind", some(KILLS, "staged"))
def test_leftovers_of_every_kind_are_swept(kind: str, work: Path, velado: Velado) -> None:
    project, where, leftover = KILLS[kind]
    write(work, project)
    before = files(work)
    module, _, name = where.rpartition(".")
    fault = f"{KILL}import pkgutil; setattr(pkgutil.resolve_name('{module}'), '{name}', kill)"
    assert velado(*RUN, fault=fault).code == -signal.SIGKILL
    new = sorted(set(files(work)) - set(before))
    assert any(leftover in name for name in new)
    assert all("/.velado-" in name for name in new)
    outermost = [p for place in (work, work.parent / "tmp") for p in place.glob(".velado-*")]
    assert {stat.S_IMODE(p.stat().st_mode) for p in outermost} == {0o700}
    write(work, LIGHT)

    def swept() -> bool:
        assert velado(*RUN).code == 0
        return set(files(work)) == set(before)

    # A child of the killed run may live a moment longer, and hold its lock.
    until(swept)


# Full disks


def limited(room: int) -> str:
    """No file may grow beyond so many bytes."""
    return f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room})); sys.dont_write_bytecode = True"


FULL: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "in memory": (PATIENTS, RUN),
    "in parts": (IN_PARTS, RUN),
    "in parts, sorted": (SORTED, RUN),
    "light": (LIGHT, RUN),
    "Parquet": ({**LIGHT, "output": {"path": "out.parquet"}}, RUN),
    "XLSX": ({**LIGHT, "output": {"path": "out.xlsx"}}, RUN),
    "Arrow": ({**LIGHT, "output": {"path": "out.arrow"}}, RUN),
    "transcoded": ({**LIGHT, "source": {"path": "latin.csv"}}, RUN),
    "report": (PATIENTS, ("report", "project.yaml", "--json")),
    "decrypt": (LIGHT, ("decrypt", "out.csv", "--column", "name", "--key", "env:VELADO_KEY", "-o", "x.csv", "--json")),
    "appointments": (LIGHT, ("appointments", "assign", "patients.csv", "slots.csv", "--qi", "age", "-o", "x.csv", "--json")),
}


@pytest.mark.parametrize("what", some(FULL, "in memory"))
def test_full_disks(what: str, work: Path, velado: Velado) -> None:
    project, args = FULL[what]
    write(work, project)
    if args[0] == "report":
        assert velado(*RUN).code == 0
    before = files(work)
    for room in range(0, 4500, 500) if TORTURE else (1000,):
        ended = velado(*args, fault=limited(room))
        assert (ended.code, ended.json["error"]["code"]) == (2, "disk-full"), ended
        assert "the disk is full; nothing was published" in ended.err
        assert files(work) == before


@pytest.mark.parametrize(
    "args",
    [
        ("init", "patients.csv", "-o", "new.yaml"),
        ("hierarchy", "project.yaml", "age", "-o", "new.csv"),
        ("key", "new.key"),
        ("appointments", "generate", ".", "--force"),
    ],
    ids=lambda args: args[0],
)
def test_full_disks_and_small_files(args: tuple[str, ...], work: Path, velado: Velado) -> None:
    write(work, PATIENTS)
    before = files(work)
    ended = velado(*args, fault=limited(0))
    assert ended.code == 2
    assert "the disk is full; nothing was published" in ended.err
    assert files(work) == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that is soon full."""
    place = tmp_path / "disk"
    place.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True).returncode
    ):
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx", "arrow"])
def test_a_really_full_disk(suffix: str, work: Path, velado: Velado, small_disk: Path) -> None:
    write(work, LIGHT, output={"path": str(small_disk / f"out.{suffix}")})
    (small_disk / f"out.{suffix}").write_text("old")
    (small_disk / "ballast").write_bytes(bytes(60 * 1024))
    ended = velado(*RUN)
    assert (ended.code, ended.json["error"]["code"]) == (2, "disk-full"), ended
    assert sorted(p.name for p in small_disk.iterdir()) == ["ballast", f"out.{suffix}"]
    assert (small_disk / f"out.{suffix}").read_text() == "old"


# Nobody listens


@pytest.mark.parametrize("args", [RUN, RUN[:2]], ids=["JSON", "text"])
def test_a_closed_pipe(args: tuple[str, ...], work: Path, velado: Velado) -> None:
    (work / "out.csv").unlink()
    ended = velado(*args, fault=CLOSED)
    assert (ended.code, ended.err) == (0, "")
    assert consistent(work)


@pytest.mark.parametrize("args", [("--help",), ("inspect", "patients.csv"), ("inspect", "nothing.csv", "--json")])
def test_a_closed_pipe_is_no_failure_of_its_own(args: tuple[str, ...], work: Path, velado: Velado) -> None:
    """1 would say that there is no recoding."""
    ended = velado(*args, fault=CLOSED)
    assert ended.code == (2 if "nothing.csv" in args else 0)


QUESTIONS = (
    "--version",
    "hierarchy people.yaml sex",
    "estimate people.yaml",
    "check people.csv --qi sex,city",
    "check people.csv --qi sex,city --json",
    "evaluate --project people.yaml",
    "compare people.yaml --k 2..3",
    "attack --project people.yaml --json",
    "fuzzy people.csv --qi cost --json",
    "appointments k people.csv --qi sex",
)


@pytest.fixture
def people(work: Path, velado: Velado) -> None:
    """A table with its release."""
    pyarrow.csv.write_csv(hospital(60), work / "people.csv")
    columns = {"sex": "quasi-identifier", "city": "quasi-identifier", "diagnosis": "sensitive"}
    project = {
        "source": "people.csv",
        "columns": columns,
        "rest": "drop",
        "models": [{"k-anonymity": {"k": 2}}],
        "output": "released.csv",
    }
    (work / "people.yaml").write_text(yaml.safe_dump(project))
    assert velado("run", "people.yaml", "--json").code == 0


@pytest.mark.usefixtures("people")
def test_nobody_reads_the_answer(velado: Velado) -> None:
    """``velado … | head``: exit code 0, and not a word about it."""
    lines = [*QUESTIONS, *(f"{name} --help" for name in sorted(COMMANDS))]
    ends = {line: velado(*line.split(), fault=CLOSED) for line in lines}
    assert [(line, ended.code, ended.err) for line, ended in ends.items() if (ended.code, ended.err) != (0, "")] == []


@pytest.mark.parametrize("line", ["nonsense", "run", "run --nonsense", "inspect nothing.csv", "nonsense --json"])
def test_nobody_reads_the_error(line: str, work: Path, velado: Velado) -> None:
    """``velado … 2>&1 | head``: what was wrong stays wrong."""
    fault = "read, write = os.pipe(); os.close(read); os.dup2(write, 1); os.dup2(write, 2)"
    assert velado(*line.split(), fault=fault).code == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("args", [RUN, RUN[:2]], ids=["JSON", "text"])
def test_a_summary_that_cannot_be_written(args: tuple[str, ...], work: Path, velado: Velado) -> None:
    (work / "out.csv").unlink()
    ended = velado(*args, fault="os.dup2(os.open('/dev/full', os.O_WRONLY), 1)")
    assert (ended.code, ended.err) == (0, "Published, but the summary could not be written: No space left on device\n")
    assert consistent(work)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "JSON"])
def test_an_answer_that_cannot_be_written(more: tuple[str, ...], work: Path, velado: Velado) -> None:
    ended = velado("inspect", "patients.csv", *more, fault="os.dup2(os.open('/dev/full', os.O_WRONLY), 1)")
    assert ended.code == 2
    assert "Error: the disk is full" in ended.err


def test_closed_streams(work: Path, environment: dict[str, str]) -> None:
    """Nothing takes the place of the streams, and gets what is printed."""
    (work / "out.csv").unlink()
    script = f"exec {VELADO} run project.yaml >&- 2>&-"
    ended = subprocess.run(["sh", "-c", script], cwd=work, env={**environment, "VELADO_KEY": KEY})
    assert ended.returncode == 0
    assert consistent(work)
