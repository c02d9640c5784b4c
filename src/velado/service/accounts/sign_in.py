"""Signing in by name and password, and by a link: counted, compared, answered alike, written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy.orm import Session as Db

from velado.results import Discreet
from velado.sentences import Sentence
from velado.service.accounts import links, passwords, sessions, throttle, users
from velado.service.admin import audit
from velado.service.errors import Invalid, Refused
from velado.service.service import Service
from velado.service.store.tables import User


class SignInFailed(Refused):
    """Wrong password, no such user, a user who is not let in: the same for all."""

    status = 401

    def __init__(self) -> None:
        super().__init__("sign-in-failed", Sentence("the name or the password is wrong"))


@dataclass(frozen=True, repr=False)
class SignedIn(Discreet):
    """Who has signed in, and what the browser gets."""

    NAMES: ClassVar[tuple[str, ...]] = ()
    user: User
    opened: sessions.Opened


def by_password(service: Service, name: str, password: str, address: str, before: str | None = None) -> SignedIn:
    """A new session of who knows the password; the browser's session ``before`` ends."""
    wanted = users.plain(name)
    with service.store.writing() as db:
        counted = throttle.count(db, service.store.live(db), wanted, address)
    with service.store.reading() as db:
        user = users.find(db, wanted)
    # Outside of any transaction: it takes a while on purpose.
    right = passwords.verify(None if user is None else user.password, password)
    with service.store.writing() as db:
        found = None if user is None else db.get(User, user.id)
        if not right or found is None or not found.active or user is None or found.password != user.password:
            audit.append(db, service.secrets, "", "session.failed", "" if found is None else found.id)
            failed = True
        else:
            throttle.clear_failures(db, counted, wanted)
            if passwords.is_outdated(found.password or ""):
                found.password = passwords.hash_password(password)
            signed_in, failed = open_for(db, service, found, before, by="password"), False
    if failed:
        raise SignInFailed()
    return signed_in


def by_link(service: Service, token: str, address: str, password: str | None = None, before: str | None = None) -> SignedIn:
    """A new session of who has a link; ``password`` is the new one that some links ask for."""
    with service.store.writing() as db:
        counted = throttle.count(db, service.store.live(db), None, address)
    try:
        return _use_link(service, token, password, before, counted)
    except links.BadLink:
        with service.store.writing() as db:
            audit.append(db, service.secrets, "", "session.failed", by="link")
        raise


def _use_link(service: Service, token: str, password: str | None, before: str | None, counted: list[str]) -> SignedIn:
    with service.store.writing() as db:
        if links.peek(db, token) != (password is not None):
            message = Sentence("a link for a forgotten password comes with a new password, and no other link does")
            raise Invalid("password-and-link", message, fields={"path": "password"})
        user = links.use(db, token)
        if password is not None:
            users.set_password(db, user, password)
            audit.append(db, service.secrets, user.id, "user.password", user.id)
        throttle.clear_failures(db, counted, None)
        return open_for(db, service, user, before, by="link")


def open_for(db: Db, service: Service, user: User, before: str | None, *, by: str) -> SignedIn:
    """A new session for somebody who has shown who they are; written down."""
    if before:
        sessions.close(db, before)
    sessions.sweep(db, service.store.live(db))
    opened = sessions.open_session(db, user)
    audit.append(db, service.secrets, user.id, "session.opened", user.id, by=by)
    return SignedIn(user, opened)
