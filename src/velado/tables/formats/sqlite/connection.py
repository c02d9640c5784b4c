"""A conversation with a SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from velado.errors import Cancelled, InputError, disk_full
from velado.progress import Progress
from velado.sentences import Sentence

PATIENCE = 30.0
"""Seconds to wait for somebody else's lock."""
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH)
NO_DATABASE = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


def connect(path: Path, mode: str, patience: float | None = None) -> sqlite3.Connection:
    """Open a file: ``ro`` to read, ``rw`` to write, ``rwc`` to make it. Transactions begin and end where we say it."""
    # Statements of one call may be interrupted from another thread.
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=PATIENCE if patience is None else patience,
        check_same_thread=False,
    )
    # Functions with effects that a foreign schema calls are not run.
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


@contextmanager
def watch(connection: sqlite3.Connection, progress: Progress, name: str, query: bool = False) -> Iterator[None]:
    """Errors in our words; whoever cancels the call ends a statement."""
    try:
        with progress.interrupting(connection.interrupt):
            yield
    except sqlite3.Error as error:
        if progress.cancelled:
            raise Cancelled() from None
        raise translate_error(error, name, query) from None


def translate_error(error: sqlite3.Error, name: str, query: bool = False) -> InputError:
    """The error that a user gets for one of SQLite's. No cell is repeated."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in BUSY:
        return InputError(
            "table-locked",
            "somebody else holds a lock on the database; nothing was published",
            file=name,
            hint="Run again when the other work is done.",
        )
    if code in NO_DATABASE:
        return InputError("unreadable-file", Sentence("not a readable {kind} database", kind="SQLite"), file=name)
    if code == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR:
        return disk_full(name)
    if code in READ_ONLY:
        return InputError("unwritable-output", "no permission to write there", file=name, hint="Choose another output path.")
    if "Could not decode" in str(error):
        return InputError(
            "unreadable-file",
            "a text of the database is not written in UTF-8",
            file=name,
            hint="Leave its column out by a query or a view.",
        )
    if "too many columns" in str(error):
        return InputError(
            "too-many-columns", "the table has more columns than the database takes", file=name, hint="Drop some of them."
        )
    if query:
        return InputError(
            "bad-query",
            "the query is no SQL that the engine understands, or names what is not there",
            file=name,
            hint="Try the query in the database first.",
        )
    kind = getattr(error, "sqlite_errorname", "") or type(error).__name__
    return InputError("engine-error", Sentence("the engine cannot do this ({kind})", kind=kind), file=name)


def quote_name(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
