"""Tokens of programs: named, scoped, with an end, shown once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.errors import suggest
from velado.sentences import Sentence
from velado.service.access.permissions import SCOPES
from velado.service.errors import Invalid
from velado.service.secrets import digest, new_token
from velado.service.settings import Settings
from velado.service.store.tables import Token, User, now

PREFIX = "velado_"
"""Tokens begin with it, so that scanners of repositories find lost ones."""


def make(db: Db, user: User, name: str, scopes: Sequence[str], days: int) -> tuple[Token, str]:
    """A new token, and the text that is shown once."""
    for scope in scopes:
        if scope not in SCOPES:
            message = Sentence("there is no scope '{scope}'", scope=scope)
            raise Invalid("unknown-scope", message, hint=suggest(scope, SCOPES), fields={"path": "scopes"})
    text = PREFIX + new_token()
    token = Token(user_id=user.id, name=name, hash=digest(text), scopes=sorted(set(scopes)), expires=now() + timedelta(days=days))
    db.add(token)
    db.flush()
    return token, text


def find(db: Db, text: str) -> tuple[Token, User] | None:
    """The token of a text, and whose it is, if it is still valid."""
    token = db.scalars(select(Token).where(Token.hash == digest(text))).first()
    if token is None or token.expires < now():
        return None
    user = db.get(User, token.user_id)
    return None if user is None or not user.active else (token, user)


def checked_days(settings: Settings, days: int) -> int:
    """For how many days a token is to be valid, if the settings allow so many."""
    if not 1 <= days <= settings.token_days:
        message = Sentence("a token is valid for 1 to {most:,} days", most=settings.token_days)
        raise Invalid("bad-token-days", message, fields={"path": "days"})
    return days


def revoke(db: Db, token: Token) -> None:
    """From now on it is of no use."""
    db.delete(token)
    db.flush()
