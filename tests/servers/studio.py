"""A real service on this machine: web and worker as a team runs them, in a folder of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy.orm import Session as Db

    from velado.service.service import Service
    from velado.service.store.tables import User

VELADO = Path(sys.executable).with_name("velado")
COPYING = Path(__file__).with_name("studio_worker.py")
WAIT = 180
"""Seconds until something that must happen has happened, however busy the machine is."""


class Studio:
    """Processes of one service. ``settings`` are its settings by name; jobs of ``copying`` workers are there at once."""

    def __init__(self, folder: Path, *, copying: bool = False, **settings: Any) -> None:
        self.folder = folder
        self.worker = [sys.executable, COPYING] if copying else [VELADO, "studio", "worker"]
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
            worker = subprocess.Popen(self.worker, env=self.environment, stdout=log, stderr=log, text=True, start_new_session=True)
        self.workers.append(worker)
        return worker

    @cached_property
    def service(self) -> Service:
        """The service as its own processes see it."""
        from velado.service.service import Service
        from velado.service.settings import load

        return Service.open(load(environment=self.environment))

    def user(self, name: str, *roles: str, scopes: tuple[str, ...] = ()) -> str:
        """A user, who is made if there is none; a new token of theirs with these scopes, or with all."""
        from velado.service.access.permissions import SCOPES
        from velado.service.accounts import tokens

        with self.service.store.writing() as db:
            return tokens.make(db, _user(db, name, roles), "test", scopes or tuple(SCOPES), 1)[1]

    def cookies(self, name: str, *roles: str) -> dict[str, str]:
        """What the browser of a user has who has signed in, and who is made if there is none."""
        from velado.service.accounts import sessions
        from velado.service.web.call import cookie_name

        with self.service.store.writing() as db:
            return {cookie_name(self.service.settings): sessions.open_session(db, _user(db, name, roles)).cookie}

    def link(self, name: str, *roles: str) -> str:
        """An address that signs a user in, who is made if there is none."""
        from velado.service.accounts.links import make_link

        with self.service.store.writing() as db:
            return f"{self.address}/link/{make_link(db, _user(db, name, roles))}"

    def stop(self) -> None:
        """End everything in good order."""
        running = [p for p in (*self.workers, self.web) if p is not None and p.poll() is None]
        if "service" in vars(self):
            self.service.close()
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            try:
                process.wait(WAIT)
            except subprocess.TimeoutExpired:
                process.kill()


def _user(db: Db, name: str, roles: tuple[str, ...]) -> User:
    from velado.service.accounts import users

    return users.find(db, name) or users.create(db, name, roles or ("steward",))


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
