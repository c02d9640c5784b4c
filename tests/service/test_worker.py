"""The worker: one process per job, progress, cancel, limits, second attempts, warm processes, nothing left behind."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from servers.studio import until
from service.worker_thread import LONG, Bench, alive
from velado.progress import Progress
from velado.service.errors import Conflict
from velado.service.jobs import clean_up, process, process_identity, queue, running_job
from velado.service.jobs.kinds import KINDS
from velado.service.jobs.task import Task
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.store.tables import Job, JobLine, User, WorkerRow, new_id, now

MB = 1_000_000


@pytest.fixture
def limited(settings: Settings) -> Settings:
    """Small limits, so that tests reach them."""
    return replace(settings, job_memory=150 * MB, job_seconds=900, job_bytes=2 * MB, lease_seconds=6, explorers=2)


@pytest.fixture
def bench(limited: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    service = Service.open(limited, make=True)
    bench = Bench(service, monkeypatch)
    yield bench
    bench.stop()
    assert bench.service.files.folder.joinpath("warm").is_dir() is False or not any(
        bench.service.files.folder.joinpath("warm").iterdir()
    )
    service.close()


# A job


@pytest.mark.both_stores
def test_a_job_is_done(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_SOMEBODY", "x")
    monkeypatch.setenv("VELADO_STUDIO_DATABASE_PASSWORD", "x")
    bench.start()
    id = bench.submit(file="released")
    job = bench.ended(id)
    assert (job.state, job.attempt, job.error) == ("done", 1, None)
    assert job.result is not None
    assert job.result["nan"] is None
    assert job.result["umask"] == 0o077
    assert set(job.result["environment"]) <= {
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "PYTHONPATH",
        "TMPDIR",
        "VELADO_STUDIO_FOLDER",
        "VELADO_STUDIO_KEY_FILE",
        "XDG_CACHE_HOME",
        "NUMBA_CACHE_DIR",
        "LD_LIBRARY_PATH",
        "NUMBA_NUM_THREADS",
    }
    folder = bench.service.files.attempt(id, 1)
    assert job.result["tmp"] == str(folder / "tmp")
    assert [path.name for path in folder.iterdir()] == ["result.txt"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "result.txt").stat().st_mode) == 0o600
    assert not alive(job.result["pid"])
    with bench.service.store.reading() as db:
        lines = db.scalars(select(JobLine).where(JobLine.job_id == id).order_by(JobLine.number))
        told = [(line.event, line.detail.get("stage")) for line in lines]
    assert told == [("submitted", None), ("started", None), ("stage", "open"), ("stage", "search"), ("done", None)]


def test_a_job_without_files_leaves_no_folder(bench: Bench) -> None:
    bench.start()
    assert bench.ended(bench.submit()).state == "done"
    until(lambda: not bench.folders())


@pytest.mark.both_stores
def test_a_flood_of_one_user_keeps_nobody_waiting(bench: Bench) -> None:
    """What is brief has a place of its own, and of all that wait the next is another user's."""
    with bench.service.store.writing() as db:
        other = User(name="eva", roles=["steward"])
        db.add(other)
    bench.start()
    flood = [bench.submit(sleep=LONG) for _ in range(12)]
    until(lambda: [bench.job(id).state for id in flood].count("running") == 2)
    for kind in ("glance", "question"):
        assert bench.ended(bench.submit(kind, user=other.id)).state == "done"
    own = bench.submit(sleep=LONG, user=other.id)
    bench.cancel(next(id for id in flood if bench.job(id).state == "running"))
    bench.at(own, "open")
    assert [bench.job(id).state for id in flood].count("queued") == 10
    for id in (*flood, own):
        with suppress(Conflict):
            bench.cancel(id)


def test_jobs_run_side_by_side(bench: Bench) -> None:
    """As many as the setting says, and questions beside them."""
    bench.start()
    jobs = [bench.submit(sleep=LONG) for _ in range(3)]
    until(lambda: [bench.job(id).state for id in jobs] == ["running", "running", "queued"])
    assert bench.ended(bench.submit("question")).state == "done"
    for id in jobs:
        bench.cancel(id)
    assert [bench.ended(id).state for id in jobs] == ["cancelled"] * 3


@pytest.mark.parametrize(("how", "code"), [({"fail": "none"}, "no-solution"), ({"fail": "input"}, "no-solution")])
def test_a_failure_is_told(bench: Bench, how: dict[str, str], code: str) -> None:
    bench.start()
    job = bench.ended(bench.submit(**how))
    assert (job.state, job.attempt) == ("failed", 1)
    assert job.error is not None
    assert (job.error["code"], job.error["fields"]["nearest"]) == (code, {"k": 3})
    assert set(job.error["message"]) == {"en", "es", "pt"}
    assert bench.folders() == set()


def test_a_fault_tells_nothing_of_the_data(bench: Bench) -> None:
    bench.start()
    job = bench.ended(bench.submit(fault=True))
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "internal-error")
    assert "Ana" not in json.dumps(job.error)


def test_a_result_that_cannot_be_taken_over_does_not_count(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def finish(*_: object) -> None:
        raise ValueError("Ana Pérez")

    monkeypatch.setitem(KINDS, "labour", replace(KINDS["labour"], finish=finish))
    bench.start()
    job = bench.ended(bench.submit(file="x"))
    assert job.error is not None
    assert (job.state, job.error["code"], job.result) == ("failed", "internal-error", None)
    assert bench.folders() == set()


def test_a_kind_of_another_version_fails(bench: Bench) -> None:
    bench.start()
    with bench.service.store.writing() as db:
        id = queue.submit(db, bench.service.settings, "of-tomorrow", bench.user, {}).id
    job = bench.ended(id)
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "unknown-kind")


# Cancel


@pytest.mark.both_stores
def test_cancel_of_a_running_job(bench: Bench) -> None:
    bench.start()
    id = bench.submit(sleep=LONG)
    bench.at(id, "open")
    bench.cancel(id)
    assert bench.ended(id).state == "cancelled"
    assert bench.folders() == set()


def test_a_job_that_does_not_listen_is_killed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_job, "GRACE", 0.3)
    bench.start()
    id = bench.submit(deaf=True)
    bench.at(id, "open")
    bench.cancel(id)
    job = bench.ended(id)
    assert job.error is not None
    assert (job.state, job.error["code"], job.attempt) == ("cancelled", "cancelled", 1)
    assert bench.folders() == set()


# Limits


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"grow": 400}, "job-too-large"),
        ({"write": 4}, "job-too-much-disk"),
        ({"file": "x" * 3 * MB}, "job-too-much-disk"),
        ({"sleep": LONG}, "job-too-long"),
    ],
)
def test_limits(bench: Bench, how: dict[str, int], code: str) -> None:
    bench.service.__dict__["settings"] = replace(bench.service.settings, job_seconds=900 if code != "job-too-long" else 1)
    bench.service.store.settings = bench.service.settings
    bench.start()
    job = bench.ended(bench.submit(**how))
    assert job.error is not None
    assert (job.state, job.error["code"], job.attempt) == ("failed", code, 1)
    assert job.error["fields"]["limit"] > 0
    assert job.error["hint"]["es"] != job.error["hint"]["en"]
    assert bench.folders() == set()


# Death


@pytest.mark.both_stores
def test_a_process_that_dies_is_tried_again(bench: Bench) -> None:
    bench.start()
    job = bench.ended(bench.submit(die=1, file="x"))
    assert (job.state, job.attempt) == ("done", 2)
    assert bench.folders() == {f"{job.id}-2"}


def test_two_attempts_at_most(bench: Bench) -> None:
    bench.start()
    job = bench.ended(bench.submit(die=5))
    assert job.error is not None
    assert (job.state, job.attempt, job.error["code"]) == ("failed", 2, "job-lost")
    assert bench.folders() == set()


@pytest.mark.both_stores
def test_a_worker_that_stops_gives_its_jobs_back(bench: Bench) -> None:
    bench.start()
    jobs = [bench.submit(sleep=LONG, sleepy=1, file="x") for _ in range(2)]
    for id in jobs:
        bench.at(id, "open")
    bench.stop()
    assert [(bench.job(id).state, bench.job(id).most) for id in jobs] == [("queued", 3), ("queued", 3)]
    assert bench.folders() == set()
    with bench.service.store.reading() as db:
        assert list(db.scalars(select(WorkerRow.id))) == []
    bench.start()
    assert [(job.state, job.attempt) for id in jobs if (job := bench.ended(id))] == [("done", 2), ("done", 2)]


def test_a_job_that_another_worker_took_over_is_let_go(bench: Bench) -> None:
    worker = bench.start()
    id = bench.submit(sleep=LONG, file="mine")
    bench.at(id, "open")
    child = worker.running[id].child
    assert child is not None
    with bench.service.store.writing() as db:
        db.execute(update(Job).where(Job.id == id).values(worker="another", attempt=2, lease=now() + timedelta(hours=1)))
    until(lambda: id not in worker.running)
    until(lambda: not alive(child.pid))
    until(lambda: not bench.folders())
    assert (bench.job(id).state, bench.job(id).worker) == ("running", "another")


def test_a_deleted_job_is_let_go(bench: Bench) -> None:
    worker = bench.start()
    id = bench.submit(sleep=LONG)
    bench.at(id, "open")
    with bench.service.store.writing() as db:
        db.execute(delete(Job).where(Job.id == id))
    until(lambda: not worker.running and not bench.folders())


def test_leases_are_renewed_while_a_job_is_silent(bench: Bench) -> None:
    bench.start()
    id = bench.submit(deaf=True)
    first = bench.at(id, "open").lease
    assert first is not None
    later = until(lambda: (lease := bench.job(id).lease) and lease > first + timedelta(seconds=1) and lease)
    assert later > now()
    with bench.service.store.reading() as db:
        assert [row.detail["jobs"] for row in db.scalars(select(WorkerRow))] == [1]


# Warm processes


def ask(bench: Bench, connection: str, **parameters: object) -> dict[str, int]:
    job = bench.ended(bench.submit("question", connection=connection, **parameters))
    assert job.result is not None, job.error
    return job.result


def test_a_warm_process_remembers(bench: Bench) -> None:
    bench.start()
    first, second = ask(bench, "a"), ask(bench, "a")
    assert (first["pid"], first["asked"], second["asked"]) == (second["pid"], 1, 2)
    other = ask(bench, "b")
    assert other["pid"] != first["pid"]
    assert other["asked"] == 1
    # There are two at most: the one that was not used for the longest time goes.
    ask(bench, "a")
    third = ask(bench, "c")
    assert alive(first["pid"])
    assert alive(third["pid"])
    assert not alive(other["pid"])
    assert ask(bench, "a")["asked"] == 4
    assert {name.partition("-")[0] for name in bench.folders()} == {bench.worker.id if bench.worker else ""}


def test_a_warm_process_of_another_version_forgets(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velado.service.jobs.make_task.key", lambda job: job.parameters["connection"])
    bench.start()
    first = ask(bench, "project:x:1")
    second = ask(bench, "project:x:2")
    assert (second["pid"], second["asked"]) == (first["pid"], 1)
    # What was counted in its tables stays; of another project nothing does.
    assert second["of_table"] == 2
    assert ask(bench, "project:y:1")["of_table"] == 1


def test_a_warm_process_that_dies_costs_its_question(bench: Bench) -> None:
    bench.start()
    first, other = ask(bench, "a"), ask(bench, "b")
    job = bench.ended(bench.submit("question", connection="a", die=9))
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "job-lost")
    assert not alive(first["pid"])
    assert ask(bench, "b")["pid"] == other["pid"]
    assert ask(bench, "a")["asked"] == 1


def test_a_warm_process_that_grows_is_killed(bench: Bench) -> None:
    bench.start()
    job = bench.ended(bench.submit("question", connection="a", grow=400))
    assert job.error is not None
    assert (job.state, job.error["code"], job.attempt) == ("failed", "job-too-large", 1)
    assert ask(bench, "a")["asked"] == 1


def test_questions_have_their_own_time(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velado.service.jobs.make_task.QUESTION_SECONDS", 1)
    bench.start()
    job = bench.ended(bench.submit("question", connection="a", sleep=LONG))
    assert job.error is not None
    assert (job.error["code"], job.error["fields"]["limit"]) == ("job-too-long", 1)


def test_questions_of_one_subject_wait_for_each_other(bench: Bench) -> None:
    bench.start()
    ids = [bench.submit("question", connection="a", sleep=0.2) for _ in range(5)]
    results = [bench.ended(id).result or {} for id in ids]
    assert [result["asked"] for result in results] == [1, 2, 3, 4, 5]
    assert len({result["pid"] for result in results}) == 1


def test_a_question_can_be_cancelled(bench: Bench) -> None:
    bench.start()
    first = bench.submit("question", connection="a", sleep=LONG)
    second = bench.submit("question", connection="a", sleep=LONG)
    bench.at(first, "open")
    for id in (second, first):
        bench.cancel(id)
    assert [bench.ended(id).state for id in (first, second)] == ["cancelled", "cancelled"]
    assert ask(bench, "a")["asked"] == 1


# Sweeping


@pytest.mark.both_stores
def test_what_nobody_counts_is_removed(bench: Bench) -> None:
    files, folder = bench.service.files, bench.service.settings.folder
    states = {"done": 2, "running": 2, "failed": 2, "queued": 1, "cancelled": 1}
    kept = set()
    for state, attempt in states.items():
        id = bench.submit()
        with bench.service.store.writing() as db:
            lease = now() + timedelta(hours=1)
            db.execute(update(Job).where(Job.id == id).values(state=state, attempt=attempt, worker="other", lease=lease))
        for number in range(1, attempt + 1):
            files.attempt(id, number).mkdir()
            (files.attempt(id, number) / "records.csv").write_text("Ana")
        if state in ("done", "running"):
            kept.add(f"{id}-{attempt}")
    files.attempt(new_id(), 1).mkdir()
    alive_worker, dead, question = new_id(), new_id(), bench.submit("question")
    with bench.service.store.writing() as db:
        db.add(WorkerRow(id=alive_worker))
        db.add(WorkerRow(id=dead, seen=now() - timedelta(hours=1)))
        old = now() - timedelta(hours=2)
        db.execute(update(Job).where(Job.id == question).values(state="done", created=old))
    for name in (f"{alive_worker}-1", f"{dead}-1"):
        (folder / "warm" / name).mkdir(parents=True)
    (folder / "sources" / f"{new_id()}.parquet").write_text("Ana")
    clean_up.sweep(bench.service)
    assert bench.folders() == {*kept, f"{alive_worker}-1"}
    assert list(files.copies()) == []
    with bench.service.store.reading() as db:
        assert list(db.scalars(select(WorkerRow.id))) == [alive_worker]
        assert db.get(Job, question) is None
    files.remove(folder / "warm" / f"{alive_worker}-1")


def test_jobs_of_a_worker_that_died_here_are_found_at_once(bench: Bench) -> None:
    process = subprocess.Popen(["sleep", "600"])
    detail = {**process_identity.describe_process(), "pid": process.pid, "begun": process_identity._start_time(process.pid)}
    elsewhere = {**detail, "place": "another machine"}
    jobs = {}
    with bench.service.store.writing() as db:
        for worker, said in (("here", detail), ("elsewhere", elsewhere), ("unknown", {})):
            db.add(WorkerRow(id=worker, detail=said))
    for worker in ("here", "elsewhere", "unknown"):
        jobs[worker] = bench.submit()
        with bench.service.store.writing() as db:
            queue.claim(db, replace(bench.service.settings, jobs_per_user=9, lease_seconds=600), worker, quick=False)
    clean_up.sweep(bench.service)
    assert {bench.job(id).state for id in jobs.values()} == {"running"}
    process.kill()
    process.wait()
    clean_up.sweep(bench.service)
    assert {worker: bench.job(id).state for worker, id in jobs.items()} == {
        "here": "queued",
        "elsewhere": "running",
        "unknown": "running",
    }


# The process


def task(folder: Path, **parameters: object) -> Task:
    return Task(new_id(), 1, "labour", folder, parameters, work="any", limits={"memory": 1 << 30, "bytes": 1 << 30})


def test_the_work_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    seen: list[str] = []
    progress = Progress(lambda step: seen.append(step.stage))
    found = process.perform(task(tmp_path), progress, {"asked": 6}, "service.job_kinds")
    assert (found["asked"], found["pid"]) == (7, os.getpid())
    assert list(dict.fromkeys(seen)) == ["open", "search"]
    os.umask(0o022)


def test_a_task_is_the_same_after_its_journey(tmp_path: Path) -> None:
    there = task(tmp_path, deep={"a": [1, None, "é"]})
    assert Task.from_dict(json.loads(json.dumps(there.as_dict()))) == there


def test_results_are_json() -> None:
    found = process.finite({1: float("inf"), "a": [float("nan"), (1, 2.5)], "b": None})
    assert found == {"1": None, "a": [None, [1, 2.5]], "b": None}
