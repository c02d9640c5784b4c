"""The database of an Anonylitics project, as the address of one; its password is not taken over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from velado.project.importers.anonylitics.language import Part, fold
from velado.sentences import Sentence
from velado.tables import Address
from velado.tables.address import SERVERS

KEYS = ("ip", "port", "database", "username", "password", "type")
"""Those of the language, and ``type``, which some files have."""
PORTS = {5432: "postgresql", 3306: "mariadb"}
"""Usual ports of servers: the language does not say which kind of database it is."""
USUAL = "postgresql"
VARIABLE = "VELADO_PASSWORD"
HOST = re.compile(r"[A-Za-z0-9_.-]+|[0-9A-Fa-f:.]+")


def address_of(top: Part, given: Mapping[str, Any]) -> Address | None:
    """The database that holds the tables; None if they are to be read from files."""
    if not given.get("connection"):
        return None
    part, secret = top.at("connection"), top.at("connection", hidden=True)
    if not isinstance(part.value, dict):
        secret.say_unknown("A connection is an object; nothing was done with it.")
        return None
    secret.keys(KEYS)
    host, name = part.text("ip"), part.text("database")
    if not HOST.fullmatch(host) or not name:
        _password(part, taken=False)
        secret.say_to_do("A connection needs 'ip' and 'database': the tables will be read from files.")
        return None
    port = _port(part)
    return Address(_engine(part, port), part.text("username") or None, VARIABLE if _password(part) else None, host, port, name)


def _port(part: Part) -> int | None:
    text = part.text("port")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        part.at("port").say_unknown("A port is a whole number from 1 to 65535; it was left out.")
        return None
    return int(text)


def _engine(part: Part, port: int | None) -> str:
    said = fold(part.at("type").value)
    if said in SERVERS:
        return SERVERS[said]
    if said:
        part.at("type").say_unknown(Sentence("The databases are {known}.", known=["postgresql", "mariadb", "mysql"]))
    engine = PORTS.get(port or 0, USUAL)
    if port in PORTS:
        what = Sentence("The language does not say which database it is: by its port, {engine}.", engine=engine)
        part.at("port").say_adapted(what)
    else:
        part.at("type").say_to_do(
            Sentence("The language does not say which database it is: {engine} was written, which may be wrong.", engine=engine)
        )
    return engine


def _password(part: Part, *, taken: bool = True) -> bool:
    """Whether there is one; it is told where it belongs."""
    hidden = part.at("password", hidden=True)
    if hidden.value in (None, ""):
        return False
    if taken:
        hidden.say_to_do(
            Sentence(
                "Passwords are not taken over: set the environment variable {variable} before the run, and change this one.",
                variable=VARIABLE,
            )
        )
    else:
        hidden.say_left_out("Passwords do not belong into project files; this one was not written anywhere.")
    return True
