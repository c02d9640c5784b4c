"""What an engine may use while it works for a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from velado.progress import Progress
from velado.tables.connections import Connections
from velado.tables.sink import Sink

MEMORY = 768_000_000
"""Bytes that an engine may use unless it is told otherwise."""


@dataclass(frozen=True)
class Session:
    """``progress`` ends the engine's statements when the call is cancelled; ``memory`` in bytes; temporary files are kept in
    the folder ``scratch`` where that can be written to, else where the system keeps them. ``connections`` are those to
    servers: what is opened in one session shares them, and so sees one snapshot. ``sinks`` are known to be written later."""

    progress: Progress = field(default_factory=Progress)
    memory: int = field(default_factory=lambda: MEMORY)
    scratch: Path | None = None
    connections: Connections = field(default_factory=Connections)
    sinks: tuple[Sink, ...] = ()
