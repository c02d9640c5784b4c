"""The service for one person on one machine: web and worker by one command, and a link that signs in once."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from velado.errors import InputError
from velado.sentences import Sentence
from velado.service.accounts.links import make_link
from velado.service.accounts.users import single_user
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.web import serving

LOOPBACK = ("127.0.0.1", "localhost", "::1")
WAIT = 10
Told = Callable[[str, str], None]


def run(settings: Settings, application: serving.Application, *, browser: bool, told: Told) -> None:
    """Serve until Ctrl-C. Where it runs already, the browser is led there."""
    if settings.host not in LOOPBACK:
        raise InputError(
            "not-alone",
            Sentence("without accounts it listens on this machine only, not at {host}", host=settings.host),
            hint="'velado studio serve' is for a team.",
        )
    service = Service.open(settings, make=True)
    try:
        with _lock_folder(settings.folder) as mine:
            if mine is None:
                _show_link(service, _running(settings.folder), browser, told)
            else:
                _serve(service, application, mine, browser, told)
    finally:
        service.close()


def _serve(service: Service, application: serving.Application, state: Path, browser: bool, told: Told) -> None:
    listening = serving.listen(service.settings)
    address = serving.address_of(listening)
    with _worker(service.settings):
        state.write_text(json.dumps({"address": address}), encoding="utf-8")
        serving.serve(service, application, listening, lambda: _show_link(service, address, browser, told))


def _show_link(service: Service, address: str, browser: bool, told: Told) -> None:
    """Show the way, and open the browser."""
    with service.store.writing() as db:
        link = f"{address}/link/{make_link(db, single_user(db))}"
    told(address, link)
    if browser:
        webbrowser.open(link)


@contextmanager
def _worker(settings: Settings) -> Iterator[None]:
    """A worker in a process of its own; started again if it dies."""
    import threading

    ending = threading.Event()
    started: list[subprocess.Popen[bytes]] = []

    def watch() -> None:
        while not ending.is_set():
            process = subprocess.Popen(
                [sys.executable, "-m", "velado.service.jobs.worker"],
                env={**os.environ, **serving.as_environment(settings)},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            started.append(process)
            while process.poll() is None and not ending.wait(0.2):
                pass
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(WAIT)
                except subprocess.TimeoutExpired:
                    process.kill()
            else:
                ending.wait(1)

    thread = threading.Thread(target=watch, name="worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join(WAIT + 1)


@contextmanager
def _lock_folder(folder: Path) -> Iterator[Path | None]:
    """The file that says where the service of this folder is; None: another process has it."""
    path = folder / "running.json"
    with open(path, "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield None
            return
        os.chmod(path, 0o600)
        yield path
        path.write_text("", encoding="utf-8")


def _running(folder: Path) -> str:
    """Where the other process serves; it may just have begun."""
    for _ in range(10 * WAIT):
        try:
            return str(json.loads((folder / "running.json").read_text(encoding="utf-8"))["address"])
        except (ValueError, KeyError):
            time.sleep(0.1)
    raise InputError("already-running", "another process uses this folder, and does not answer", file=folder)
