"""A process that does jobs, as its supervisor sees it: started, spoken to, listened to, killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from velado.service.settings import PREFIX, Settings

COMMAND = (sys.executable, "-P", "-m", "velado.service.jobs.process")
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "XDG_CACHE_HOME", "PYTHONPATH", "LD_LIBRARY_PATH")
"""Variables that the process inherits, with those of numba. Everything else may be a secret of somebody."""
PIECE = 1 << 16
MOST_LINE = 64 << 20
"""Bytes of one message at most."""


def environment(settings: Settings, temporary: Path) -> dict[str, str]:
    """The environment of a process: what Python needs, and where the service's key is, which only its user can read."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("NUMBA_")}
    kept |= {"TMPDIR": str(temporary), f"{PREFIX}FOLDER": str(settings.folder)}
    if settings.key:
        kept[f"{PREFIX}KEY"] = settings.key
    else:
        kept[f"{PREFIX}KEY_FILE"] = str(settings.key_file)
    if settings.study_folder:
        kept[f"{PREFIX}STUDY_FOLDER"] = settings.study_folder
    return kept


class Child:
    """A process of its own session. Nothing here waits: what cannot be written yet is written later."""

    def __init__(self, settings: Settings, folder: Path, command: Sequence[str] = COMMAND) -> None:
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True, mode=0o700)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment(settings, self.temporary),
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self.out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)
        os.set_blocking(self.out.fileno(), False)
        self._unsent = bytearray()
        self._heard = bytearray()
        self.ended = False

    @property
    def pid(self) -> int:
        """The number of the process, and of its group."""
        return self._process.pid

    def send(self, message: Mapping[str, Any]) -> None:
        """Say something to it."""
        self._unsent += json.dumps(message).encode() + b"\n"
        self.flush()

    def flush(self) -> None:
        """Write what could not be written yet."""
        with suppress(OSError):
            while self._unsent and (written := self._in.write(bytes(self._unsent[:PIECE]))):
                del self._unsent[:written]

    def hear(self) -> list[dict[str, Any]]:
        """What it has said since; ``ended`` is set where that was the last."""
        whole = False
        while not self.ended:
            try:
                piece = self.out.read(PIECE)
            except OSError:
                piece = b""
            if piece is None:
                break
            self._heard += piece
            whole = whole or b"\n" in piece
            self.ended = not piece or len(self._heard) > MOST_LINE
        if not whole:
            return []
        *lines, rest = bytes(self._heard).split(b"\n")
        self._heard = bytearray(rest)
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            self.ended = True
            return []

    def kill(self) -> None:
        """End it and all that it started, and wait until it is gone."""
        if self._process.returncode is not None:
            return
        # The group's number is its own as long as nobody has waited for it.
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.ended = True
        for stream in (self._in, self.out):
            with suppress(OSError):
                stream.close()
