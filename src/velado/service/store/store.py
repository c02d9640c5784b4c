"""The database of the service: how it is reached, read, written and brought up to date."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Engine, create_engine, event, make_url, select
from sqlalchemy.orm import Session

from velado.errors import InputError
from velado.sentences import Sentence
from velado.service.settings import LIVE, Settings
from velado.service.store import tables

BUSY_SECONDS = 30
FILE = "studio.sqlite"
MEMORY = "velado-memory"
READ = "velado-read"
POOL = {"pool_size": 10, "max_overflow": 30}
"""A connection for each of the 40 threads of a web process: none of them holds one while it waits for another."""
Found = TypeVar("Found")


def remember(db: Session, key: Hashable, find: Callable[[], Found]) -> Found:
    """What is found out once in a session that only reads, such as who may do what; one that writes asks each time."""
    memory = db.info.get(MEMORY)
    if memory is None:
        return find()
    if key not in memory:
        memory[key] = find()
    found: Found = memory[key]
    return found


class ReadingSession(Session):
    """A session for looking only: what was read in it is kept, and not read again for being forgotten meanwhile."""


@event.listens_for(ReadingSession, "loaded_as_persistent")
def _keep(db: Session, found: object) -> None:
    # A session holds what it has read weakly.
    db.info.setdefault(READ, []).append(found)


class Store:
    """One database. Every use is a transaction: ``with store.writing() as db`` commits at its end, or nothing happened.

    SQLite has one writer at a time; a transaction that will write says so at its begin, so that it waits and never fails
    in the middle.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sqlite = settings.sqlite
        self.engine = _engine(settings)

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Look at the store; nothing is changed. What was read stays readable: closing, unlike a rollback, expires nothing."""
        with self.open_reading() as db:
            yield db

    def open_reading(self, memory: dict[Hashable, Any] | None = None) -> Session:
        """A session for looking only, which its caller closes; it remembers what was found out in it (`remember`)."""
        return ReadingSession(self.engine, expire_on_commit=False, info={MEMORY: {} if memory is None else memory})

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Change the store: all of it at the end of the block, or nothing."""
        engine = self.engine.execution_options(velado_writes=True)
        with Session(engine, expire_on_commit=False) as db:
            yield db
            db.commit()

    def live(self, db: Session) -> Settings:
        """The settings with what an administrator changed."""
        return remember(db, "settings", lambda: self._live(db))

    def _live(self, db: Session) -> Settings:
        changed = {row.name: row.value for row in db.scalars(select(tables.ChangedSetting))}
        return self.settings.with_live({k: v for k, v in changed.items() if k in LIVE})

    def upgrade(self) -> str | None:
        """Bring the tables up to date, two processes that start at once one after the other; the version that they had."""
        # Alembic is loaded by who needs it only.
        from velado.service.store.migrate import upgrade

        return upgrade(self)

    def check(self) -> None:
        """Raise unless the store is reached and up to date."""
        from velado.service.store.migrate import check

        check(self)


def _engine(settings: Settings) -> Engine:
    if settings.sqlite:
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # SQLite makes its other files with the rights of this one.
        os.close(os.open(settings.folder / FILE, os.O_CREAT | os.O_RDWR, 0o600))
        engine = create_engine(f"sqlite:///{settings.folder / FILE}", connect_args={"timeout": BUSY_SECONDS}, **POOL)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        url = make_url(settings.database)
    except Exception:
        raise InputError("bad-setting", "the setting database is no address", hint="postgresql://user@host/name") from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        message = Sentence("the store is SQLite or PostgreSQL, not {kind}", kind=url.get_backend_name())
        raise InputError("bad-setting", message, hint="postgresql://user@host/name")
    url = url.set(drivername="postgresql+psycopg")
    if settings.database_password:
        url = url.set(password=settings.database_password)
    return create_engine(url, pool_pre_ping=True, **POOL)


def _prepare_sqlite(connection: Any, record: Any) -> None:
    # SQLAlchemy begins transactions itself (see below); the driver must not.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", f"busy_timeout={BUSY_SECONDS * 1000}"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Any) -> None:
    writes = connection.get_execution_options().get("velado_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
