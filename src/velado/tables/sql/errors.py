"""Errors that all servers share."""

from __future__ import annotations

from velado.errors import InputError
from velado.sentences import Sentence

TRY_QUERY = Sentence("Try the query in the database first.")
LIST_TABLES = Sentence("velado tables ADDRESS lists the tables.")
LOCKED = (
    "table-locked",
    Sentence("somebody else holds a lock on the table; nothing was published"),
    Sentence("Run again when the other work is done."),
)
CHANGED = (
    "source-changed",
    Sentence("the table changed while it was read; nothing was published"),
    Sentence("Run again when nobody writes to it."),
)
APPEARED = (
    "output-exists",
    Sentence("a table of this name has appeared meanwhile; nothing was published"),
    Sentence("Choose another name, or say output: {if_exists: replace}."),
)
NO_TABLE = ("unknown-table", Sentence("the database has no such table"), LIST_TABLES)
NO_COLUMN = ("bad-query", Sentence("the query names a column that is not there"), TRY_QUERY)
NO_SQL = ("bad-query", Sentence("the query is no SQL that the server understands"), TRY_QUERY)
READ_ONLY = ("no-right", Sentence("the server takes no changes"), Sentence("Is it a replica? Send the release elsewhere."))
WIDE = ("too-many-columns", Sentence("the table has more columns than the server takes"), Sentence("Drop some of them."))
IN_USE = (
    "table-in-use",
    Sentence("other things of the database depend on the table that would be replaced"),
    Sentence("Drop the views that use it, or choose another name."),
)


def known_error(known: tuple[str, Sentence, Sentence], name: str) -> InputError:
    """One of the errors above, about a table."""
    code, message, hint = known
    return InputError(code, message, file=name, hint=hint)


def connection_lost(name: str) -> InputError:
    """The error for a conversation that ended before its time."""
    return InputError(
        "connection-lost",
        "the connection to the server broke off; nothing was published",
        file=name,
        hint="Is the server running? Run again when it is.",
    )


def engine_error(kind: str, name: str) -> InputError:
    """The error for what nobody foresaw: its number, not the server's sentence, which may quote a cell."""
    return InputError("engine-error", Sentence("the engine cannot do this ({kind})", kind=kind), file=name)


def out_of_memory(name: str) -> InputError:
    """The error for a server that has too much to do."""
    return InputError("out-of-memory", "the server has no memory or connections left for this", file=name, hint="Try again later.")


def login_refused(where: str) -> InputError:
    """The error for a user whom the server does not let in."""
    return InputError(
        "login-refused",
        "the server refuses this user or password",
        file=where,
        hint="Write ${NAME} in the place of the password and set the environment variable NAME, or use the driver's own ways.",
    )


def unknown_database(where: str) -> InputError:
    """The error for a database that is not there."""
    return InputError(
        "unknown-database", "the server has no such database", file=where, hint="It is what stands behind host and port."
    )


def no_tls(where: str, hint: str) -> InputError:
    """The error for a connection that is not as safe as the address asks for."""
    return InputError(
        "no-tls", "a safe connection (TLS) to the server cannot be made as the address asks for", file=where, hint=hint
    )


def no_server(where: str) -> InputError:
    """The error for a server that does not answer."""
    return InputError(
        "no-server",
        "there is no server at this address, or it does not answer",
        file=where,
        hint="Are host and port right, and is the server running?",
    )
