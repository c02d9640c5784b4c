"""A real service on this machine: web and worker as a team runs them, in a folder of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VELADO = Path(sys.executable).with_name("velado")
WAIT = 60


class Studio:
    """Processes of one service. ``settings`` are its settings by name."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        given = {"folder": folder, "lease_seconds": 4, **settings}
        told = {f"VELADO_STUDIO_{name.upper()}": str(value) for name, value in given.items()}
        self.environment = {**os.environ, **told, "VELADO_LANGUAGE": "en"}
        self.web: subprocess.Popen[str] | None = None
        self.workers: list[subprocess.Popen[str]] = []
        self.address = ""
        self.port = 0
        self.log = folder.parent / f"{folder.name}.log"

    def start_web(self) -> None:
        """Start the web process; after a stop it listens at the same port again."""
        command = [VELADO, "studio", "serve", "--port", str(self.port)]
        with open(self.log, "a") as log:
            self.web = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.web.stdout is not None
        line = self.web.stdout.readline()
        assert "http://" in line, (line, self.log.read_text())
        self.address = "http://" + line.split("http://")[1].strip()
        self.port = int(self.address.rpartition(":")[2])

    def start_worker(self) -> subprocess.Popen[str]:
        """Start one more worker."""
        with open(self.log, "a") as log:
            worker = subprocess.Popen(
                [VELADO, "studio", "worker"],
                env=self.environment,
                stdout=log,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.workers.append(worker)
        return worker

    def user(self, name: str, *roles: str, scopes: tuple[str, ...] = ()) -> str:
        """A new user; a token of theirs with these scopes, or with all."""
        from velado.service.accounts import tokens
        from velado.service.permissions import SCOPES
        from velado.service.service import Service
        from velado.service.settings import load
        from velado.service.store.tables import User

        service = Service.open(load(environment=self.environment))
        with service.store.writing() as db:
            user = User(name=name, roles=list(roles))
            db.add(user)
            db.flush()
            _, text = tokens.make(db, user, "test", scopes or tuple(SCOPES), 1)
        service.close()
        return text

    def stop(self) -> None:
        """End everything in good order."""
        running = [p for p in (*self.workers, self.web) if p is not None and p.poll() is None]
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            try:
                process.wait(WAIT)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def running(folder: Path, *, workers: int = 1, **settings: Any) -> Iterator[Studio]:
    """A service with workers, ended at the end."""
    studio = Studio(folder, **settings)
    try:
        studio.start_web()
        for _ in range(workers):
            studio.start_worker()
        yield studio
    finally:
        studio.stop()


def until(condition: Any, seconds: float = WAIT) -> Any:
    """What a condition gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")
