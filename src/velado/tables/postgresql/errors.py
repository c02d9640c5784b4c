"""PostgreSQL's errors in our words."""

from __future__ import annotations

from typing import Any

from velado.errors import InputError, disk_full
from velado.sentences import Sentence
from velado.tables.sql.errors import (
    APPEARED,
    CHANGED,
    IN_USE,
    LIST_TABLES,
    LOCKED,
    NO_COLUMN,
    NO_SQL,
    NO_TABLE,
    READ_ONLY,
    WIDE,
    connection_lost,
    engine_error,
    known_error,
    login_refused,
    no_server,
    no_tls,
    out_of_memory,
    unknown_database,
)

LOGIN = ("28P01", "28000")


def translate_error(error: Any, name: str) -> BaseException:
    """The error that a user gets for one of the server's about ``name``. The server's sentence may quote a cell: it is not told."""
    state = getattr(error, "sqlstate", None) or ""
    if state in KNOWN:
        return known_error(KNOWN[state], name)
    if state.startswith("53"):
        return disk_full() if state == "53100" else out_of_memory(name)
    if not state or state.startswith("08") or state.startswith("57P"):
        return connection_lost(name)
    return engine_error(f"SQLSTATE {state}", name)


KNOWN = {
    "42P01": NO_TABLE,
    "3F000": ("unknown-table", Sentence("the database has no such schema"), LIST_TABLES),
    "42703": NO_COLUMN,
    "42601": NO_SQL,
    "42501": (
        "no-right",
        Sentence("the user has no right to do this"),
        Sentence("Needed are SELECT on the source, TEMPORARY on the database, and CREATE on the schema of the output."),
    ),
    "25006": READ_ONLY,
    "55P03": LOCKED,
    "40P01": LOCKED,
    "40001": CHANGED,
    "42P07": APPEARED,
    "23505": APPEARED,
    "2BP01": IN_USE,
    "54011": WIDE,
    "57014": ("timed-out", Sentence("the server ended the statement"), Sentence("Raise its statement_timeout for this user.")),
    "25P03": (
        "timed-out",
        Sentence("the server ended the transaction because it waited"),
        Sentence("Raise its idle_in_transaction_session_timeout for this user."),
    ),
}


def not_connected(error: Any, address: Any) -> InputError:
    """The error for a server that cannot be spoken to, by what the driver says of it; the password is not in it."""
    state, said, where = getattr(error, "sqlstate", None) or "", str(error).lower(), address.text
    if state in LOGIN or "password" in said or "authentication" in said or "pg_hba" in said:
        return login_refused(where)
    if state == "3D000" or ("database" in said and "does not exist" in said):
        return unknown_database(where)
    if "role" in said and "does not exist" in said:
        return login_refused(where)
    if "ssl" in said or "certificate" in said:
        return no_tls(where, "Look at sslmode, sslrootcert, sslcert and sslkey in the address.")
    return no_server(where)
