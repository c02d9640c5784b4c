"""Stages: what is written is seen by nobody before it is published, and then all of it at one moment."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from engines.engines import AS_IT_IS, EngineUnderTest, needs, per_file_engine, per_place, rows_of, translation
from velado import InputError
from velado.tables import Capability, Evidence, Plan, Published, Selection, Session, Sink, Stage, Table

EVIDENCE = Evidence('{"public": 1}', '{"private": 1}', '{"recoding": 1}')
OLD = b"the old release\n"


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def table(engine: EngineUnderTest, people: pa.Table, tmp_path: Path):
    """The people, opened; temporary files are not beside the output."""
    with engine.open(people, "memory", tmp_path) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


# --- Publish


@per_place("sinks", files=True)
def test_written_read_back_published(engine: EngineUnderTest, kind: str, table: Table, people: pa.Table, folder: Path) -> None:
    sink = engine.sink(kind, folder, order="keep", guard=False)
    with engine.stage([sink]) as stage:
        (slot,) = stage.slots
        assert slot.sink == sink
        table.write(AS_IT_IS, slot)
        assert not sink.files or not sink.files["release"].exists(), "nothing is there before it is published"
        with stage.read_back(slot, 100_000_000) as back:
            assert rows_of(back.page(0, 999)) == rows_of(people)
            assert back.memory == 100_000_000
        digest = slot.digest()
        (published,) = stage.publish()
    if sink.path is None:
        assert rows_of(published.table) == rows_of(people)
        assert files(folder) == {}
        return
    assert published == Published(path=sink.path)
    assert list(files(folder)) == [sink.path.name]
    with engine.engine.open(sink.source(), Session()) as again:
        assert again.fingerprint() == digest
        assert rows_of(again.page(0, 999)) == rows_of(people)


@per_file_engine
def test_evidence_is_published_beside_it(engine: EngineUnderTest, table: Table, folder: Path) -> None:
    sink = engine.sink("csv", folder, evidence=True, recoding=folder / "recoding.json")
    with engine.stage([sink]) as stage:
        table.write(AS_IT_IS, stage.slots[0])
        (published,) = stage.publish([EVIDENCE])
    assert published.path == sink.path
    assert (published.manifest, published.private_manifest) == (sink.manifest, sink.private_manifest)
    found = files(folder)
    assert {k: v.decode() for k, v in found.items() if k != "out.csv"} == {
        "out.csv.manifest.json": EVIDENCE.manifest,
        "out.csv.private.json": EVIDENCE.private_manifest,
        "recoding.json": EVIDENCE.recoding,
    }
    assert mode(folder / "out.csv.private.json") == mode(folder / "recoding.json") == 0o600
    assert mode(folder / "out.csv") == mode(folder / "out.csv.manifest.json") == 0o666 & ~umask()


def umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found


@per_file_engine
def test_private_files_are_for_their_owner(engine: EngineUnderTest, table: Table, folder: Path) -> None:
    sink = engine.sink("csv", folder, private=True)
    assert sink.path is not None
    with engine.stage([sink]) as stage:
        table.write(AS_IT_IS, stage.slots[0])
        for place in folder.rglob("*"):
            assert mode(place) == (0o700 if place.is_dir() else 0o600), "also while nobody should know of it"
        stage.publish()
    assert mode(sink.path) == 0o600


@per_file_engine
def test_a_replaced_file_keeps_its_mode(engine: EngineUnderTest, table: Table, folder: Path) -> None:
    sink = engine.sink("csv", folder)
    assert sink.path is not None
    sink.path.write_bytes(OLD)
    sink.path.chmod(0o640)
    with engine.stage([sink]) as stage:
        table.write(AS_IT_IS, stage.slots[0])
        stage.publish()
    assert mode(sink.path) == 0o640
    assert sink.path.read_bytes() != OLD


# --- Discard


def leave(stage: Stage) -> None:
    """Leaving without publishing."""


def fail(stage: Stage) -> None:
    raise ZeroDivisionError


def interrupt(stage: Stage) -> None:
    raise KeyboardInterrupt


def discard(stage: Stage) -> None:
    stage.discard()


@per_place("sinks", files=True)
@pytest.mark.parametrize(("end", "old"), [(leave, False), (fail, True), (interrupt, True), (discard, True)])
def test_without_publish_nothing_is_there(engine: EngineUnderTest, kind: str, table: Table, folder: Path, end, old: bool) -> None:
    sink = engine.sink(kind, folder, evidence=True)
    if old and sink.path is not None:
        sink.path.write_bytes(OLD)
    before = files(folder)
    try:
        with engine.stage([sink]) as stage:
            table.write(AS_IT_IS, stage.slots[0])
            end(stage)
    except (ZeroDivisionError, KeyboardInterrupt):
        pass
    assert files(folder) == before
    assert list(folder.glob(".velado-*")) == []


@per_file_engine
def test_an_error_of_the_disk_is_one_of_the_output(engine: EngineUnderTest, table: Table, folder: Path) -> None:
    sink = engine.sink("csv", folder)
    with pytest.raises(InputError) as caught, engine.stage([sink]):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.code == "disk-full"
    assert files(folder) == {}


@per_file_engine
def test_a_folder_that_is_not_there(engine: EngineUnderTest, folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        engine.stage([engine.sink("csv", folder / "nowhere")])
    assert caught.value.code == "unwritable-output"


# --- Several tables


def several(engine: EngineUnderTest, folder: Path) -> list[Sink]:
    (folder / "other").mkdir(exist_ok=True)
    return [engine.sink("csv", folder, name="a", evidence=True), engine.sink("parquet", folder / "other", name="b", evidence=True)]


@per_file_engine
def test_several_tables_are_published_together(engine: EngineUnderTest, table: Table, folder: Path) -> None:
    sinks = several(engine, folder)
    if not needs(engine, Capability.ATOMIC_MANY, lambda: engine.stage(sinks)):
        return
    with engine.stage(sinks) as stage:
        assert [slot.sink for slot in stage.slots] == sinks
        for slot in stage.slots:
            table.write(AS_IT_IS, slot)
        published = stage.publish([EVIDENCE, EVIDENCE])
    assert [p.path for p in published] == [s.path for s in sinks]
    suffixes = ("", ".manifest.json", ".private.json")
    assert set(files(folder)) == {name + s for name in ("a.csv", "other/b.parquet") for s in suffixes}


@per_file_engine
@pytest.mark.parametrize("broken", [0, 1])
def test_all_or_nothing(engine: EngineUnderTest, table: Table, folder: Path, broken: int) -> None:
    """One of several tables is gone when they are published: the old ones stay, all of them."""
    if Capability.ATOMIC_MANY not in engine.capabilities:
        return
    sinks = several(engine, folder)
    for sink in sinks:
        assert sink.path is not None
        sink.path.write_bytes(OLD)
    before = files(folder)
    with engine.stage(sinks) as stage:
        for slot in stage.slots:
            table.write(AS_IT_IS, slot)
        lost = stage.slots[broken].path
        assert lost is not None
        lost.unlink()
        with pytest.raises(OSError, match="No such file"):
            stage.publish([EVIDENCE, EVIDENCE])
    assert files(folder) == before
    assert not list(folder.rglob(".velado-*"))


@per_file_engine
def test_one_of_several_fails_to_be_written(engine: EngineUnderTest, table: Table, folder: Path) -> None:
    sinks = several(engine, folder)
    with engine.stage(sinks) as stage:
        table.write(AS_IT_IS, stage.slots[0])
        with pytest.raises(KeyError):
            table.write(Plan((translation("no such column", {}),), Selection()), stage.slots[1])
    assert files(folder) == {}


# --- Killed

KILLED = """
import sys, time
import pyarrow as pa
from pathlib import Path
from velado.tables import ENGINES, Evidence, Plan, Selection, Session, Sink, Source
engine = ENGINES[sys.argv[1]]()
sink = Sink(path=Path(sys.argv[2]), evidence=True)
with engine.open(Source(data=pa.table({"a": ["x"] * 1000})), Session()) as table, engine.stage([sink], Session()) as stage:
    table.write(Plan((), Selection()), stage.slots[0])
    with stage.read_back(stage.slots[0]) as back:
        assert back.rows() == 1000
        print("written", flush=True)
        time.sleep(60)
        stage.publish([Evidence("{}", "{}")])
"""


@per_file_engine
def test_killed_between_write_and_publish(engine: EngineUnderTest, table: Table, folder: Path) -> None:
    sink = engine.sink("csv", folder, evidence=True)
    assert sink.path is not None
    sink.path.write_bytes(OLD)
    command = [sys.executable, "-c", KILLED, engine.name, str(sink.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)
    assert sink.path.read_bytes() == OLD
    assert [p.name for p in folder.iterdir() if not p.name.startswith(".velado-")] == ["out.csv"]
    assert all(mode(p) == 0o700 for p in folder.glob(".velado-*"))
    # Whoever publishes there next removes what is left.
    with engine.stage([sink]) as stage:
        table.write(Plan((), Selection()), stage.slots[0])
        stage.publish([Evidence("{}", "{}")])
    assert set(files(folder)) == {"out.csv", "out.csv.manifest.json", "out.csv.private.json"}
    assert not list(folder.glob(".velado-*"))
