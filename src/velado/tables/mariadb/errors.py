"""Errors of MariaDB and MySQL in our words."""

from __future__ import annotations

from typing import Any

from velado.errors import InputError, disk_full
from velado.sentences import Sentence
from velado.tables.sql.errors import (
    APPEARED,
    CHANGED,
    IN_USE,
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

LOGIN = (1045, 1698, 1251, 1862, 2059)
NO_RIGHT = (
    "no-right",
    Sentence("the user has no right to do this"),
    Sentence(
        "Needed are SELECT on the source, and on the schema of the output CREATE TEMPORARY TABLES, CREATE, SELECT, INSERT, ALTER and DROP."
    ),
)
TIMED_OUT = ("timed-out", Sentence("the server ended the statement"), Sentence("Raise its max_statement_time for this user."))
KNOWN: dict[int, Any] = {
    **dict.fromkeys((1044, 1142, 1143, 1227, 1370), NO_RIGHT),
    **dict.fromkeys((1205, 1213, 1207), LOCKED),
    **dict.fromkeys((1290, 1792, 1836), READ_ONLY),
    **dict.fromkeys((1146, 1051), NO_TABLE),
    **dict.fromkeys((1117, 1118), WIDE),
    **dict.fromkeys((1064, 1060, 1248, 1222), NO_SQL),
    **dict.fromkeys((1317, 1969, 3024), TIMED_OUT),
    1054: NO_COLUMN,
    1020: CHANGED,
    1412: CHANGED,
    1050: APPEARED,
    1451: IN_USE,
}
FULL = (1021, 1114, 3)
BUSY = (1037, 1038, 1040, 1041, 1203, 1226)
LOST = (0, 1053, 1152, 1184, 1927, 2006, 2013, 2014, 2055, 4031)


def number_of(error: Any) -> int:
    """The number of an error; 0 where the driver has none."""
    found = error.args[0] if getattr(error, "args", ()) else 0
    return found if isinstance(found, int) else 0


def translate_error(error: Any, name: str) -> BaseException:
    """The error that a user gets for one of the server's about ``name``. The server's sentence may quote a cell: it is not told."""
    number = number_of(error)
    if number in KNOWN:
        return known_error(KNOWN[number], name)
    if number in FULL:
        return disk_full()
    if number in BUSY:
        return out_of_memory(name)
    return connection_lost(name) if number in LOST else engine_error(f"error {number}", name)


def not_connected(error: Any, address: Any) -> InputError:
    """The error for a server that cannot be spoken to; the password is not in it."""
    number, said, where = number_of(error), str(error).lower(), address.text
    if number in LOGIN:
        return login_refused(where)
    if number == 1049:
        return unknown_database(where)
    if number == 1044:
        return known_error(NO_RIGHT, where)
    if number in BUSY:
        return out_of_memory(where)
    if number == 2026 or "ssl" in said or "certificate" in said:
        return no_tls(where, "Look at ssl_ca, ssl_cert, ssl_key and ssl_verify_identity in the address.")
    return no_server(where)
