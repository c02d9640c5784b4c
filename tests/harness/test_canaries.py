"""No token of an identifier, of a suppressed row or of a file nobody named comes out, whatever a command does.

Every cell that must stay inside is a word that occurs nowhere else. After each command all that it printed and every
file that it left is searched, workbooks and Parquet files unpacked.
"""

import contextlib
import gzip
import io
import os
import re
import signal
import stat
import subprocess
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml

from conftest import VELADO, Command
from harness.judge_hook import TORTURE
from harness.quick_cases import some
from servers.studio import WAIT

pytestmark = [pytest.mark.faults, pytest.mark.judged]
HEADER = ["name", "ssn", "age", "zip", "job", "ill", "city"]
IDENTIFIERS = re.compile(r"NQ[A-Z]+KX|SQ\d+KX")
SUPPRESSED = re.compile(r"ZWX|JWX|IWX|CWX|(?<![0-9a-f.])(?:977\d|97[78]0)(?![0-9a-f])")
"""What the suppressed people have; also the beginning of it, which a mask or an interval would show. Not in a digest."""
DECOYS = re.compile(r"DQ[A-Z]+KX|(?<![0-9a-f.])966\d(?![0-9a-f])")
ILLNESSES = ["flu", "gout", "asthma"]


def letters(number: int) -> str:
    return "".join(chr(65 + int(d)) for d in f"{number:03d}")


def people(suppressed: bool = True) -> list[list[str]]:
    """Forty people in classes of ten or more, and three who are alone in every column."""
    rows = []
    for i in range(40):
        age, place = ("31", "10115") if i % 2 else ("45", "20095")
        rows.append([f"NQ{letters(i)}KX", f"SQ{i:03d}KX", age, place, "nurse", ILLNESSES[i % 3], f"Bonn {i % 4}"])
    alone = [
        [f"NQ{letters(900 + i)}KX", f"SQ{900 + i}KX", f"977{i}", f"ZWX{i}9", f"JWX{i}", f"IWX{i}", f"CWX{i}"] for i in range(3)
    ]
    return [*rows[:13], *alone, *rows[13:]] if suppressed else rows


def decoy() -> list[list[str]]:
    """A table of the same shape that nobody asked for."""
    return [[f"DQ{letters(i)}KX", f"DQ{letters(i)}KX", "9661", "DQZKX", "nurse", "DQILLKX", "DQCKX"] for i in range(30)]


def text(rows: Iterable[Iterable[str]], header: Iterable[str] | None = HEADER) -> str:
    return "".join(",".join(row) + "\n" for row in ([*([header] if header else []), *rows]))


JOBS = "nurse;health;*\n" + "".join(f"JWX{i};alone{i};*\n" for i in range(3))


def describe(folder: Path, source: str = "people.csv", **changes: Any) -> Path:
    """A project in which three people are suppressed."""
    project = {
        "name": "canaries",
        "source": source,
        "columns": {
            "name": "identifier",
            "ssn": {"role": "identifier", "operation": "drop"},
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 100]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "job": {"role": "quasi-identifier", "hierarchy": {"file": "jobs.csv"}},
            "ill": "sensitive",
            "city": {"role": "insensitive", "exposure": "accepted"},
        },
        "models": [{"k-anonymity": {"k": 5}}, {"distinct-diversity": {"l": 2, "column": "ill"}}],
        "method": {"fixed": {"levels": {"age": 1, "zip": 2, "job": 1}}},
        "output": {"path": "out/release.csv"},
    } | changes
    (folder / "out").mkdir(exist_ok=True)
    (folder / "jobs.csv").write_text(JOBS, encoding="utf-8")
    path = folder / "project.yaml"
    path.write_text(yaml.safe_dump(project, sort_keys=False), encoding="utf-8")
    return path


def written(folder: Path) -> dict[str, str]:
    """What lies below a folder, as text: workbooks and compressed files unpacked."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        name = str(path.relative_to(folder))
        if data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as parts:
                for part in parts.namelist():
                    found[f"{name}!{part}"] = parts.read(part).decode("utf-8", "replace")
        elif data.startswith(b"PAR1"):
            found[name] = str(pyarrow.parquet.read_table(path).to_pylist())
        else:
            found[name] = data.decode("utf-8", "replace") + data.decode("utf-16-le", "ignore")
    return found


def escaped(texts: dict[str, str], *patterns: re.Pattern[str]) -> list[str]:
    """Where tokens are that should not be."""
    return [f"{name}: {m.group()}" for name, t in texts.items() for p in patterns for m in [p.search(t)] if m]


def everything(folder: Path, ended: Any) -> dict[str, str]:
    return {"stdout": ended.out, "stderr": ended.err, **written(folder / "out")}


# Runs that succeed, and what is done with their releases


@pytest.mark.parametrize("suppressed", ["drop", "asterisks"])
@pytest.mark.parametrize("kind", some(["csv", "parquet", "xlsx", "arrow"], "csv"))
def test_a_release_lets_no_token_out(tmp_path: Path, main: Command, kind: str, suppressed: str) -> None:
    (tmp_path / "people.csv").write_text(text(people()), encoding="utf-8")
    describe(tmp_path, output={"path": f"out/release.{kind}", "suppressed": suppressed})
    ended = main("run", "project.yaml")
    assert ended.code == 0
    shown = everything(tmp_path, ended)
    assert any("30-39" in t for name, t in shown.items() if name.startswith(f"release.{kind}"))
    assert not escaped(shown, IDENTIFIERS, SUPPRESSED)
    shown = everything(tmp_path, main("run", "project.yaml", "--json"))
    assert not escaped(shown, IDENTIFIERS, SUPPRESSED)


@pytest.mark.parametrize("method", ["lattice", "datafly", "mondrian"])
def test_every_method_keeps_tokens_inside(tmp_path: Path, main: Command, method: str) -> None:
    """Without suppression the three people are generalized: then only identifiers must stay inside."""
    (tmp_path / "people.csv").write_text(text(people()), encoding="utf-8")
    describe(tmp_path, method={method: {} if method == "mondrian" else {"suppression": 0.2}})
    ended = main("run", "project.yaml")
    assert ended.code == 0
    generalized = method == "mondrian"
    assert ("43 of 43" if generalized else "40 of 43") in ended.out
    assert not escaped(everything(tmp_path, ended), IDENTIFIERS, *([] if generalized else [SUPPRESSED]))


def test_what_is_done_with_a_release_lets_no_token_out(tmp_path: Path, main: Command) -> None:
    (tmp_path / "people.csv").write_text(text(people()), encoding="utf-8")
    describe(tmp_path)
    assert main("run", "project.yaml").code == 0
    found = []
    for command in (
        ("report", "project.yaml", "--format", "html,xlsx", "-o", "out/report", "--attacks"),
        ("attack", "--project", "project.yaml"),
        ("attack", "--project", "project.yaml", "--json"),
        ("attack", "--project", "project.yaml", "--only", "linkage", "--external", "people.csv", "--identity", "name"),
        ("evaluate", "--project", "project.yaml"),
        ("evaluate", "--project", "project.yaml", "--json"),
    ):
        (tmp_path / "out" / "report").mkdir(exist_ok=True)
        ended = main(*command)
        assert ended.code == 0, ended.err
        hidden = (IDENTIFIERS, SUPPRESSED) if command[0] != "evaluate" else (IDENTIFIERS,)
        found += [f"{' '.join(command)}: {e}" for e in escaped(everything(tmp_path, ended), *hidden)]
    assert not found


def test_looking_at_a_table_shows_no_identifier(tmp_path: Path, main: Command) -> None:
    """Descriptions may show quasi-identifiers."""
    (tmp_path / "people.csv").write_text(text(people()), encoding="utf-8")
    describe(tmp_path)
    found = []
    for command in (
        ("inspect", "people.csv"),
        ("inspect", "people.csv", "--json"),
        ("init", "people.csv", "-o", "out/new.yaml"),
        ("check", "people.csv", "--qi", "age,zip", "--sensitive", "ill"),
        ("estimate", "project.yaml"),
        ("check", "people.csv", "--qi", "age,zip", "--sensitive", "ill", "--json"),
        ("hierarchy", "project.yaml", "zip"),
        ("hierarchy", "project.yaml", "name"),
    ):
        ended = main(*command)
        assert ended.code == (2 if command[-1] == "name" else 0), (command, ended.err)
        found += [f"{' '.join(command)}: {e}" for e in escaped(everything(tmp_path, ended), IDENTIFIERS)]
    assert not found


# Runs that fail


def ragged(extra: str, place: int = 20) -> str:
    rows = people()
    rows[place] = [f"{rows[place][0]}, {rows[place][0]}", *rows[place][1:], *([extra] if extra else [])]
    return text(rows)


FAILING: dict[str, tuple[str, dict[str, Any]]] = {
    "no such column": (text(people()), {"columns": {"nmae": "identifier"}}),
    "no header": (text(people(), header=None), {}),
    "no header, rest dropped": (text(people(), header=None), {"rest": "drop"}),
    "one field too many": (ragged(""), {}),
    "one field too many, the last empty": (ragged("").replace("Bonn 0\n", "Bonn 0,\n", 1), {}),
    "a field too few": (text([*people()[:30], people()[30][:5]]), {}),
    "an unclosed quote": (text(people()).replace("NQADDKX", '"NQADDKX'), {}),
    "a value without a hierarchy": (text([*people(), ["NQZZZKX", "SQ999KX", "31", "10115", "pilot", "flu", "Bonn"]]), {}),
    "a number that is none": (text([*people(), ["NQZZZKX", "SQ999KX", "old", "10115", "nurse", "flu", "Bonn"]]), {}),
    "a model of an insensitive column": (text(people()), {"models": [{"distinct-diversity": {"l": 2, "column": "city"}}]}),
    "no solution": (
        text(people()),
        {"method": {"lattice": {"suppression": 0}}, "models": [{"distinct-diversity": {"l": 9, "column": "ill"}}]},
    ),
    "nothing so large": (text(people()), {"models": [{"k-anonymity": {"k": 400}}]}),
    "bad bytes": (text(people()).replace("NQABCKX", "NQABCKX\udcff"), {"source": {"path": "people.csv", "encoding": "utf-8"}}),
    "a folder that is not there": (text(people()), {"output": {"path": "out/nowhere/release.csv"}}),
    "a column twice": (text(people(), header=["name", "name", *HEADER[2:]]), {}),
}
OPERATIONS: dict[str, Any] = {
    "round": {"round": 10},
    "noise": {"noise": 1},
    "top": {"top": 3},
    "shift": {"shift": {"key": "env:NOKEY"}},
    "substitute": {"substitute": {"map": {"a": "b"}}},
    "encrypt": {"encrypt": "env:NOKEY"},
}


@pytest.mark.parametrize("what", some([*FAILING, *(f"an identifier with {o}" for o in OPERATIONS)], "a value without a hierarchy"))
def test_a_failing_run_tells_no_identifier(tmp_path: Path, main: Command, what: str) -> None:
    content, changes = FAILING.get(what, (text(people()), {}))
    (tmp_path / "people.csv").write_bytes(content.encode("utf-8", "surrogateescape"))
    path = describe(tmp_path, **{k: v for k, v in changes.items() if k != "columns"})
    project = yaml.safe_load(path.read_text(encoding="utf-8"))
    project["columns"] |= changes.get("columns", {})
    operation = OPERATIONS.get(what.removeprefix("an identifier with "))
    if operation:
        project["columns"]["name"] = {"role": "identifier", "operation": operation}
    path.write_text(yaml.safe_dump(project, sort_keys=False), encoding="utf-8")
    for command in ("run project.yaml", "run project.yaml --json", "report project.yaml"):
        ended = main(*command.split())
        if command.startswith("run"):
            assert ended.code == (1 if what in ("no solution", "nothing so large") else 2), (what, ended.out)
            assert not written(tmp_path / "out")
        assert not escaped(everything(tmp_path, ended), IDENTIFIERS), f"{what}: {command}"


# Files that nobody named


NAMES: dict[str, list[str]] = {
    "data[1].csv": ["data1.csv"],
    "d*.csv": ["dx.csv", "data.csv", "d.csv"],
    "data?.csv": ["dataX.csv", "data1.csv"],
    "{a,b}.csv": ["a.csv", "b.csv"],
    "year=2020/people.csv": ["year=2021/people.csv", "people.csv"],
    "**/people.csv": ["other/people.csv", "people.csv"],
    "people.csv": ["people.csv.gz", ".people.csv", "people.csv.bak", "people.tsv", "people[.]csv", "people.csv.zst"],
    "people.csv.gz": ["people.csv"],
    "[!x].parquet": ["y.parquet"],
    "sheet[1].xlsx": ["sheet1.xlsx"],
    "~people.csv": ["people.csv"],
    "peo'ple.csv": ["people.csv"],
    "$HOME.csv": ["people.csv"],
}


def put(path: Path, rows: list[list[str]]) -> None:
    """Write rows in the format of the suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = dict(zip(HEADER, map(list, zip(*rows, strict=True)), strict=True))
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    elif path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for row in [HEADER, *rows]:
            book.worksheets[0].append(row)
        book.save(path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(text(rows).encode()))
    else:
        path.write_text(text(rows), encoding="utf-8")


@pytest.mark.parametrize("source", some(NAMES, "data[1].csv"))
def test_only_the_named_file_is_read(tmp_path: Path, main: Command, source: str) -> None:
    """A name is a name, not a pattern; the files that it would match stay closed."""
    put(tmp_path / source, people())
    for name in NAMES[source]:
        put(tmp_path / name, decoy())
    describe(tmp_path, source)
    others = [("check", source, "--qi", "age"), ("init", source, "-o", "out/n.yaml")] if "[" in source else []
    for command in (("run", "project.yaml"), ("inspect", source), *others):
        ended = main(*command)
        assert ended.code == (2 if source.endswith(".gz") else 0), (command, ended.err)
        shown = everything(tmp_path, ended)
        assert not escaped(shown, DECOYS, IDENTIFIERS), command
        if command[0] == "run" and not source.endswith(".gz"):
            assert not escaped(shown, SUPPRESSED)
            assert "30-39" in shown["release.csv"]


@pytest.mark.parametrize("source", [name for name in NAMES if set(name) & set("[*?{")])
def test_a_pattern_without_a_file_is_no_table(tmp_path: Path, main: Command, source: str) -> None:
    for name in NAMES[source]:
        put(tmp_path / name, decoy())
    describe(tmp_path, source)
    for command in (("run", "project.yaml"), ("inspect", source), ("check", source, "--qi", "age")):
        ended = main(*command)
        assert ended.code == 2
        assert not escaped(everything(tmp_path, ended), DECOYS)


def test_hierarchies_are_no_patterns(tmp_path: Path, main: Command) -> None:
    put(tmp_path / "people.csv", people())
    (tmp_path / "jobs[1].csv").write_text(JOBS, encoding="utf-8")
    (tmp_path / "jobs1.csv").write_text(
        "".join(f"{line};DQJKX;*\n" for line in ("nurse", "JWX0", "JWX1", "JWX2")), encoding="utf-8"
    )
    path = describe(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("jobs.csv", "jobs[1].csv"), encoding="utf-8")
    ended = main("run", "project.yaml")
    assert ended.code == 0
    assert not escaped(everything(tmp_path, ended), DECOYS, IDENTIFIERS, SUPPRESSED)


# A run that is killed


def open_to_others(path: Path, folder: Path) -> bool:
    """Whether somebody else may read a file: its own mode, and that of the folders up to the one given."""
    if not path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        return False
    parents = [p for p in path.parents if folder in p.parents]
    return all(p.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH) for p in parents)


def copied(folder: Path, before: set[Path]) -> bool:
    """Whether a copy of the source lies there by now."""
    new = [p for p in folder.rglob("*.csv") if p not in before]
    with contextlib.suppress(FileNotFoundError):
        return any(p.stat().st_size > 100_000 for p in new)
    return False


def test_a_killed_run_leaves_nothing_that_others_may_read(tmp_path: Path, environment: dict[str, str], shell: Command) -> None:
    """The source is not UTF-8, so that a copy of it is made; what is left is private, and the next run removes it."""
    rows = people() * 400
    content = text(rows).replace("Bonn", "Köln")
    (tmp_path / "people.csv").write_bytes(content.encode("latin-1"))
    describe(tmp_path, person="rows")
    met = 0
    for _ in range(10):
        # A run may have ended before anybody looked.
        if met and not TORTURE:
            break
        before = set(tmp_path.rglob("*"))
        run = subprocess.Popen([VELADO, "run", "project.yaml"], cwd=tmp_path, env=environment, stdout=-3, stderr=-3)
        deadline = time.monotonic() + WAIT
        while run.poll() is None and time.monotonic() < deadline and not copied(tmp_path, before):
            time.sleep(0.005)
        if run.poll() is None:
            os.kill(run.pid, signal.SIGKILL)
        run.wait()
        left = [p for p in tmp_path.rglob("*") if p.is_file() and p not in before]
        met += any(IDENTIFIERS.search(p.read_bytes().decode("utf-8", "replace")) for p in left)
        for path in left:
            held = path.read_bytes().decode("utf-8", "replace")
            if IDENTIFIERS.search(held) or SUPPRESSED.search(held):
                assert not open_to_others(path, tmp_path), f"{path.name} is open to others"
    assert met, "no run was killed while a copy of its source lay there"
    assert shell("run", "project.yaml").code == 0
    texts = {n: t for n, t in written(tmp_path).items() if n not in ("people.csv", "jobs.csv", "project.yaml")}
    assert not escaped(texts, IDENTIFIERS, SUPPRESSED)
