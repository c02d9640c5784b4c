"""Addresses of databases that users may connect to: servers only, and no option that names a file of the service's machine."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from velado.errors import InputError, suggest
from velado.sentences import Sentence
from velado.service.errors import Invalid
from velado.service.settings import Settings
from velado.tables.address import ADDRESS_HINT, SERVERS, Address, scheme_of, with_table

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "postgresql": ("host", "port", "connect_timeout", "sslmode", "channel_binding", "target_session_attrs", "application_name"),
    "mariadb": ("unix_socket", "connect_timeout", "ssl", "ssl_disabled", "ssl_verify_cert", "ssl_verify_identity"),
}
"""Options that an address may have. Sockets of servers on this machine are addresses like others; files of keys, certificates
and passwords are the service's own, and are nobody's to name."""
NOBODY: Mapping[str, dict[str, str]] = {"postgresql": {"passfile": "/dev/null"}, "mariadb": {"read_default_file": "/dev/null"}}
"""What keeps a driver from the passwords of the account under which the service runs."""
LONGEST = 2000


def check_address(text: Any) -> Address:
    """The address of a connection; `Invalid` unless it is one of a server, without password and with harmless options."""
    if not isinstance(text, str) or len(text) > LONGEST or any(ord(c) < 32 for c in text):
        raise _bad(Sentence("this is no address of a database"))
    scheme = scheme_of(text)
    if scheme not in SERVERS:
        raise _bad(Sentence("connections are to PostgreSQL and MariaDB servers"))
    if with_table(text)[1] is not None or "#" in text:
        raise _bad(Sentence("the address of a connection names no table"))
    try:
        address = Address.parse(text)
    except InputError as error:
        raise Invalid(error.code, error.message, hint=error.hint, fields={"path": "address"}) from None
    if address.password is not None or "${" in text:
        raise _bad(Sentence("a connection takes no variable of the service's environment"))
    for name, _ in address.options:
        if name not in OPTIONS[address.engine]:
            raise Invalid(
                "bad-address",
                Sentence("the address of a connection has no option '{option}'", option=name),
                hint=suggest(name, OPTIONS[address.engine]),
                fields={"path": "address"},
            )
    return address


def check_reach(address: Address, settings: Settings) -> None:
    """Raise where the service's own account, and not the connection's password, could be what a server lets in.

    Servers often trust a local socket's user: then anybody's connection would come with the rights of the service. And the
    service's own database is nobody's source.
    """
    options = dict(address.options)
    hosts = [host for host in (address.host, options.get("host")) if host]
    if len(hosts) > 1 or any("," in host for host in hosts):
        raise _bad(Sentence("a connection names one host"))
    host = hosts[0] if hosts else ""
    local = not host or host.startswith(("/", "@")) or "unix_socket" in options
    if local and not settings.local_sockets:
        raise Invalid(
            "local-socket",
            "connections name a host: sockets of the service's machine are not open to everybody",
            hint="postgresql://HOST:5432/DATABASE; the setting 'local_sockets' opens them.",
            fields={"path": "address"},
        )
    if settings.database:
        own = Address.parse(without_password(settings.database))
        theirs = dict(own.options).get("host") or own.host or ""
        if (own.engine, own.name) == (address.engine, address.name) and _same(host, theirs):
            raise _bad(Sentence("this is the database of the service itself"))


def _same(one: str, other: str) -> bool:
    """Whether two names are those of one machine."""
    if one.startswith("/") or other.startswith("/"):
        return one.rstrip("/") == other.rstrip("/")
    return one.lower().rstrip(".") == other.lower().rstrip(".") or bool(_resolve_host(one) & _resolve_host(other))


def _resolve_host(host: str) -> set[str]:
    """The addresses of a name; none where nobody knows it."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(host or "localhost", None)}
    except OSError:
        return set()


def without_password(text: str) -> str:
    """An address of the settings, which may hold a password, without it."""
    parts = urlsplit(text)
    user, _, place = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{name}@{place}" if name else place))


def address_for_job(address: Address, variable: str | None) -> Address:
    """The address as a job reaches it: its password from a variable of its process, else none at all."""
    said = {**dict(address.options), **_nobody(address.engine)}
    return replace(address, options=tuple(said.items()), password=variable)


def _nobody(engine: str) -> dict[str, str]:
    found = dict(NOBODY[engine])
    if engine == "postgresql":
        from psycopg import pq

        if pq.version() >= 160000:
            found["sslcertmode"] = "disable"
    return found


def _bad(message: Sentence) -> Invalid:
    return Invalid("bad-address", message, hint=ADDRESS_HINT, fields={"path": "address"})
