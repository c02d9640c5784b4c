"""One unit of work: who does something, and the one session in which all of it is read."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from sqlalchemy.orm import Session as Db

from velado.results import Discreet
from velado.service.access.caller import Caller
from velado.service.admin import audit
from velado.service.errors import Unauthenticated
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.store.store import Store
from velado.service.store.tables import User


class Reach(IntEnum):
    """What a unit of work may do to the store: a GET reads, one of a program may ask a worker as well, others write."""

    READS = 0
    ASKS = 1
    WRITES = 2


class Unasked(Exception):
    """A page that is only looked at would have to ask a worker: it is asked by a POST."""


@dataclass(repr=False)
class Reading(Discreet):
    """The session in which a unit of work reads, None while there is none; what was found out is kept until something is written."""

    db: Db | None = None
    memory: dict[Hashable, Any] = field(default_factory=dict)

    def open(self, store: Store) -> Db:
        """The session."""
        if self.db is None:
            self.db = store.open_reading(self.memory)
        return self.db

    def close(self) -> None:
        """Let go of the session."""
        db, self.db = self.db, None
        if db is not None:
            db.close()


@dataclass(frozen=True, repr=False)
class UnitOfWork(Discreet):
    """What an operation needs: the service, the caller, transactions, the audit log. It knows nothing of HTTP.

    All that is read in a unit of work is read in one session, and so in one transaction. What is written is a transaction of its
    own; what is read after it is read anew.
    """

    service: Service
    caller: Caller
    language: str
    reach: Reach = field(default=Reach.WRITES, kw_only=True)
    read_in: Reading = field(default_factory=Reading, compare=False, kw_only=True)

    @contextmanager
    def reading(self) -> Iterator[Db]:
        """The session of this unit of work; nothing is changed in it."""
        yield self.read_in.open(self.service.store)

    @contextmanager
    def writing(self) -> Iterator[Db]:
        """A transaction that is committed at its end; a GET has none."""
        if self.reach < Reach.WRITES:
            raise RuntimeError("a GET writes nothing")
        with self._transaction() as db:
            yield db

    @contextmanager
    def asking(self) -> Iterator[Db]:
        """A transaction in which a quick job is submitted: a question to a worker, no record of work."""
        if self.reach < Reach.ASKS:
            raise Unasked()
        with self._transaction() as db:
            yield db

    @contextmanager
    def disclosing(self) -> Iterator[Db]:
        """A transaction that writes down what is handed out, one of ``audit.DISCLOSURES``; a GET has this one."""
        with self._transaction() as db:
            yield db

    @contextmanager
    def _transaction(self) -> Iterator[Db]:
        self.close()
        self.read_in.memory.clear()
        with self.service.store.writing() as db:
            yield db

    def close(self) -> None:
        """Let go of the session: at the end of the work, before something is written, and before anything is waited for.

        Else many requests that wait for a thread would hold all connections, and those in threads would wait for one.
        """
        self.read_in.close()

    def settings(self, db: Db) -> Settings:
        """The settings as they are now."""
        return self.service.store.live(db)

    def user(self, db: Db) -> User:
        """The caller's own row; who was deleted meanwhile is nobody."""
        user = db.get(User, self.caller.id)
        if user is None:
            raise Unauthenticated()
        return user

    def audit(self, db: Db, action: str, subject: str = "", **detail: Any) -> None:
        """Write down what is done, in its transaction."""
        if self.reach < Reach.WRITES and action not in audit.DISCLOSURES:
            raise RuntimeError(f"a GET writes nothing: {action}")
        audit.append(db, self.service.secrets, self.caller.id, action, subject, **detail)

    def audit_reading(self, action: str, subject: str, **detail: Any) -> None:
        """Write down what is handed out, before it is told; what was handed out a moment ago is not written down again."""
        with self.reading() as db:
            repeated = audit.has_recent_line(db, self.caller.id, action, subject, detail)
        if not repeated:
            with self.disclosing() as db:
                self.audit(db, action, subject, **detail)
