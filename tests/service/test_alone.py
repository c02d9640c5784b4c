"""``velado studio`` for one person: one command, a link that works once, one service per folder, a quiet end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from servers.studio import VELADO, WAIT, until


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    process = subprocess.Popen(_command(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=_environment())
    yield process, tmp_path / "studio"
    if process.poll() is None:
        process.kill()
        process.wait()


def _command(folder: Path, *more: str) -> list[str]:
    return [str(VELADO), "studio", "--folder", str(folder / "studio"), "--port", "0", "--no-browser", *more]


def _environment() -> dict[str, str]:
    return {**os.environ, "VELADO_LANGUAGE": "en"}


def _link(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+/link/\S+", line):
            return found[0]
    raise AssertionError("it ended without a link")


def test_one_command_is_one_service_from_its_link_to_its_end(alone: tuple[subprocess.Popen[str], Path]) -> None:
    """A link signs in once; a second command leads to the first; everything ends with the command."""
    process, folder = alone
    link = _link(process)
    address = link.partition("/link/")[0]
    usual = {"base_url": address, "timeout": WAIT}
    with httpx2.Client(**usual) as browser, httpx2.Client(**usual) as other:
        assert browser.get("/api/v1/session").status_code == 401
        entered = browser.get(link)
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert "httponly" in entered.headers["set-cookie"].lower()
        assert set(browser.get("/api/v1/session").json()["roles"]) == {"administrator", "steward"}
        assert other.get(link).status_code == 401
        assert other.get("/api/v1/session").status_code == 401
        # The worker is there: a table is inspected.
        token = browser.get("/api/v1/session").json()["csrf"]
        made = browser.post(
            "/api/v1/sources", json={"name": "a", "sample": "hospital", "rows": 60}, headers={"X-CSRF-Token": token}
        )
        job = made.json()["job"]
        until(lambda: browser.get(f"/api/v1/jobs/{job}").json()["state"] == "done")
    second = subprocess.run(_command(folder.parent), capture_output=True, text=True, timeout=WAIT, env=_environment())
    assert second.returncode == 0, second.stderr
    found = re.search(r"(http://\S+)/link/", second.stdout)
    assert found is not None
    assert found[1] == address
    assert json.loads((folder / "running.json").read_text())["address"] == address
    worker = _children(process.pid)
    assert worker
    process.send_signal(signal.SIGINT)
    assert process.wait(WAIT) == 0
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in worker))
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_without_accounts_it_listens_on_this_machine_only(tmp_path: Path) -> None:
    environment = {**_environment(), "VELADO_STUDIO_HOST": "0.0.0.0"}
    refused = subprocess.run(_command(tmp_path), capture_output=True, text=True, timeout=WAIT, env=environment)
    assert refused.returncode == 2
    assert "this machine only" in refused.stderr


def _children(pid: int) -> list[int]:
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
