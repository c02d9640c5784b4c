"""The database of the service: how it is reached, read, written and brought up to date."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, make_url, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from velado.errors import InputError
from velado.sentences import Sentence
from velado.service.settings import LIVE, Settings
from velado.service.store import tables

BUSY_SECONDS = 30
FILE = "studio.sqlite"
MIGRATIONS = Path(__file__).parent / "migrations"


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
        with Session(self.engine, expire_on_commit=False) as db:
            yield db

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Change the store: all of it at the end of the block, or nothing."""
        engine = self.engine.execution_options(velado_writes=True)
        with Session(engine, expire_on_commit=False) as db:
            yield db
            db.commit()

    def live(self, db: Session) -> Settings:
        """The settings with what an administrator changed."""
        changed = {row.name: row.value for row in db.scalars(select(tables.Changed))}
        return self.settings.with_live({k: v for k, v in changed.items() if k in LIVE})

    def upgrade(self) -> None:
        """Bring the tables up to date; two processes that start at once do it one after the other."""
        from velado.service.store.migrate import upgrade

        upgrade(self)

    def check(self) -> None:
        """Raise unless the store is reached and up to date."""
        from velado.service.store.migrate import check

        check(self)


def _engine(settings: Settings) -> Engine:
    if settings.sqlite:
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # SQLite makes its other files with the rights of this one.
        os.close(os.open(settings.folder / FILE, os.O_CREAT | os.O_RDWR, 0o600))
        engine = create_engine(f"sqlite:///{settings.folder / FILE}", connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        url = make_url(settings.database)
    except Exception:
        raise InputError(
            "bad-setting", "the setting database is no address", hint="postgresql://user@host/name"
        ) from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        message = Sentence("the store is SQLite or PostgreSQL, not {kind}", kind=url.get_backend_name())
        raise InputError("bad-setting", message, hint="postgresql://user@host/name")
    url = url.set(drivername="postgresql+psycopg")
    if settings.database_password:
        url = url.set(password=settings.database_password)
    return create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=30)


def _prepare_sqlite(connection: Any, record: Any) -> None:
    # SQLAlchemy begins transactions itself (see below); the driver must not.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", f"busy_timeout={BUSY_SECONDS * 1000}"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Any) -> None:
    writes = connection.get_execution_options().get("velado_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def unreachable(error: OperationalError) -> InputError:
    """The store does not answer; what the driver says may name users and hosts, and is not repeated."""
    return InputError(
        "no-store",
        "the database of the service does not answer",
        hint="Look at the setting 'database', and at the server.",
    )
