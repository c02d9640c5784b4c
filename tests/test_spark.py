"""Spark: project files, folders, tables, DataFrames and Connect, as users meet them; and what happens when things break."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import velado
from conftest import Command
from engines.engines import rows_of
from servers import spark
from servers.studio import until
from velado import Cancelled, InputError, KAnonymity, Progress
from velado.questions import list_tables
from velado.samples import hospital
from velado.tables import Session, Source, open_table
from velado.tables.address import Cluster
from velado.tables.spark.stage import MANIFEST

pytestmark = [pytest.mark.spark, pytest.mark.skipif(spark.reason() is not None, reason=str(spark.reason()))]

COLUMNS: dict[str, Any] = {
    "birth_date": {"role": "quasi-identifier", "hierarchy": {"dates": ["year", "decade"]}},
    "sex": "quasi-identifier",
    "postal_code": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "diagnosis": "sensitive",
}
PROJECT: dict[str, Any] = {
    "columns": COLUMNS,
    "models": [{"k-anonymity": {"k": 5}}],
    "method": {"lattice": {"suppression": 0.05}},
    "rest": "drop",
}


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    return hospital(600)


@pytest.fixture(scope="module")
def here(patients: pa.Table) -> Any:
    """The release that one machine makes."""
    return velado.run({**PROJECT, "source": patients})


@pytest.fixture
def files(patients: pa.Table, tmp_path: Path) -> Path:
    """The patients in two files of a folder."""
    folder = tmp_path / "in.parquet"
    folder.mkdir()
    pq.write_table(patients.slice(0, 250), folder / "a.parquet")
    pq.write_table(patients.slice(250), folder / "b.parquet")
    return folder


def released(folder: Path) -> Counter[Any]:
    """What stands in a folder of Parquet files, read without Spark."""
    return Counter(rows_of(pq.ParquetDataset(folder).read()))


def session() -> Any:
    return spark.session()


def at(path: Path, **more: Any) -> dict[str, Any]:
    session()
    return {"spark": "session", "path": str(path), **more}


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if not p.name.endswith(".crc"))


def refused(code: str, work: Callable[[], Any]) -> InputError:
    with pytest.raises(InputError) as caught:
        work()
    assert caught.value.code == code, caught.value
    assert caught.value.hint
    return caught.value


# Folders


def test_a_folder_becomes_a_folder(files: Path, here: Any, tmp_path: Path) -> None:
    out, shares = tmp_path / "out.parquet", list[float]()
    tell = Progress(lambda step: shares.append(step.share))
    release = velado.run({**PROJECT, "source": at(files), "output": at(out)}, tell)
    assert shares == sorted(shares)
    assert shares[-1] <= 1.0
    assert released(out) == Counter(rows_of(here.table))
    assert release.levels == here.levels
    assert release.evaluation.as_dict() == here.evaluation.as_dict()
    manifest = json.loads((out / MANIFEST).read_text())
    assert manifest["evaluation"]["classes"] == here.evaluation.classes
    assert str(release.output) == f"file://{out}"
    assert names(tmp_path) == ["in.parquet", "out.parquet"]


def test_partitions_formats_and_replacement(files: Path, here: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    project = {**PROJECT, "source": at(files)}
    velado.run({**project, "output": at(out, partition=["sex"])})
    assert any(p.name.startswith("sex=") for p in out.iterdir())
    found = session().read.parquet(out.as_uri()).select(*here.table.column_names).toArrow()
    assert Counter(rows_of(found)) == Counter(rows_of(here.table))
    refused("output-exists", lambda: velado.run({**project, "output": at(out)}))
    velado.run({**project, "output": at(out, format="orc", if_exists="replace")})
    found = session().read.orc(out.as_uri()).toArrow()
    assert Counter(rows_of(found)) == Counter(rows_of(here.table))
    assert names(tmp_path) == ["in.parquet", "out"]
    refused("unknown-column", lambda: velado.run({**project, "output": at(tmp_path / "no", partition=["name"])}))
    assert names(tmp_path) == ["in.parquet", "out"]


def test_text_tables_are_guarded_and_read_back(tmp_path: Path) -> None:
    table = pa.table({"age": ["31", "31", "31", "31"], "note": ["=1+1", 'say "hi"\nthere', "a,b", None]})
    source = tmp_path / "in.csv"
    with open(source, "w", newline="", encoding="utf-8") as out:
        import csv

        csv.writer(out).writerows([table.column_names, *zip(*table.to_pydict().values(), strict=True)])
    columns = {"age": "quasi-identifier", "note": {"role": "sensitive", "exposure": "accepted"}}
    project = {"columns": columns, "models": [{"k-anonymity": {"k": 4}}], "source": at(source)}
    velado.run({**project, "output": at(tmp_path / "out.csv")})
    read = session().read.csv((tmp_path / "out.csv").as_uri(), header=True, multiLine=True, escape='"').collect()
    assert sorted(str(row["note"]) for row in read) == sorted(["'=1+1", 'say "hi"\nthere', "a,b", "None"])


def test_a_text_table_with_a_broken_line_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("age,sex\n31,f\n32\n33,m\n")
    refused("unreadable-file", lambda: velado.check(Source.of(at(source)), ["age", "sex"]))


def test_what_is_read_is_not_replaced(files: Path, tmp_path: Path) -> None:
    refused("output-is-input", lambda: velado.run({**PROJECT, "source": at(files), "output": at(files, if_exists="replace")}))
    pq.read_table(files)


def test_a_source_that_changes_is_noticed(files: Path, patients: pa.Table, tmp_path: Path) -> None:
    def change(step: Any) -> None:
        if step.stage == "search":
            pq.write_table(patients.slice(0, 100), files / "a.parquet")

    out = tmp_path / "out.parquet"
    with pytest.raises(InputError) as caught:
        velado.run({**PROJECT, "source": at(files), "output": at(out)}, Progress(change))
    assert caught.value.code in ("source-changed", "unreadable-file", "engine-error")
    assert names(tmp_path) == ["in.parquet"]


def test_places_that_cannot_be_written(files: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    refused("no-right", lambda: velado.run({**PROJECT, "source": at(files), "output": at(tmp_path / "file" / "out")}))
    refused("missing-file", lambda: velado.run({**PROJECT, "source": at(tmp_path / "nothing.parquet")}))
    refused("unknown-table", lambda: velado.check("session#nothing.people", ["age"]))


# Tables


def test_tables_queries_views_and_listings(patients: pa.Table, here: Any) -> None:
    s = session()
    s.sql("CREATE DATABASE IF NOT EXISTS clinic")
    s.createDataFrame(patients).write.mode("overwrite").saveAsTable("clinic.people")
    s.sql("CREATE OR REPLACE VIEW clinic.everybody AS SELECT * FROM clinic.people")
    expected = Counter(rows_of(here.table))
    everybody = {"spark": "session", "table": "clinic.everybody"}
    for source, more in (({"spark": "session", "query": "SELECT * FROM clinic.people"}, {}), (everybody, {"if_exists": "replace"})):
        output = {"spark": "session", "table": "clinic.released", **more}
        release = velado.run({**PROJECT, "source": source, "output": output})
        assert Counter(rows_of(s.table("clinic.released").toArrow())) == expected
        (manifest,) = s.table("clinic.released_manifest").collect()
        assert json.loads(manifest[0])["evaluation"]["classes"] == here.evaluation.classes
        assert release.manifest_path == "session#clinic.released_manifest"
    found = {f"{t.schema}.{t.name}" for t in list_tables("session").tables}
    assert {"clinic.people", "clinic.everybody", "clinic.released", "clinic.released_manifest"} <= found
    assert not any("velado_side" in name or "velado_old" in name for name in found)
    project = {**PROJECT, "source": everybody}
    # Also below a view.
    refused(
        "output-is-input",
        lambda: velado.run({**project, "output": {"spark": "session", "table": "clinic.people", "if_exists": "replace"}}),
    )
    refused("output-exists", lambda: velado.run({**project, "output": {"spark": "session", "table": "clinic.released"}}))
    # The catalog in memory forgets partitions when a table is renamed: then nothing is published, and the old one stays.
    parted = {"spark": "session", "table": "clinic.released", "if_exists": "replace", "partition": ["sex"]}
    people = {**PROJECT, "source": {"spark": "session", "table": "clinic.people"}}
    refused("engine-cannot", lambda: velado.run({**people, "output": parted}))
    assert Counter(rows_of(s.table("clinic.released").toArrow())) == expected
    s.sql("DROP DATABASE clinic CASCADE")


# DataFrames


def test_a_dataframe_comes_back_as_one(patients: pa.Table, here: Any) -> None:
    frame = session().createDataFrame(patients)
    before = {key: session().conf.get(key) for key in ("spark.sql.session.timeZone", "spark.sql.ansi.enabled")}
    session().conf.set("spark.sql.session.timeZone", "America/Lima")
    release = velado.anonymize(frame, COLUMNS, [KAnonymity(5)], {"lattice": {"suppression": 0.05}}, rest="drop")
    assert session().conf.get("spark.sql.session.timeZone") == "America/Lima"
    session().conf.set("spark.sql.session.timeZone", before["spark.sql.session.timeZone"])
    assert Counter(rows_of(release.table.toArrow())) == Counter(rows_of(here.table))
    assert not [t for t in session().catalog.listTables() if t.name.startswith("velado")]
    applied = release.recoding.apply(frame.limit(50))
    assert applied.table.count() == applied.kept
    assert applied.kept + applied.suppressed == 50
    new = patients.slice(0, 3).set_column(patients.column_names.index("sex"), "sex", pa.array(["female", "unheard of", "male"]))
    assert release.recoding.apply(session().createDataFrame(new)).unseen == {"sex": ["unheard of"]}


def test_arriving_rows_are_judged_with_the_old_ones(patients: pa.Table, tmp_path: Path) -> None:
    s = session()
    old, new = patients.slice(0, 400), patients.slice(400)
    project = {**PROJECT, "method": {"lattice": {"suppression": 1.0}}}
    recoding = tmp_path / "recoding.json"
    release = velado.run(
        {**project, "source": s.createDataFrame(old), "output": at(tmp_path / "old.parquet", recoding=str(recoding))}
    )
    assert release.evaluation.rows == 400
    options: dict[str, Any] = {"unseen": "suppress", "suppression": 1.0, "project": {**project, "source": "x.csv"}}
    there = velado.apply(
        recoding,
        s.createDataFrame(new),
        release=Source.of(at(tmp_path / "old.parquet")),
        output=at(tmp_path / "new.parquet"),
        **options,
    )
    pq.write_table(pq.ParquetDataset(tmp_path / "old.parquet").read(), tmp_path / "old-here.parquet")
    same = velado.apply(recoding, new, release=tmp_path / "old-here.parquet", output=tmp_path / "new-here.parquet", **options)
    assert released(tmp_path / "new.parquet") == Counter(rows_of(pq.read_table(tmp_path / "new-here.parquet")))
    assert there.released == same.released > 0


# Methods and sizes


def test_the_driver_says_what_does_not_fit(patients: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = session().createDataFrame(patients)
    project = {**PROJECT, "source": frame, "output": {"spark": "session"}}
    assert velado.estimate(project).how == "in memory"
    monkeypatch.setattr("velado.release.memory.free_memory", lambda: 20_000)
    assert "does not fit" in velado.estimate(project).how
    error = refused("engine-cannot", lambda: velado.run(project))
    assert "distinct rows would fit" in str(error)
    mondrian = {**project, "method": "mondrian"}
    assert velado.estimate(mondrian).how == "in parts, on the cluster"
    numbers = {"birth_date": "quasi-identifier", "sex": "quasi-identifier", "postal_code": "quasi-identifier"}
    release = velado.run({**mondrian, "columns": numbers})
    assert release.search.objective == "greedy cuts, in parts"
    whole = velado.run({**PROJECT, "columns": numbers, "method": "mondrian", "source": patients})
    assert Counter(rows_of(release.table.toArrow())) == Counter(rows_of(whole.table))
    keep = {**project, "output": {"spark": "session", "order": "keep"}}
    refused("engine-cannot", lambda: velado.run(keep))


# Commands


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("velado"), *words],
        cwd=folder,
        env=spark.environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )


def project_file(folder: Path, files: Path, **more: Any) -> Path:
    project = {
        **PROJECT,
        "source": {"spark": "local[2]", "path": files.name},
        "output": {"spark": "local[2]", "path": "out.parquet"},
        **more,
    }
    (folder / "project.json").write_text(json.dumps(project))
    return folder / "project.json"


def test_the_command_line(files: Path, here: Any, tmp_path: Path, main: Command) -> None:
    """A command of its own begins a session; those that follow here find one, which spares starts of Java."""
    project_file(tmp_path, files)
    ended = run(tmp_path, "run", "project.json", "--json")
    assert ended.returncode == 0, ended.stderr[-2000:]
    said = json.loads(ended.stdout)
    assert said["released"] == here.evaluation.released
    assert said["levels"] == here.levels
    assert released(tmp_path / "out.parquet") == Counter(rows_of(here.table))
    session()
    again = main("run", "project.json", "--language", "es")
    assert again.code == 2
    assert "ya" in again.err
    checked = main("check", "local[2]#./in.parquet", "--qi", "sex,postal_code", "--json")
    assert checked.code == 0, checked.err
    alike = Counter(rows_of(pq.ParquetDataset(files).read(), ["sex", "postal_code"]))
    assert checked.json["k"] == min(alike.values())


def test_an_address_without_a_server_and_one_with_a_password(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Source.of({"spark": "connect://host:15002/;token=abc", "table": "people"})
    assert caught.value.code == "password-in-clear"
    assert "abc" not in str(caught.value)
    refused("bad-address", lambda: Source.of({"spark": "https://somewhere", "table": "people"}))
    ended = run(tmp_path, "check", "connect://127.0.0.1:1#people", "--qi", "age")
    assert ended.returncode == 2
    assert "no server" in ended.stderr


# When things break


def executors() -> list[int]:
    """Processes of executors of this session."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                said = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in said and str(spark.folder()).encode() in _environment(process):
                found.append(int(process.name))
    return found


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("stage", ["count", "write", "verify"])
def test_an_executor_is_killed(stage: str, files: Path, here: Any, tmp_path: Path) -> None:
    """Spark does the work again; if it cannot, nothing is published."""
    if "local-cluster" not in spark.MASTER:
        pytest.skip("there are no executors of their own")
    out, killed = tmp_path / "out.parquet", []
    session()

    def kill(step: Any) -> None:
        if step.stage == stage and not killed:
            killed.extend(executors()[:1])
            for process in killed:
                os.kill(process, signal.SIGKILL)

    code = ""
    try:
        velado.run({**PROJECT, "source": at(files), "output": at(out)}, Progress(kill))
    except InputError as error:
        code = error.code
    if code:
        assert code in ("connection-lost", "source-changed", "engine-error")
        assert names(tmp_path) == ["in.parquet"]
    else:
        assert released(out) == Counter(rows_of(here.table))
        assert names(tmp_path) == ["in.parquet", "out.parquet"]
    assert killed, "no executor was found"


DRIVER = """
import os, signal, sys, velado
from velado import Progress
def kill(step):
    if step.stage == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
velado.run(sys.argv[1], Progress(kill))
"""


@pytest.mark.parametrize("stage", ["verify", "publish"])
def test_the_driver_is_killed(stage: str, files: Path, tmp_path: Path) -> None:
    project = project_file(tmp_path, files)
    ended = subprocess.run(
        [sys.executable, "-c", DRIVER, str(project), stage], env=spark.environment(), capture_output=True, timeout=300, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    # The Java machine of the driver ends without its Python, and takes its folders with it.
    until(lambda: names(tmp_path) == ["in.parquet", "project.json"], 120)


@pytest.mark.parametrize("stage", ["count", "write", "verify"])
def test_a_cancelled_run_leaves_nothing(stage: str, files: Path, tmp_path: Path) -> None:
    def cancel(step: Any) -> None:
        if step.stage == stage:
            progress.cancel()

    progress = Progress(cancel)
    with pytest.raises(Cancelled):
        velado.run({**PROJECT, "source": at(files), "output": at(tmp_path / "out.parquet")}, progress)
    assert names(tmp_path) == ["in.parquet"]


def test_a_full_disk_and_a_lack_of_rights_in_our_words() -> None:
    from velado.tables.spark.errors import translate_error

    told = {
        "Job aborted: java.io.IOException: No space left on device": "disk-full",
        "org.apache.hadoop.security.AccessControlException: Permission denied: user=ana": "no-right",
        "Job aborted due to stage failure: ExecutorLostFailure (executor 3 exited)": "connection-lost",
        "java.lang.OutOfMemoryError: Java heap space": "out-of-memory",
        "value 'Ana Lima' is malformed": "engine-error",
    }
    for said, code in told.items():
        error = translate_error(RuntimeError(said), "people")
        assert getattr(error, "code", "") == code
        assert "Ana" not in str(error)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk on which a release does not fit."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_disk_that_is_full(files: Path, small_disk: Path) -> None:
    (small_disk / "other").write_text("x" * 4096)
    refused("disk-full", lambda: velado.run({**PROJECT, "source": at(files), "output": at(small_disk / "out")}))
    assert names(small_disk) == ["other"]


def test_a_disk_that_may_not_be_written(files: Path, small_disk: Path) -> None:
    """As root a folder without rights can be written, a disk that is only to be read cannot."""
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    refused("no-right", lambda: velado.run({**PROJECT, "source": at(files), "output": at(small_disk / "out")}))
    assert names(small_disk) == []


def test_a_side_folder_of_long_ago_is_swept_and_a_broken_replacement_is_undone(files: Path, here: Any, tmp_path: Path) -> None:
    left, young = tmp_path / ".velado-side-old", tmp_path / ".velado-side-young"
    for folder in (left, young):
        folder.mkdir()
    os.utime(left, (0, 0))
    # A driver died between two renames: the release of before has the other name.
    before = tmp_path / ".velado-old-out.parquet"
    before.mkdir()
    pq.write_table(pa.table({"a": [1]}), before / "x.parquet")
    refused("output-exists", lambda: velado.run({**PROJECT, "source": at(files), "output": at(tmp_path / "out.parquet")}))
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 1
    velado.run({**PROJECT, "source": at(files), "output": at(tmp_path / "out.parquet", if_exists="replace")})
    assert released(tmp_path / "out.parquet") == Counter(rows_of(here.table))
    assert names(tmp_path) == [".velado-side-young", "in.parquet", "out.parquet"]


# Connect


CONNECT = """
import json, sys
from pyspark.sql import SparkSession
import velado
from velado.samples import hospital
from velado import Cancelled, InputError, Progress
spark = SparkSession.builder.remote("local[2]").getOrCreate()
people = hospital(600)
frame = spark.createDataFrame(people)
frame.write.mode("overwrite").saveAsTable("people")
project = json.loads(sys.argv[1])
release = velado.run({**project, "source": {"spark": "session", "table": "people"}, "output": {"spark": "session", "table": "people_out"}})
columns = project["columns"]
other = velado.anonymize(frame, columns, project["models"], project["method"], rest="drop")
rows = sorted(map(str, map(tuple, spark.table("people_out").collect())))
assert rows == sorted(map(str, map(tuple, other.table.collect())))
def stop(step):
    if step.stage == "count":
        progress.cancel()
progress = Progress(stop)
codes = []
try:
    velado.run({**project, "source": {"spark": "session", "table": "people"}, "output": {"spark": "session", "table": "no"}}, progress)
except Cancelled:
    codes.append("cancelled")
try:
    velado.run({**project, "source": {"spark": "session", "table": "people"}, "output": {"spark": "session", "path": sys.argv[2]}})
except InputError as error:
    codes.append(error.code)
tables = sorted(t.name for t in spark.catalog.listTables())
print(json.dumps({"rows": rows, "levels": release.levels, "codes": codes, "tables": tables}))
spark.stop()
"""


def test_spark_connect(here: Any, tmp_path: Path) -> None:
    pytest.importorskip("grpc")
    ended = subprocess.run(
        [sys.executable, "-c", CONNECT, json.dumps(PROJECT), str(tmp_path / "out")],
        cwd=tmp_path,
        env=spark.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    said = json.loads(ended.stdout.strip().splitlines()[-1])
    assert len(said["rows"]) == here.table.num_rows
    assert Counter(said["rows"]) == Counter(str(tuple(row)) for row in zip(*here.table.to_pydict().values(), strict=True))
    assert said["levels"] == here.levels
    assert said["codes"] == ["cancelled", "engine-cannot"]
    assert said["tables"] == ["people", "people_out", "people_out_manifest"]


# Small things


@pytest.fixture
def opened(patients: pa.Table) -> Iterator[Any]:
    with open_table(session().createDataFrame(patients), session=Session()) as table:
        yield table


def test_counts_in_lots_are_counts(opened: Any) -> None:
    whole = opened.count(["sex", "diagnosis"])
    lots = [opened.count(["sex", "diagnosis"], (i, 3), ["sex"]) for i in range(3)]
    assert sum(int(c.counts.sum()) for c in lots) == int(whole.counts.sum()) == 600
    assert sum(len(c.counts) for c in lots) == len(whole.counts)


def test_names_of_clusters() -> None:
    for text in ("local", "local[*]", "local-cluster[2,1,1024]", "yarn", "spark://a:7077", "k8s://https://a:443", "session"):
        assert Cluster.parse(text).name == text
    assert Cluster.parse("connect://a:15002").master == "sc://a:15002"
    assert velado.Project.of(
        {
            **PROJECT,
            "source": {"spark": "yarn", "table": "a.b"},
            "output": {"spark": "yarn", "path": "hdfs://n/out", "partition": "sex"},
        }
    ).as_dict()["output"] == {"spark": "yarn", "path": "hdfs://n/out", "partition": ["sex"]}
