"""Addresses of databases, and names of tables in them. No password is ever shown, and none stands in clear text in a file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from velado.errors import InputError, suggest
from velado.results import Discreet
from velado.sentences import Sentence

SERVERS = {"postgresql": "postgresql", "postgres": "postgresql", "mariadb": "mariadb", "mysql": "mariadb"}
"""Schemes of servers, and the engine of each."""
OTHERS = {
    "mssql": "SQL Server",
    "sqlserver": "SQL Server",
    "oracle": "Oracle",
    "db2": "Db2",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "mongodb": "MongoDB",
}
"""Servers that have no engine, by how their addresses begin."""
FILES = {"sqlite": "sqlite", "duckdb": "duckdb"}
"""Schemes of databases that are files, and their formats."""
CLUSTERS = ("spark", "connect", "sc", "k8s")
"""Schemes of Spark's clusters."""
MASTER = re.compile(r"(local(\[[^\[\]#]*\])?|local-cluster\[[^\[\]#]*\]|yarn|session)(#|$)")
"""Clusters of Spark that have no address: this machine, YARN's, and whatever session there is."""
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
SECRETS = ("password", "passwd", "pwd", "pass", "passfile_password")
PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')

ask_password: Callable[[str], str | None] | None = None
"""Asks a person for the password of an address; set where there is a terminal."""


@dataclass(frozen=True, repr=False)
class Address(Discreet):
    """A database on a server: ``postgresql://user@host:port/name?option=value``.

    ``password`` is the name of an environment variable, never the password itself. ``options`` are those of the driver: TLS,
    socket, time-outs.

    >>> str(Address.parse("postgresql://ana:${PG_ANA}@db.example/clinic?sslmode=require"))
    'postgresql://ana@db.example/clinic?sslmode=require'
    """

    NAMES: ClassVar[tuple[str, ...]] = ("engine",)
    engine: str
    user: str | None = None
    password: str | None = None
    host: str | None = None
    port: int | None = None
    name: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address that a text says; an error does not repeat the text, which may hold a password."""
        if is_cluster(text):
            return Cluster.parse(text)
        scheme = scheme_of(text)
        if scheme in OTHERS:
            raise InputError(
                "no-such-engine",
                Sentence("tables of {server} are not read", server=OTHERS[scheme]),
                hint="Write the table as CSV or Parquet, or copy it to PostgreSQL, MariaDB, SQLite or DuckDB.",
            )
        if scheme not in SERVERS:
            known = [*SERVERS, *FILES, *CLUSTERS]
            raise InputError(
                "no-such-engine",
                Sentence("there is no engine for addresses that begin with '{scheme}'", scheme=scheme or "?"),
                hint=suggest(scheme, known) if scheme else Sentence("Choose one of: {known}", known=known),
            )
        try:
            found = urlsplit(_hide_variables(text))
            port, host = found.port, found.hostname
            options = tuple((k, _restore_variables(v)) for k, v in parse_qsl(found.query, keep_blank_values=True))
        except ValueError:
            raise bad_address() from None
        if any(k.lower() in SECRETS for k, _ in options):
            raise password_in_clear()
        if host and VARIABLE.search(_restore_variables(host)):
            raise bad_address()
        return cls(
            SERVERS[scheme],
            unquote(found.username) if found.username else None,
            _variable(found.password),
            unquote(host) if host else None,
            port,
            unquote(found.path.removeprefix("/")),
            options,
        )

    def __str__(self) -> str:
        user = f"{quote(self.user)}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        options = f"?{urlencode(self.options, safe='/')}" if self.options else ""
        host = self.host or ""
        return f"{self.engine}://{user}{f'[{host}]' if ':' in host else host}{port}/{quote(self.name)}{options}"

    @property
    def project_value(self) -> str:
        """As a project file says it: the name of the variable stands for the password."""
        if self.password is None:
            return str(self)
        return str(replace(self, user="\0")).replace("%00", f"{quote(self.user or '')}:${{{self.password}}}", 1)

    @property
    def text(self) -> str:
        """What messages call it: without options."""
        return str(replace(self, options=()))

    def is_at(self, other: Address | None) -> bool:
        """Whether another address, perhaps of another user or with other options, is that of the same database."""
        places = [None if a is None else (a.engine, a.host, a.port, a.name) for a in (self, other)]
        return places[0] == places[1]

    def secret(self) -> str | None:
        """The password from its variable; None leaves it to the driver's own ways."""
        if self.password is None:
            return None
        found = os.environ.get(self.password)
        if not found:
            raise InputError(
                "no-password",
                Sentence("the environment variable {variable} is not set", variable=self.password),
                file=self.text,
                hint=Sentence(
                    "export {variable}=… before the command, or leave the password out of the address.", variable=self.password
                ),
            )
        return found

    def prompt_password(self) -> str | None:
        """The password that a person types, where there is one to ask."""
        return None if ask_password is None or self.password is not None else ask_password(self.text)


@dataclass(frozen=True, repr=False)
class Cluster(Address):
    """Where Spark works: ``spark://host:7077``, ``connect://host:15002``, ``local[*]``, ``local-cluster[2,1,1024]``, ``yarn``,
    ``k8s://…``, or ``session``: the session that there is. ``name`` is that text; what stands in it as ``${NAME}`` is a secret.

    >>> Cluster.parse("connect://spark.example:443/;use_ssl=true;token=${SPARK_TOKEN}").text
    'connect://spark.example:443'
    """

    @classmethod
    def parse(cls, text: str) -> Cluster:
        """The cluster that a text says."""
        if not is_cluster(text):
            raise InputError(
                "bad-address",
                "this is no address of a Spark cluster",
                hint="spark: spark://host:7077, connect://host:15002, local[*], yarn, k8s://…, or session for the one that there is",
            )
        for option in text.split(";")[1:]:
            key, _, value = option.partition("=")
            if key.strip().lower() in (*SECRETS, "token") and VARIABLE.fullmatch(value.strip()) is None:
                raise password_in_clear()
        host = urlsplit(_hide_variables(text.partition(";")[0])).netloc if "://" in text else ""
        if "@" in host and ":" in host.partition("@")[0]:
            raise password_in_clear()
        return cls("spark", name=text)

    def __str__(self) -> str:
        return self.name

    @property
    def project_value(self) -> str:
        """As a project file says it."""
        return self.name

    @property
    def text(self) -> str:
        """What messages call it: without options."""
        return self.name.partition(";")[0].rstrip("/")

    @property
    def master(self) -> str:
        """What Spark calls it, secrets in their places."""
        scheme, sign, rest = self.name.partition("://")
        text = f"sc{sign}{rest}" if scheme == "connect" else self.name
        return VARIABLE.sub(lambda found: replace(self, password=found[1]).secret() or "", text)

    @property
    def connects(self) -> bool:
        """Whether it is spoken to by Spark Connect."""
        return scheme_of(self.name) in ("connect", "sc")

    def is_at(self, other: Address | None) -> bool:
        """A process has one session of Spark."""
        return other is not None and other.engine == self.engine


@dataclass(frozen=True)
class TableName:
    """A table by its name, in a schema or in the usual one; a schema of a catalog (``lake.clinic.people``) is one schema with a
    dot. Parts with dots stand in double quotes.

    >>> TableName.parse('clinic."2024.people"')
    TableName(name='2024.people', schema='clinic')
    """

    name: str
    schema: str | None = None

    @classmethod
    def parse(cls, text: str, database: str = "") -> TableName:
        """The table that a text names."""
        parts, place = [], 0
        while found := PART.match(text, place):
            parts.append(found[1].replace('""', '"') if found[1] is not None else found[2].strip())
            place = found.end()
            if place == len(text) or text[place] != ".":
                break
            place += 1
        if place != len(text) or not 1 <= len(parts) <= 3 or not all(parts) or "\0" in text:
            raise InputError(
                "bad-table",
                Sentence("'{table}' is no name of a table", table=text),
                file=database or None,
                hint="table: people, or schema.people; names with dots in double quotes.",
            )
        return cls(parts[-1], ".".join(parts[:-1]) or None)

    def __str__(self) -> str:
        return ".".join(_part(p) for p in (self.schema, self.name) if p is not None)

    def beside(self, ending: str) -> TableName:
        """The table of the same schema whose name ends in something more."""
        return replace(self, name=self.name + ending)


def scheme_of(text: str) -> str:
    """The scheme of an address in small letters, without the name of a driver behind it; nothing for a path.

    >>> scheme_of("mysql+pymysql://ana@db/clinic")
    'mysql'
    """
    found = SCHEME.match(text)
    return found[1].lower().partition("+")[0] if found else ""


def is_cluster(text: str) -> bool:
    """Whether a text is the address of a Spark cluster."""
    return scheme_of(text) in CLUSTERS or MASTER.match(text) is not None


def is_database(text: str) -> bool:
    """Whether a text is the address of a database; without an address Spark's clusters need a table behind their name.

    >>> is_database("local[2]#people"), is_database("local"), is_database("local.csv")
    (True, False, False)
    """
    return scheme_of(text) in (*SERVERS, *FILES, *CLUSTERS) or ("#" in text and MASTER.match(text) is not None)


def check_elsewhere(url: str) -> None:
    """The address of a file holds no password."""
    found = urlsplit(url)
    if (found.username and found.password) or any(k.lower() in SECRETS for k, _ in parse_qsl(found.query)):
        raise password_in_clear()


def with_table(text: str) -> tuple[str, str | None]:
    """An address, and the table that stands behind its ``#``.

    >>> with_table("postgresql://ana@db/clinic#public.people")
    ('postgresql://ana@db/clinic', 'public.people')
    """
    address, sign, table = text.partition("#")
    return address, unquote(table) if sign and table else None


def _part(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if re.search(r'[".\s]', name) else name


def _hide_variables(text: str) -> str:
    """Characters of variables are none of addresses: ``${NAME}`` is kept as ``$7BNAME$7D`` meanwhile."""
    return VARIABLE.sub(r"$7B\1$7D", text)


def _restore_variables(text: str) -> str:
    return re.sub(r"\$7B(\w+)\$7D", r"${\1}", text, flags=re.IGNORECASE)


def _variable(password: str | None) -> str | None:
    """The variable that holds the password; a password in clear text is refused."""
    if not password:
        return None
    found = VARIABLE.fullmatch(_restore_variables(password))
    if found is None:
        raise password_in_clear()
    return found[1]


def password_in_clear() -> InputError:
    """The error for a password that stands where others can read it. It is not repeated."""
    return InputError(
        "password-in-clear",
        "the address holds a password",
        hint="Write ${NAME} in its place and set the environment variable NAME, or leave it to the driver (PostgreSQL: .pgpass; MariaDB: .my.cnf). "
        "A password that stood here may have been seen: change it.",
    )


ADDRESS_HINT = Sentence("An address looks like postgresql://HOST:5432/DATABASE, with the user and @ before HOST.")
"""Without a user in it: users of addresses are not shown."""


def bad_address() -> InputError:
    """The error for a text that is no address."""
    return InputError("bad-address", "this is no address of a database", hint=ADDRESS_HINT)
