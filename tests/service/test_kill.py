"""Kill −9 of web, worker and job at random moments: no job is lost, none is done twice, nothing is left behind."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import func, select

from conftest import VELADO
from harness.judge_hook import times
from servers.studio import WAIT, until
from velado.service.access.permissions import SCOPES
from velado.service.accounts import tokens
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.store.tables import Job, JobLine, Member, Project, Release, Source, Upload, User, Version, WorkerRow

pytestmark = [pytest.mark.faults, pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")]

K = 5
QUASI = ("age", "sex", "city")
FILES = {
    "release.csv",
    "release.csv.manifest.json",
    "release.csv.private.json",
    "recoding.json",
    "private.json",
    "rows.parquet",
    "classes.parquet",
    "shape.json",
}
"""What a release leaves in the folder of its job."""
KEPT = {"studio.sqlite", "studio.sqlite-shm", "studio.sqlite-wal", "studio.key", "uploads", "sources", "jobs", "warm"}
BUSY = 5
"""Jobs that wait or run, as long as there is somebody to kill."""


@pytest.mark.slow
@pytest.mark.both_stores
def test_killed_at_random_moments(settings: Settings, tmp_path: Path) -> None:
    kills = times(12, 50) if settings.sqlite else 8
    theatre = Theatre(settings, tmp_path, random.Random(20261117))
    try:
        theatre.open()
        theatre.play(kills)
        theatre.go_on()
        theatre.check()
    finally:
        theatre.close()
    assert theatre.processes() == []
    assert sum(theatre.killed.values()) == kills
    assert min(theatre.killed.values()) >= kills // 8


@pytest.mark.quick
def test_a_worker_that_is_asked_to_stop(settings: Settings, tmp_path: Path) -> None:
    """Its jobs wait again as if nothing had been, and nothing of them is left."""
    theatre = Theatre(settings, tmp_path, random.Random(1))
    try:
        theatre.open()
        theatre._submit()
        until(lambda: any(job.step.get("stage") == "search" for job in theatre._jobs()))
        theatre.running["worker"].send_signal(signal.SIGTERM)
        assert theatre.running["worker"].wait(WAIT) == 0
        jobs = [job for job in theatre._jobs() if job.state != "done"]
        assert {(job.state, job.most - job.attempt) for job in jobs} == {("queued", 2)}
        assert theatre.processes("velado.service.jobs") == []
        assert theatre._left() == []
        assert len(list((settings.folder / "jobs").iterdir())) == theatre._done()
        assert theatre._workers() == 0
    finally:
        theatre.close()


class Theatre:
    """A service of real processes, its users, and who kills them."""

    def __init__(self, settings: Settings, folder: Path, chance: random.Random) -> None:
        self.settings, self.chance = settings, chance
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.service = Service.open(settings, make=True)
        self.killed: Counter[str] = Counter()
        self.accepted: set[str] = set()
        self.busy = BUSY
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("VELADO_STUDIO")},
            "TMPDIR": str(self.temporary),
            "VELADO_STUDIO_FOLDER": str(settings.folder),
            "VELADO_STUDIO_DATABASE": settings.database,
            "VELADO_STUDIO_LEASE_SECONDS": "5",
            "VELADO_STUDIO_JOBS_PER_USER": "8",
            "VELADO_STUDIO_PORT": str(self.port),
        }

    # The stage

    def open(self) -> None:
        """Make the user, the table and the project; start web and worker."""
        table = _table(self.chance)
        with self.service.store.writing() as db:
            user = User(name="ana", roles=["steward"])
            db.add(user)
            db.flush()
            _, token = tokens.make(db, user, "test", tuple(SCOPES), 1)
            size = len(table)
            upload = Upload(user_id=user.id, name="table.csv", bytes=size, received=size, state="complete")
            db.add(upload)
            db.flush()
            self.service.files.upload(upload.id).write_text(table)
            source = Source(user_id=user.id, name="table", kind="upload", upload_id=upload.id, state="ready")
            db.add(source)
            db.flush()
            document = _document(source.id)
            project = Project(name="p", document=document)
            db.add(project)
            db.flush()
            db.add(Version(project_id=project.id, number=1, document=document, user_id=user.id))
            db.add(Member(project_id=project.id, user_id=user.id, role="owner"))
        self.project, self.upload = project.id, upload.id
        address = f"http://127.0.0.1:{self.port}/api/v1"
        self.http = httpx2.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=WAIT)
        self.running = {name: self._started(name) for name in ("serve", "worker")}
        until(self._answers)

    def close(self) -> None:
        """Ask all to leave."""
        for process in self.running.values():
            process.send_signal(signal.SIGTERM)
        for process in self.running.values():
            process.wait(WAIT)
        self.http.close()
        self.service.close()

    def _started(self, name: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [VELADO, "studio", name], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def _answers(self) -> bool:
        with suppress(httpx2.HTTPError):
            return self.http.get("/health").status_code == 200
        return False

    # The play

    def play(self, kills: int) -> None:
        """Kill so often, while there is always work."""
        for number in range(kills):
            self._submit()
            whom = self.chance.choices(("serve", "worker", "job"), (1, 2, 2))[0]
            if number < 3:
                whom = ("serve", "worker", "job")[number]
            time.sleep(self.chance.uniform(0.0, 1.0))
            if whom == "job":
                self._kill_job()
            else:
                self._kill(whom)
            self.killed[whom] += 1
            if number % 5 == 4:
                self._wait_for_one()

    def _wait_for_one(self) -> None:
        """Let a job come through, so that all moments of a job's life are there to be killed in."""
        before = self._done()

        def more() -> bool:
            self._submit()
            return self._done() > before

        until(more)

    def _done(self) -> int:
        return sum(job.state == "done" for job in self._jobs())

    def _submit(self) -> None:
        """Keep the queue filled. What the service has accepted must not be lost, whatever happens to the answer.

        Who was broken off twice says so, and is tried again, as its owner would.
        """
        with suppress(httpx2.HTTPError):
            jobs = self._jobs()
            for job in jobs:
                if job.state == "failed":
                    assert (job.error or {})["code"] == "job-lost", job.error
                    assert self.http.post(f"/jobs/{job.id}/retry").status_code == 202
            for _ in range(self.busy - sum(job.state != "done" for job in jobs)):
                answer = self.http.post("/jobs", json={"kind": "run", "project": self.project})
                assert answer.status_code == 202, answer.text
                self.accepted.add(answer.json()["id"])

    def _kill_job(self) -> None:
        def killed() -> bool:
            found = self.processes("velado.service.jobs.process")
            if not found:
                self._submit()
                return False
            os.kill(self.chance.choice(found), signal.SIGKILL)
            return True

        until(killed)

    def _kill(self, name: str) -> None:
        """Kill web or worker, and start it again; the processes of jobs end with their worker."""
        jobs = self.processes("velado.service.jobs.process") if name == "worker" else []
        self.running[name].kill()
        self.running[name].wait()
        until(lambda: not set(jobs) & set(self.processes("velado.service.jobs.process")))
        # The others go on meanwhile.
        self.running[name] = self._started(name)

    def processes(self, what: str = "") -> list[int]:
        """The processes of this service, by their environment."""
        return sorted(_processes(f"VELADO_STUDIO_FOLDER={self.settings.folder}".encode(), what.encode()))

    # The end

    def go_on(self) -> None:
        """Let all jobs end."""
        until(self._answers)

        def done() -> bool:
            self._submit()
            return all(job.state == "done" for job in self._jobs())

        self.busy = 0
        until(done, 2 * WAIT)

    def _jobs(self) -> list[Job]:
        with self.service.store.reading() as db:
            return list(db.scalars(select(Job)))

    def check(self) -> None:
        """All jobs are done, each once; each release is as it says it is; nothing else is there."""
        jobs = self._jobs()
        assert self.accepted <= {job.id for job in jobs}
        with self.service.store.reading() as db:
            made = Counter(db.scalars(select(Release.job_id)))
            ends = Counter(db.scalars(select(JobLine.job_id).where(JobLine.event == "done")))
            manifests: dict[str, Any] = {release.job_id: release.manifest for release in db.scalars(select(Release))}
        assert made == ends == Counter(job.id for job in jobs)
        for job in jobs:
            _check_release(self.service.files.attempt(job.id, job.attempt), manifests[job.id])
        until(lambda: self._left() == [])
        counted = {f"{job.id}-{job.attempt}" for job in jobs}
        until(lambda: {path.name for path in (self.settings.folder / "jobs").iterdir()} == counted)
        # The rows of dead workers go after some time, that of the living one stays.
        until(lambda: self._workers() == 1)

    def _workers(self) -> int:
        with self.service.store.reading() as db:
            return db.scalar(select(func.count()).select_from(WorkerRow)) or 0

    def _left(self) -> list[str]:
        """What should not be there: in the folder of the service, and among temporary files."""
        folder = self.settings.folder
        left = [path.name for path in folder.iterdir() if path.name not in KEPT]
        left += [str(path) for path in (folder / "uploads").iterdir() if path.name != self.upload]
        left += [str(path) for name in ("sources", "warm") if (folder / name).is_dir() for path in (folder / name).iterdir()]
        for attempt in (folder / "jobs").iterdir():
            left += [f"{attempt.name}/{name}" for name in sorted({p.name for p in attempt.rglob("*")} - FILES)]
        return left + [str(path) for path in self.temporary.rglob("*")]


def _table(chance: random.Random) -> str:
    rows = [
        (
            f"Identified {number}",
            chance.randint(20, 79),
            chance.choice("MF"),
            chance.choice(["Lima", "Quito"]),
            chance.choice(["flu", "cold"]),
        )
        for number in range(60)
    ]
    return "name,age,sex,city,illness\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def _document(source: str) -> dict[str, Any]:
    return {
        "source": {"source": source},
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [10, 20]}},
            "sex": {"role": "quasi-identifier"},
            "city": {"role": "quasi-identifier"},
            "illness": {"role": "insensitive"},
        },
        "models": [{"k-anonymity": {"k": K}}],
        "method": {"lattice": {"suppression": 0.05}},
    }


def _check_release(folder: Path, manifest: dict[str, Any]) -> None:
    """Counted by hand: every combination of quasi-identifiers is there k times, and the manifest is that of the file."""
    data = (folder / "release.csv").read_bytes()
    assert manifest["output"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert json.loads((folder / "release.csv.manifest.json").read_text()) == manifest
    rows = list(csv.DictReader(data.decode().splitlines()))
    classes = Counter(tuple(row[name] for name in QUASI) for row in rows)
    suppressed = ("*",) * len(QUASI)
    assert all(count >= K for quasi, count in classes.items() if quasi != suppressed), classes
    assert len(rows) >= 57
    assert b"Identified" not in data


def _processes(variable: bytes, what: bytes) -> Iterator[int]:
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with suppress(OSError):
                if variable in (path / "environ").read_bytes().split(b"\0") and what in (path / "cmdline").read_bytes():
                    yield int(path.name)
