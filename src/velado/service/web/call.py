"""One request: the service that it reaches, who asks, in which language."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy.orm import Session as Db

from velado.results import Discreet
from velado.service import audit
from velado.service.accounts import sessions, tokens
from velado.service.accounts.caller import Caller
from velado.service.errors import Refused, Unauthenticated
from velado.service.secrets import digest
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.store.tables import Session, Token, User, now
from velado.service.web.languages import language_of

SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, repr=False)
class Call(Discreet):
    """What a resource needs to answer: transactions, the caller, the audit log."""

    service: Service
    caller: Caller
    language: str
    request: Request

    @contextmanager
    def reading(self) -> Iterator[Db]:
        """A transaction that changes nothing."""
        with self.service.store.reading() as db:
            yield db

    @contextmanager
    def writing(self) -> Iterator[Db]:
        """A transaction that is committed at its end."""
        with self.service.store.writing() as db:
            yield db

    def settings(self, db: Db) -> Settings:
        """The settings as they are now."""
        return self.service.store.live(db)

    def audit(self, db: Db, action: str, subject: str = "", **detail: Any) -> None:
        """Write down what is done, in its transaction."""
        audit.append(db, self.service.secrets, self.caller.id, action, subject, **detail)


class ForgedRequest(Refused):
    """A request that another site may have made the browser send."""

    status = 403

    def __init__(self) -> None:
        super().__init__(
            "forged-request", "the request does not come from this service's own pages",
            hint="Send the header X-CSRF-Token with the token of the session, or use a token of your own.",
        )  # fmt: skip


def cookie_name(settings: Settings) -> str:
    """The name of the session's cookie; browsers hold a ``__Host-`` cookie to this host and to TLS."""
    return "__Host-velado" if settings.secure else "velado"


def call(request: Request) -> Call:
    """The dependency of every resource that is not for everybody."""
    service: Service = request.app.state.service
    header = request.headers.get("authorization", "")
    scheme, _, text = header.partition(" ")
    cookie = request.cookies.get(cookie_name(service.settings))
    with service.store.reading() as db:
        known: tuple[Session | Token, User] | None = None
        if header:
            known = tokens.find(db, text.strip()) if scheme.lower() == "bearer" else None
        elif cookie:
            known = sessions.find(db, cookie, service.store.live(db))
    if known is None:
        raise Unauthenticated()
    key, user = known
    if isinstance(key, Session):
        check_own(request, key)
    _touch(service, key)
    caller = Caller(
        user.id, user.name, tuple(user.roles), user.language,
        tuple(key.scopes) if isinstance(key, Token) else None, key.id if isinstance(key, Token) else None,
    )  # fmt: skip
    return Call(service, caller, language_of(request, user.language, service.settings.language), request)


Called = Annotated[Call, Depends(call)]


def check_own(request: Request, session: Session) -> None:
    """What changes something comes from our own pages: it repeats the session's token, and the browser says so, too."""
    if request.method in SAFE:
        return
    given = digest(request.headers.get("x-csrf-token", ""))
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    ours = origin is None or origin.partition("://")[2] == request.headers.get("host")
    if not hmac.compare_digest(given, session.csrf) or site not in ("same-origin", "none") or not ours:
        raise ForgedRequest()


def _touch(service: Service, key: Session | Token) -> None:
    """Write down that a session or token is in use, now and then."""
    last = key.seen if isinstance(key, Session) else key.used
    if last is not None and now() - last < sessions.TOUCH:
        return
    with service.store.writing() as db:
        if isinstance(key, Session):
            found = db.get(Session, key.hash)
            if found is not None:
                found.seen = now()
        else:
            token = db.get(Token, key.id)
            if token is not None:
                token.used = now()
