"""What an engine may use while it works for a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from velado.progress import Progress

MEMORY = 768_000_000
"""Bytes that an engine may use unless it is told otherwise."""


@dataclass(frozen=True)
class Session:
    """``progress`` ends the engine's statements when the call is cancelled; ``memory`` in bytes; temporary files are kept in
    the folder ``scratch`` where that can be written to, else where the system keeps them."""

    progress: Progress = field(default_factory=Progress)
    memory: int = field(default_factory=lambda: MEMORY)
    scratch: Path | None = None
