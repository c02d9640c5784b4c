"""Passwords of databases, asked for on a terminal: typed once per command, shown nowhere."""

from __future__ import annotations

import sys
from getpass import getpass

from velado.cli.language import translate_plain
from velado.cli.terminal import without_bar
from velado.tables import address

_typed: dict[str, str] = {}


def install() -> None:
    """Ask where there is somebody to ask, and nowhere else."""
    _typed.clear()
    there = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    address.ask_password = ask if there else None


def ask(where: str) -> str | None:
    """The password of an address; None if nobody types one."""
    if where not in _typed:
        try:
            with without_bar():
                _typed[where] = getpass(translate_plain("Password of {address}: ", address=where))
        except (EOFError, OSError):
            return None
    return _typed[where] or None
