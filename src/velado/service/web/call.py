"""One request: the service that it reaches, who asks, in which language."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response
from sqlalchemy.orm import Session as Db

from velado.service.access.caller import Caller
from velado.service.accounts import sessions, tokens
from velado.service.errors import Refused, Unauthenticated
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.store.tables import Session, Token, User, now
from velado.service.unit_of_work import Reach, Reading, UnitOfWork
from velado.service.web.languages import language_of

SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, repr=False)
class Call(UnitOfWork):
    """A unit of work that a request began."""

    request: Request

    @property
    def cookie(self) -> str | None:
        """The cookie of the session; None if a token asks."""
        return None if self.caller.scopes is not None else cookie_of(self.request)


class ForgedRequest(Refused):
    """A request that another site may have made the browser send."""

    status = 403

    def __init__(self) -> None:
        super().__init__(
            "forged-request",
            "the request does not come from this service's own pages",
            hint="Send the header X-CSRF-Token with the token of the session, or use a token of your own.",
        )


def cookie_name(settings: Settings) -> str:
    """The name of the session's cookie; browsers hold a ``__Host-`` cookie to this host and to TLS."""
    return "__Host-velado" if settings.secure else "velado"


def cookie_of(request: Request) -> str | None:
    """The session's cookie, whether it is valid or not."""
    return request.cookies.get(cookie_name(request.app.state.service.settings))


def set_cookie(response: Response, settings: Settings, cookie: str) -> None:
    """Give the browser its session. Lax: a return from a provider, which is a link of another site, must find it."""
    response.set_cookie(cookie_name(settings), cookie, path="/", secure=settings.secure, httponly=True, samesite="lax")


def clear_cookie(response: Response, settings: Settings) -> None:
    """Take the session from the browser."""
    response.delete_cookie(cookie_name(settings), secure=settings.secure, httponly=True, samesite="lax")


def call(request: Request) -> Iterator[Call]:
    """The dependency of every resource that is not for everybody."""
    with call_of(request, request.headers.get("x-csrf-token", "")) as work:
        work.close()
        yield work


@contextmanager
def call_of(request: Request, csrf: str, looking: Reach = Reach.ASKS) -> Iterator[Call]:
    """Who asks, by a token or by a session; what changes something in a session must repeat its token ``csrf``.

    ``looking``: what a GET may do, which never writes.
    """
    service: Service = request.app.state.service
    header = request.headers.get("authorization", "")
    scheme, _, text = header.partition(" ")
    cookie = cookie_of(request)
    reading = Reading()
    try:
        key, user = _known(service, reading.open(service.store), header, scheme, text, cookie)
        if isinstance(key, Session):
            check_own(request, cookie or "", csrf)
        if _is_due(key):
            reading.close()
            _touch(service, key)
        scopes, token = (tuple(key.scopes), key.id) if isinstance(key, Token) else (None, None)
        caller = Caller(user.id, user.name, tuple(user.roles), user.language, scopes, token)
        language = language_of(request, user.language, service.settings.language)
        reach = looking if request.method in SAFE else Reach.WRITES
        yield Call(service, caller, language, request, read_in=reading, reach=reach)
    finally:
        reading.close()


def _known(service: Service, db: Db, header: str, scheme: str, text: str, cookie: str | None) -> tuple[Session | Token, User]:
    """Whose token or session it is."""
    known: tuple[Session | Token, User] | None = None
    if header:
        known = tokens.find(db, text.strip()) if scheme.lower() == "bearer" else None
    elif cookie:
        known = sessions.find(db, cookie, service.store.live(db))
    if known is None:
        raise Unauthenticated()
    return known


Called = Annotated[Call, Depends(call)]


def check_own(request: Request, cookie: str, csrf: str) -> None:
    """What changes something comes from our own pages: it repeats the session's token, and the browser says so, too."""
    if request.method in SAFE:
        return
    if not hmac.compare_digest(csrf.encode(), sessions.csrf_of(cookie).encode()):
        raise ForgedRequest()
    check_origin(request)


def check_origin(request: Request) -> None:
    """Raise if the browser says that another site made it send the request; also for signing in."""
    settings: Settings = request.app.state.service.settings
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise ForgedRequest()
    origin = request.headers.get("origin")
    if origin is not None and origin not in own_origins(settings, request.headers.get("host", "")):
        raise ForgedRequest()


def own_origins(settings: Settings, host: str) -> tuple[str, ...]:
    """What a browser says of our own pages: the address of the settings, else the host that it came to."""
    if not settings.url:
        return f"http://{host.lower()}", f"https://{host.lower()}"
    url = urlsplit(settings.url.lower())
    usual = {"http": ":80", "https": ":443"}.get(url.scheme, "")
    return (f"{url.scheme}://{url.netloc.removesuffix(usual)}",)


def address_of(request: Request) -> str:
    """Where a request comes from; what proxies say is believed of our own proxies only."""
    settings: Settings = request.app.state.service.settings
    ours = [part.strip() for part in settings.proxies.split(",")]
    peer = request.client.host if request.client else ""
    forwarded = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    # Each proxy adds who called it at the end: the last that is none of ours is the client, all before may be invented.
    for address in (peer, *(part.strip() for part in reversed(forwarded) if part.strip())):
        if not any(_within(address, place) for place in ours):
            return _home(address)
    return peer


def _within(address: str, place: str) -> bool:
    """Whether an address is a place, or in a network such as 10.0.0.0/8."""
    try:
        return ip_address(address) in ip_network(place, strict=False)
    except ValueError:
        return address == place


def _home(address: str) -> str:
    """Whom an address belongs to: a home has 2⁶⁴ addresses of IPv6, and could try each once."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:64]
    return str(found) if found.version == 4 else str(ip_network((found, 64), strict=False))


def _is_due(key: Session | Token) -> bool:
    """Whether it is to be written down again that a session or token is in use."""
    last = key.seen if isinstance(key, Session) else key.used
    return last is None or now() - last >= sessions.TOUCH


def _touch(service: Service, key: Session | Token) -> None:
    """Write down that a session or token is in use, now and then."""
    with service.store.writing() as db:
        if isinstance(key, Session):
            found = db.get(Session, key.hash)
            if found is not None:
                found.seen = now()
        else:
            token = db.get(Token, key.id)
            if token is not None:
                token.used = now()
