"""What holds for every request and answer: the host is ours, bodies have limits, browsers are told to be careful.

Pure ASGI, around everything else, so that also an internal error and a refusal have the headers, and nothing of an error's
text comes to a log.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from velado.errors import InternalError, VeladoError
from velado.sentences import Sentence
from velado.service.errors import NotFound, Refused, TooLarge
from velado.service.settings import Settings
from velado.service.web import counters, problems

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "x-frame-options": "DENY",
}
HSTS = "max-age=31536000"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
UPLOADS = "/api/v1/uploads/"
SLOWEST = 1000
"""Bytes per second below which, in the long run, a body is cut."""
DRAINED, DRAIN_SECONDS = 16_000_000, 5
"""What is taken of a body that nobody wants: bytes and seconds."""
GIVEN_UP = (408, 413)
"""Answers to bodies that do not end."""
PORTS = {"http": "80", "https": "443"}
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
log = logging.getLogger("velado.service")


class BadHost(Refused):
    """A request that was sent to another name: by a forged header, or a name that was made to lead here."""

    def __init__(self) -> None:
        super().__init__(
            "bad-host",
            Sentence("the service is not known under this name"),
            hint="The setting 'url' says under which address browsers reach it.",
        )


class TooSlow(Refused):
    """A body that does not come."""

    status = 408

    def __init__(self) -> None:
        super().__init__("too-slow", Sentence("the body did not come in time"))


class Security:
    """The middleware. It must be the outermost."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._names = _names(settings)
        self._headers = {**HEADERS, **({"strict-transport-security": HSTS} if settings.secure else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        answer = _SecuredAnswer(scope, send, self._headers)
        body = _LimitedBody(scope, receive, answer, self._settings)
        answer.before = body.drain
        try:
            self._check(scope)
            await self._app(scope, body.receive, answer.send)
            await answer.refuse_if_said()
        except Refused as refused:
            await answer.refuse(refused)
        except Exception as error:
            if answer.is_refused:
                # What the application made of a body that was cut.
                await answer.refuse_if_said()
                return
            told = InternalError.of(error)
            log.error("%s", told)
            await answer.refuse(told)
        finally:
            counters.count(scope, answer.status, time.perf_counter() - began)

    def _check(self, scope: Scope) -> None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._is_own_host(hosts[0].decode("latin-1")):
            raise BadHost()
        # No name that we give has such characters, and stores refuse some of them by an error of their own.
        if CONTROL.search(scope["path"]) or "\ufffd" in scope["path"]:
            raise NotFound()
        if b"%00" in scope["query_string"]:
            raise Refused("bad-request", Sentence("the address has a character that no text has"))
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not _upload(scope) and length.isdigit() and int(length) > self._settings.body_bytes:
            raise too_large(self._settings)

    def _is_own_host(self, host: str) -> bool:
        name, port = _split(host.lower())
        return (name, port) in self._names or (name, None) in self._names


class _LimitedBody:
    """What a request sends, within the limits."""

    def __init__(self, scope: Scope, receive: Receive, answer: _SecuredAnswer, settings: Settings) -> None:
        self._receive = receive
        self._answer = answer
        self._settings = settings
        self._most = None if _upload(scope) else settings.body_bytes
        self._got = 0
        self._began = time.monotonic()
        self._ended = False

    async def receive(self) -> Message:
        if self._ended:
            return await self._receive()
        # Idle time counts from when the application asks: it may itself be busy writing what came.
        slowest = self._began + self._settings.upload_idle_seconds + self._got / SLOWEST
        left = min(self._settings.upload_idle_seconds, max(slowest - time.monotonic(), 0.05))
        try:
            message = await asyncio.wait_for(self._receive(), left)
        except TimeoutError:
            raise self._answer.set_refusal(TooSlow()) from None
        if message["type"] == "http.request":
            self._got += len(message.get("body", b""))
            self._ended = not message.get("more_body", False)
            if self._most is not None and self._got > self._most:
                raise self._answer.set_refusal(too_large(self._settings))
        return message

    async def drain(self) -> None:
        """Take what is left of a body that nobody wants: a connection that is closed over it loses the answer, too."""
        left = DRAINED
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while not self._ended and left > 0:
                    message = await self._receive()
                    left -= len(message.get("body", b""))
                    self._ended = message["type"] != "http.request" or not message.get("more_body", False)


class _SecuredAnswer:
    """What goes out, with our headers. Once a request is refused, only the refusal does."""

    def __init__(self, scope: Scope, send: Send, headers: Mapping[str, str]) -> None:
        self._scope = scope
        self._send = send
        self._headers = headers
        self._refused: VeladoError | None = None
        self.before: Callable[[], Awaitable[None]] | None = None
        self.status = 0

    def set_refusal(self, refused: Refused) -> Refused:
        """Refuse, whatever the application makes of the error."""
        self._refused = refused
        return refused

    async def send(self, message: Message) -> None:
        if self._refused is None:
            await self._pass_on(message)

    @property
    def is_refused(self) -> bool:
        """Whether the request is refused, whatever the application says."""
        return self._refused is not None

    async def refuse_if_said(self) -> None:
        """Answer with the refusal that `set_refusal` kept; the application's own answer was not sent."""
        if self._refused is not None:
            await self.refuse(self._refused)

    async def refuse(self, error: VeladoError) -> None:
        """Answer with a problem, if no answer has begun."""
        self._refused = error
        if not self.status:
            response = problems.answer(Request(self._scope), error)
            # What is left of the body is not read: nothing else can come through this connection.
            response.headers["Connection"] = "close"
            await response(self._scope, _nothing, self._pass_on)

    async def _pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self.before is not None and self.status not in GIVEN_UP:
                await self.before()
            wanted = dict(self._headers)
            if self._scope["path"].startswith("/api/"):
                wanted["cache-control"] = "no-store"
            message = {**message, "headers": _with(message.get("headers", ()), wanted)}
        await self._send(message)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def too_large(settings: Settings) -> TooLarge:
    """A body that is larger than allowed."""
    most = settings.body_bytes
    return TooLarge(
        "body-too-large",
        Sentence("a body has at most {most:,} bytes", most=most),
        hint="Files are sent in pieces, to /api/v1/uploads.",
    )


def attachment(name: str) -> str:
    """The value of Content-Disposition for a download; the name may be anything."""
    shown = CONTROL.sub("", name)[:150] or "download"
    ascii = re.sub(r"[^A-Za-z0-9 ._()-]", "_", shown)
    return f"attachment; filename=\"{ascii}\"; filename*=UTF-8''{quote(shown, safe='', errors='replace')}"


def _with(given: Iterable[tuple[bytes, bytes]], wanted: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer and those that it lacks. No value goes on after a line's end, and nobody else's page reads us."""
    kept = [
        (name, re.sub(rb"[\x00-\x08\x0a-\x1f\x7f]", b"", value))
        for name, value in given
        if not name.lower().startswith(b"access-control-")
    ]
    there = {name.lower() for name, _ in kept}
    return kept + [(n.encode(), v.encode()) for n, v in wanted.items() if n.encode() not in there]


def _upload(scope: Scope) -> bool:
    return bool(scope["method"] == "PATCH" and scope["path"].startswith(UPLOADS))


def _names(settings: Settings) -> set[tuple[str, str | None]]:
    """Names and ports under which the service is reached; port None: any, as when a loopback port is forwarded."""
    if settings.url:
        url = urlsplit(settings.url)
        name, port = _split(url.netloc.rpartition("@")[2].lower())
        usual = PORTS.get(url.scheme, "")
        # A proxy may or may not say the usual port.
        names: set[tuple[str, str | None]] = {(name, port or usual)} | ({(name, "")} if (port or usual) == usual else set())
        return names | ({(own, None) for own in LOOPBACK} if name in LOOPBACK else set())
    listening = f"[{settings.host}]" if ":" in settings.host else settings.host.lower()
    return {(name, None) for name in (*LOOPBACK, listening)}


def _split(host: str) -> tuple[str, str | None]:
    """Name and port of a Host header."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?", host)
    return ("", "") if found is None else (found[1].rstrip(".") if found[1] else "", found[2] or "")
