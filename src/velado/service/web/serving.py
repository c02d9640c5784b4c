"""The web process: an application behind uvicorn, in one process or in several that share a socket."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from typing import Any

import uvicorn
from fastapi import FastAPI

from velado.errors import InputError, reason
from velado.sentences import Sentence
from velado.service.service import Service
from velado.service.settings import PREFIX, Settings

KEEP_ALIVE = 75
"""Seconds for which idle connections stay open: longer than what proxies and clients reuse them for."""
GRACE = 5
BACKLOG = 512


Application = Callable[[Service], FastAPI]
"""What makes the application of a service."""


def listen(settings: Settings) -> socket.socket:
    """The socket at which the service listens."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # The protocol is named because asyncio sends small answers at once only where it knows that it is TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise InputError(
            "no-port",
            Sentence("cannot listen at {host}:{port}: {why}", host=settings.host, port=settings.port, why=reason(error)),
            hint="Choose another with --port; 0 takes any that is free.",
        ) from None
    listening.listen(BACKLOG)
    listening.set_inheritable(True)
    return listening


def address_of(listening: socket.socket) -> str:
    """The address of a socket as a browser takes it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Quiet(uvicorn.Server):
    """A server that says when it is ready, and ends with the signal that asked it to as its only consequence."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def serve(service: Service, application: Application, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until a signal ends it."""
    log_to_stderr()
    server = _Quiet(uvicorn.Config(application(service), **_options(service.settings)), ready)
    with suppress(KeyboardInterrupt):
        server.run([listening])


def serve_many(settings: Settings, factory: str, listening: socket.socket, processes: int) -> None:
    """Answer requests in several processes; ``factory`` names what makes the application of each from the environment."""
    os.environ |= as_environment(settings)
    uvicorn.run(factory, factory=True, workers=processes, fd=listening.fileno(), **_options(settings))


def as_environment(settings: Settings) -> dict[str, str]:
    """The settings as environment variables."""
    usual = Settings()
    changed = {f.name: getattr(settings, f.name) for f in fields(settings)}
    return {f"{PREFIX}{name.upper()}": str(v) for name, v in changed.items() if v != getattr(usual, name) or name == "folder"}


def log_to_stderr() -> None:
    """Our own lines only: what libraries say of requests may hold names and values."""
    log = logging.getLogger("velado.service")
    if not log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": True,
        "forwarded_allow_ips": settings.proxies,
        "timeout_keep_alive": KEEP_ALIVE,
        "timeout_graceful_shutdown": GRACE,
        "lifespan": "off",
    }
