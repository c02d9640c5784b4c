"""Faults at every step of publishing: the old files stay, or the new ones are complete, and the exit code says which."""

import errno
import hashlib
import json
import mmap
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from harness.quick_cases import some
from servers.studio import until
from velado.appointments.tables.rows import write_rows
from velado.errors import InputError
from velado.tables import Session, Sink, Slot
from velado.tables.publication import journal, locks
from velado.tables.publication import private as staging
from velado.tables.publication import publish as writing
from velado.tables.publication.locks import locked_folders
from velado.tables.publication.private import PrivateFolder, sweep
from velado.tables.publication.publish import publish_files

pytestmark = pytest.mark.faults
TORTURE = int(os.environ.get("VELADO_TORTURE", "0") or 0)
"""How many times longer the random tests are."""
OURS = ("a/release.csv.manifest.json", "a/private.json", "b/recoding.json", "b/other.csv", "a/release.csv")
STEPS = ("open", "fsync", "chmod", "mkdir", "link", "replace", "unlink", "rmdir")
KILLED = -signal.SIGKILL
FULL = 28
"""Exit code of a test process for a full disk, which is another than that of other errors."""


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def contents_of(mark: str) -> dict[str, bytes]:
    """The files of one run; the manifest tells which belong to each other."""
    files = {name: f"{mark} {name}\n".encode() * 50 for name in OURS}
    files[OURS[0]] = json.dumps({name: sha(files[name]) for name in OURS[1:]}).encode()
    return files


def mark_of(folder: Path) -> str:
    """Whose files there are; an error if they are not all of one run."""
    files = {name: (folder / name).read_bytes() for name in OURS if (folder / name).exists()}
    mark = files["a/release.csv"].decode().split()[0]
    assert files == {n: c for n, c in contents_of(mark).items() if mark != "old" or n != "b/recoding.json"}
    manifest = json.loads(files[OURS[0]])
    assert all(manifest[name] == sha(data) for name, data in files.items() if name != OURS[0])
    return mark


@contextmanager
def staged(folder: Path, mark: str) -> Iterator[None]:
    """Files that are written and are published at the end."""
    paths = [folder / name for name in OURS]
    with publish_files(paths, private=[paths[1]]) as places:
        for place, data in zip(places, contents_of(mark).values(), strict=True):
            place.write_bytes(data)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Two folders with the files of an old run; one of the files that are published is new."""
    memory = Path("/dev/shm")  # where writing to disk takes no time
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as name:
        for part in ("a", "b"):
            (Path(name) / part).mkdir()
        put_back(Path(name))
        yield Path(name)


def left(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if ".velado" in p.name]


class Trace:
    """The steps that a process and its children have taken, in one memory."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 4096)

    def add(self, name: str) -> int:
        """Its number."""
        number = len(self.names)
        self.memory[number] = STEPS.index(name) + 1
        return number

    @property
    def names(self) -> list[str]:
        return [STEPS[code - 1] for code in self.memory[: self.memory.find(b"\0")]]


Fault = Callable[[int], None]
"""What happens at a step; it gets the number of the process that runs."""


def stumble(trace: Trace, fault: Fault | None, at: int, lasting: bool = False, only: Sequence[str] = STEPS) -> None:
    """Let the fault happen before one step of publishing, or from it on, in this process and its children."""
    run = os.getpid()

    def wrapped(name: str, real: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            number = trace.add(name)
            if fault is not None and (number == at or (lasting and number > at)):
                fault(run)
            return real(*args, **options)

        return call

    for name in only:
        setattr(os, name, wrapped(name, getattr(os, name)))


def forked(work: Callable[[], None]) -> int:
    """The exit code of work in a process of its own, as the command line would give it; negative if it was killed."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.default_int_handler)
            writing.latest.clear()
            work()
            code = 0
        except InputError as error:
            code = FULL if error.code == "disk-full" else 2
        except KeyboardInterrupt:
            code = 0 if writing.latest else 130
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def trial(folder: Path, fault: Fault | None, at: int, trace: Trace | None = None, lacking: str | None = None, **how: Any) -> int:
    """Publish new files; the steps are counted from when they are written. The system may be ``lacking`` something."""

    def work() -> None:
        with staged(folder, "new"):
            if lacking is not None:
                setattr(os, lacking, lambda *args, **options: refuse(errno.EPERM)(0))
            stumble(trace or Trace(), fault, at, **how)

    return forked(work)


def every_step(folder: Path, **how: Any) -> Iterator[int]:
    """The steps of publishing, each with the old files there; not all of the lesser ones where time is short."""
    trace = Trace()
    assert trial(folder, None, -1, trace, **how) == 0
    names = trace.names
    assert len(OURS) <= names.count("replace")
    for step, name in enumerate(names):
        if TORTURE or name in ("replace", "link") or step % 6 == 0:
            put_back(folder)
            yield step


def settled(folder: Path) -> None:
    """Wait for the child of a killed run, which has its locks."""
    with locked_folders([folder / "a", folder / "b"]):
        pass


def next_run(folder: Path, where: str) -> None:
    """Somebody publishes something else into one of the folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "apart", lambda work: None)
        with publish_files([folder / where / "next.csv"]) as (place,):
            place.write_text("next")
    (folder / where / "next.csv").unlink()


def refuse(number: int) -> Fault:
    def fault(run: int) -> None:
        raise OSError(number, os.strerror(number))

    return fault


def kill_both(run: int) -> None:
    os.kill(run, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


FAULTS: dict[str, Fault] = {
    "ENOSPC": refuse(errno.ENOSPC),
    "EIO": refuse(errno.EIO),
    "EBUSY": refuse(errno.EBUSY),
    "SIGTERM": lambda run: os.kill(run, signal.SIGTERM),
    "SIGINT": lambda run: os.kill(run, signal.SIGINT),
    "kill the process": lambda run: os.kill(os.getpid(), signal.SIGKILL),
    "kill the run": lambda run: os.kill(run, signal.SIGKILL),
    "kill run and child": kill_both,
}


def put_back(folder: Path) -> None:
    for name, data in contents_of("old").items():
        (folder / name).unlink(missing_ok=True)
        if name != "b/recoding.json":
            (folder / name).write_bytes(data)


EXPECTED = {
    "ENOSPC": {(FULL, "old"), (0, "new")},
    "EIO": {(2, "old"), (0, "new")},
    "EBUSY": {(2, "old"), (0, "new")},
    "SIGTERM": {(130, "old"), (0, "new")},
    "SIGINT": {(130, "old"), (0, "new")},
    "kill the process": {(KILLED, "old"), (KILLED, "new"), (0, "new")},
    "kill the run": {(KILLED, "old"), (KILLED, "new")},
    "kill run and child": {(KILLED, "old"), (KILLED, "new")},
}
"""Exit code and whose files there are then. A fault while tidying up afterwards is no failure."""


@pytest.mark.parametrize("fault", some(FAULTS, "kill run and child"))
def test_a_fault_at_every_step(fault: str, folder: Path) -> None:
    ends = set()
    for step in every_step(folder):
        code = trial(folder, FAULTS[fault], step)
        settled(folder)
        # Only when the committing child is killed, too, somebody else has to finish what it began.
        before = None if fault == "kill run and child" else mark_of(folder)
        next_run(folder, "ab"[step % 2])
        ends.add((code, mark_of(folder)))
        assert before in (None, mark_of(folder))
        sweep(folder / "ab"[1 - step % 2])
        assert left(folder) == []
    assert ends == EXPECTED[fault]


def test_renaming_fails_for_good(folder: Path) -> None:
    """What can be neither done nor undone is finished by the next run, once that is possible again."""
    ends = set()
    for step in every_step(folder, only=["replace"]):
        code = trial(folder, refuse(errno.EIO), step, lasting=True, only=["replace"])
        next_run(folder, "ab"[step % 2])
        ends.add((code, mark_of(folder)))
        sweep(folder / "ab"[1 - step % 2])
        assert left(folder) == []
    assert ends == {(2, "old"), (2, "new")}


def test_an_unfinished_publication_stops_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is published over files that may still be put back."""
    assert trial(folder, refuse(errno.EIO), 4, lasting=True, only=["replace"]) == 2
    monkeypatch.setattr(writing, "PATIENCE", 0.1)
    monkeypatch.setattr(journal.os, "replace", lambda *_: refuse(errno.EIO)(0))
    with pytest.raises(InputError, match="neither be finished nor undone"), staged(folder, "third"):
        monkeypatch.setattr(writing, "_carry_out", lambda journal: pytest.fail("it was published"))
    monkeypatch.undo()
    next_run(folder, "b")
    assert mark_of(folder) == "new"


@pytest.mark.parametrize("lacking", ["link", "fork"])
def test_systems_that_can_do_less(lacking: str, folder: Path) -> None:
    """The old files are copied where they cannot be linked, and a process without children renames itself."""
    ends = set()
    for step in every_step(folder, only=["replace"], lacking=lacking):
        ends.add((trial(folder, refuse(errno.EIO), step, only=["replace"], lacking=lacking), mark_of(folder)))
        assert left(folder) == []
    assert ends == {(2, "old")}


def test_what_others_wrote_since_stays(folder: Path) -> None:
    """Nobody finishes, or undoes, a publication over files that are not of it any more."""
    assert trial(folder, kill_both, 4, only=["replace"]) == KILLED
    states = {name: (folder / name).read_text() for name in OURS if (folder / name).exists()}
    assert {text.split()[0] for name, text in states.items() if name != OURS[0]} == {"new", "old"}
    (folder / "a/release.csv").write_text("by hand")
    next_run(folder, "a")
    sweep(folder / "b")
    found = {name: (folder / name).read_text() for name in OURS if (folder / name).exists()}
    assert found == {**states, "a/release.csv": "by hand"}
    assert left(folder) == []


# Several runs at once


def run_often(folder: Path, mark: str, times: int, others: bool = False) -> None:
    """Publish again and again; in between, too, nobody sees a mixture, unless ``others`` may have died on the way."""
    for number in range(times):
        with staged(folder, f"{mark}{number}"):
            pass
        with locked_folders([folder / "a", folder / "b"]):
            assert others or mark_of(folder)


def started(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        os.setsid()
        os._exit(forked(work) & 0xFF)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("files_only", [False, True])
def test_nobody_publishes_into_a_folder_that_is_locked(files_only: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where folders cannot be locked, a file in them is, and does not stay."""
    real = locks._lock

    def lock(descriptor: int, wait: bool) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        real(descriptor, wait)

    if files_only:
        monkeypatch.setattr(locks, "_lock", lock)
    with locked_folders([folder / "b"]):
        child = started(lambda: run_often(folder, "x", 1))
        until(lambda: list(folder.glob("a/.velado-*/new/release.csv")))
        # It would be published by then.
        time.sleep(0.5)
        assert mark_of(folder) == "old"
        assert (folder / "b/.velado-lock").exists() == files_only
    assert ended(child) == 0
    assert mark_of(folder) == "x0"
    assert left(folder) == []


def test_a_system_without_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can tell there who is alive: everything is published, nothing is swept."""
    child, dead = waiting(folder / "a")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    monkeypatch.setattr(locks, "_lock", lambda descriptor, wait: refuse(errno.ENOLCK)(0))
    monkeypatch.setattr(locks, "_unlock", lambda descriptor: refuse(errno.ENOLCK)(0))
    with staged(folder, "new"):
        assert len(left(folder)) == 3
    assert mark_of(folder) == "new"
    assert left(folder) == [dead]


@pytest.mark.quick
def test_runs_at_once(folder: Path) -> None:
    times = 10 * (1 + TORTURE)
    children = [started(lambda mark=mark: run_often(folder, mark, times)) for mark in ("x", "y", "z")]
    assert [ended(c) for c in children] == [0, 0, 0]
    assert mark_of(folder) in {f"{mark}{times - 1}" for mark in "xyz"}
    assert left(folder) == []


def test_runs_at_once_that_are_killed(folder: Path) -> None:
    """Runs and their children die anywhere, others come between and after them: no mixture is left."""
    seed = random.randrange(2**32) if TORTURE else 1
    print(f"seed {seed}")  # shown when it fails
    dice = random.Random(seed)
    for turn in range(6 * (1 + 10 * TORTURE)):
        steps = [dice.randrange(60) for _ in range(2)]
        children = [started(lambda step=step: trial(folder, kill_both, step) and None) for step in steps]
        run_often(folder, f"turn{turn}-", 2, others=True)
        for child in children:
            ended(child)
        next_run(folder, dice.choice("ab"))
        mark_of(folder)
    sweep(folder / "a")
    sweep(folder / "b")
    assert left(folder) == []


# Private folders


def waiting(parent: Path) -> tuple[int, Path]:
    """Another process that has a private folder with something in it."""
    before = set(left(parent))
    child = os.fork()
    if child == 0:
        (PrivateFolder(parent).folder("spilled") / "1").write_text("data")
        signal.pause()
    until(lambda: any(p.read_text() for p in parent.glob(".velado-*/spilled/1")))
    (made,) = [p for p in left(parent) if p not in before]
    return child, made


def test_living_runs_keep_their_files_and_dead_ones_do_not(folder: Path) -> None:
    child, made = waiting(folder / "a")
    try:
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
        assert stat.S_IMODE((made / "lock").stat().st_mode) == 0o600
        next_run(folder, "a")
        assert (made / "spilled/1").read_text() == "data"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    next_run(folder, "a")
    assert left(folder) == []


def test_a_living_run_elsewhere_keeps_its_files(folder: Path) -> None:
    """In another PID namespace, where the numbers of processes mean something else."""
    program = (
        "import sys, pathlib; from velado.tables.publication.private import PrivateFolder;"
        "made = PrivateFolder(pathlib.Path(sys.argv[1])); print(made.path, flush=True); input()"
    )
    command = ["unshare", "--pid", "--fork", "--kill-child", sys.executable, "-c", program, str(folder / "a")]
    if shutil.which("unshare") is None or subprocess.run([*command[:4], "true"], capture_output=True).returncode:
        pytest.skip("no PID namespaces here")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    made = Path(process.stdout.readline().strip())
    try:
        next_run(folder, "a")
        assert made.is_dir()
    finally:
        process.kill()
        process.wait()

    def swept() -> bool:
        sweep(folder / "a")
        return not made.exists()

    until(swept)  # the kernel ends the namespace after its first process
    assert left(folder) == []


def test_what_is_no_private_folder_of_ours_stays(folder: Path) -> None:
    """Folders of similar names, and those of other users, who could plant a journal there."""
    mine = [folder / "a/.velado-notes", folder / "a/.velado-0123456789abcdef0", folder / "a/velado-0123456789abcdef"]
    for path in mine:
        path.mkdir()
        (path / "lock").touch()
    theirs = folder / "a/.velado-0123456789abcdef"
    theirs.mkdir()
    (theirs / "lock").touch()
    if os.geteuid() == 0:
        os.chown(theirs, 12345, 12345)
    next_run(folder, "a")
    assert all(p.exists() for p in mine)
    assert theirs.exists() == (os.geteuid() == 0)


def test_a_folder_that_was_just_made_is_swept_or_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between making a folder and locking it somebody else may take it for a dead one."""
    real, times = os.mkdir, []

    def mkdir(path: Path, mode: int = 0o777) -> None:
        real(path, mode)
        times.append(path)
        if len(times) == 1:
            monkeypatch.delitem(staging.mine, path)
            sweep(folder / "a")
            assert not Path(path).exists()

    monkeypatch.setattr(os, "mkdir", mkdir)
    with PrivateFolder(folder / "a") as made:
        assert made == times[1]
        assert left(folder) == [made]
    assert left(folder) == []


@pytest.mark.quick
def test_modes(folder: Path) -> None:
    """Private while they are written; then like the file that they replace, or any new one, or private for ever."""
    before = os.umask(0o027)
    try:
        paths = [folder / name for name in OURS]
        paths[-1].chmod(0o604)
        with publish_files(paths, private=[paths[1]]) as places:
            assert {stat.S_IMODE(p.parents[1].stat().st_mode) for p in places} == {0o700}
            assert {stat.S_IMODE(p.stat().st_mode) for p in places} == {0o600}
            for place in places:
                place.write_text("new")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(p.stat().st_mode) for p in paths]
    assert modes == [0o644, 0o600, 0o640, 0o644, 0o604]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx", "arrow"])
def test_what_an_engine_writes_is_private(suffix: str, tmp_path: Path) -> None:
    with publish_files([tmp_path / f"out.{suffix}"]) as (place,):
        write_rows(pa.table({"a": ["1", "2"]}), Slot(Sink(place), place), Session())
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert left(tmp_path) == []


def test_a_link_is_replaced_or_stays(folder: Path) -> None:
    link = folder / "a/release.csv"
    link.rename(folder / "real.csv")
    link.symlink_to("../real.csv")
    assert trial(folder, refuse(errno.EIO), 6, only=["replace"]) == 2
    assert link.is_symlink()
    assert mark_of(folder) == "old"
