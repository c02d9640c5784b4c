"""Migrations of the store by Alembic: each version is a file in ``migrations/versions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from velado.errors import InputError
from velado.service.store.locks import one_by_one

if TYPE_CHECKING:
    from velado.service.store.store import Store

MIGRATIONS = Path(__file__).parent / "migrations"
LOCK = 0x76656C61
"""The advisory lock under which a PostgreSQL store is brought up to date."""


def configuration(connection: Connection | None = None) -> Config:
    """Alembic's configuration, without any file."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def newest() -> str | None:
    """The newest version that this program knows."""
    return ScriptDirectory.from_config(configuration()).get_current_head()


def upgrade(store: Store) -> str | None:
    """Bring the tables up to date; the version that they had."""
    try:
        engine = store.engine.execution_options(velado_writes=True)
        with engine.begin() as connection:
            one_by_one(connection, LOCK)
            before = _known_version(connection)
            command.upgrade(configuration(connection), "head")
            return before
    except OperationalError as error:
        raise unreachable(error) from None


def check(store: Store) -> None:
    """Raise unless the store is up to date."""
    try:
        with store.engine.connect() as connection:
            if MigrationContext.configure(connection).get_current_revision() != newest():
                raise InputError(
                    "old-store", "the store is of another version of Velado", hint="velado studio upgrade brings it up to date."
                )
    except OperationalError as error:
        raise unreachable(error) from None


def _known_version(connection: Connection) -> str | None:
    """The version of the tables; a store that a newer program wrote is left alone."""
    current = MigrationContext.configure(connection).get_current_revision()
    known = {script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions()}
    if current is not None and current not in known:
        raise InputError("new-store", "a newer Velado wrote this store", hint="Install that version, or restore a backup.")
    return current


def unreachable(error: OperationalError) -> InputError:
    """The store does not answer; what the driver says may name users and hosts, and is not repeated."""
    return InputError(
        "no-store", "the database of the service does not answer", hint="Look at the setting 'database', and at the server."
    )
