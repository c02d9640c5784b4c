"""PostgreSQL's errors in our words."""

from __future__ import annotations

from typing import Any

from velado.errors import InputError, disk_full
from velado.sentences import Sentence

LOGIN = ("28P01", "28000")


def translated(error: Any, name: str) -> BaseException:
    """The error that a user gets for one of the server's about ``name``. The server's sentence may quote a cell: it is not told."""
    state = getattr(error, "sqlstate", None) or ""
    if state in KNOWN:
        code, message, hint = KNOWN[state]
        return InputError(code, message, file=name, hint=hint)
    if state.startswith("53"):
        return disk_full() if state == "53100" else InputError(
            "out-of-memory", "the server has no memory or connections left for this", file=name, hint="Try again later."
        )  # fmt: skip
    if not state or state.startswith("08") or state.startswith("57P"):
        return connection_lost(name)
    return InputError(
        "engine-error", Sentence("the engine cannot do this ({kind})", kind=f"SQLSTATE {state}"), file=name
    )


def connection_lost(name: str) -> InputError:
    """The error for a conversation that ended before its time."""
    return InputError(
        "connection-lost", "the connection to the server broke off; nothing was published", file=name,
        hint="Is the server running? Run again when it is.",
    )  # fmt: skip


KNOWN = {
    "42P01": ("unknown-table", Sentence("the database has no such table"), Sentence("velado tables ADDRESS lists the tables.")),
    "3F000": ("unknown-table", Sentence("the database has no such schema"), Sentence("velado tables ADDRESS lists the tables.")),
    "42703": ("bad-query", Sentence("the query names a column that is not there"), Sentence("Try the query in the database first.")),
    "42601": ("bad-query", Sentence("the query is no SQL that the server understands"), Sentence("Try the query in the database first.")),
    "42501": ("no-right", Sentence("the user has no right to do this"), Sentence("Needed are SELECT on the source, TEMPORARY on the database, and CREATE on the schema of the output.")),
    "25006": ("no-right", Sentence("the server takes no changes"), Sentence("Is it a replica? Send the release elsewhere.")),
    "55P03": ("table-locked", Sentence("somebody else holds a lock on the table; nothing was published"), Sentence("Run again when the other work is done.")),
    "40P01": ("table-locked", Sentence("somebody else holds a lock on the table; nothing was published"), Sentence("Run again when the other work is done.")),
    "40001": ("source-changed", Sentence("the table changed while it was read; nothing was published"), Sentence("Run again when nobody writes to it.")),
    "42P07": ("output-exists", Sentence("a table of this name has appeared meanwhile; nothing was published"), Sentence("Choose another name, or say output: {if_exists: replace}.")),
    "23505": ("output-exists", Sentence("a table of this name has appeared meanwhile; nothing was published"), Sentence("Choose another name, or say output: {if_exists: replace}.")),
    "2BP01": ("table-in-use", Sentence("other things of the database depend on the table that would be replaced"), Sentence("Drop the views that use it, or choose another name.")),
    "54011": ("too-many-columns", Sentence("the table has more columns than the server takes"), Sentence("Drop some of them.")),
    "57014": ("timed-out", Sentence("the server ended the statement"), Sentence("Raise its statement_timeout for this user.")),
    "25P03": ("timed-out", Sentence("the server ended the transaction because it waited"), Sentence("Raise its idle_in_transaction_session_timeout for this user.")),
}  # fmt: skip


def not_connected(error: Any, address: Any) -> InputError:
    """The error for a server that cannot be spoken to, by what the driver says of it; the password is not in it."""
    state, said, where = getattr(error, "sqlstate", None) or "", str(error).lower(), address.text
    if state in LOGIN or "password" in said or "authentication" in said or "pg_hba" in said:
        return login_refused(where)
    if state == "3D000" or ("database" in said and "does not exist" in said):
        return InputError(
            "unknown-database",
            "the server has no such database",
            file=where,
            hint="It is what stands behind host and port.",
        )
    if "role" in said and "does not exist" in said:
        return login_refused(where)
    if "ssl" in said or "certificate" in said:
        return InputError(
            "no-tls", "a safe connection (TLS) to the server cannot be made as the address asks for", file=where,
            hint="Look at sslmode, sslrootcert, sslcert and sslkey in the address.",
        )  # fmt: skip
    return InputError(
        "no-server", "there is no server at this address, or it does not answer", file=where,
        hint="Are host and port right, and is the server running?",
    )  # fmt: skip


def login_refused(where: str) -> InputError:
    """The error for a user whom the server does not let in."""
    return InputError(
        "login-refused", "the server refuses this user or password", file=where,
        hint="Write ${NAME} in the place of the password and set the environment variable NAME, or use the driver's own ways.",
    )  # fmt: skip
