"""``velado key``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado.cli.terminal import say
from velado.operations import create_key


def command(file: Annotated[Path, typer.Argument(help="File for the key; it must not exist.")]) -> None:
    """Make a random key for encrypt, pseudonymize and shift."""
    create_key(file)
    say("Wrote {file}. Whoever has it can undo or guess what it protects: keep it private, and keep a copy.", file=file)
