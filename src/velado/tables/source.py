"""Where a table comes from: a file here or elsewhere and how to read it, a table of a database, or a table in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from velado.errors import InputError, Problems, short_repr, suggest
from velado.results import Discreet
from velado.sentences import Sentence, join_sentences
from velado.tables.address import (
    FILES,
    SCHEME,
    Address,
    Cluster,
    TableName,
    check_elsewhere,
    is_cluster,
    is_database,
    scheme_of,
    with_table,
)
from velado.tables.files import check_regular, not_found, path_of
from velado.tables.formats.names import NAMES
from velado.tables.types import Field

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
}
REMOTE = ("csv", "parquet")
"""Formats of files that are read and written elsewhere."""
CLUSTERED = ("parquet", "orc", "csv", "delta", "iceberg", "json")
"""Formats of files that a Spark cluster reads and writes, where its session has them."""
ADDRESS = re.compile(r"(^|[/\\])[a-z][a-z0-9+.-]+:/|[^:@/\\]{2,}:[^@]*@|[?&;](password|pwd)=", re.IGNORECASE)
"""What looks like the address of a database or a web page, not like a path."""
TEXTS = ("format", "delimiter", "quote", "encoding", "sheet")
LINED = ("csv", "xlsx")
LINES = {"header": True, "skip": 0}
"""Options of formats that have lines, and their defaults."""
HOLDS_TABLES = tuple(FILES.values())
"""Formats of files that hold several tables."""
OPTIONS = ("path", "database", "spark", "table", "query", *TEXTS, "missing", *LINES, "names")
PLACES = ("path", "database", "spark")


def format_of(path: Path) -> str:
    """csv, parquet, xlsx, arrow, duckdb or sqlite, by the suffix."""
    return FORMATS.get(path.suffix.lower(), "csv")


def is_elsewhere(text: Any) -> bool:
    """Whether a text is the address of a file that is not on this machine's disks, such as s3://…"""
    return isinstance(text, str) and SCHEME.match(text) is not None and not is_database(text)


def check_path(path: Path | None) -> None:
    """Refuse an address where a path belongs, before anything repeats it: it may hold a password."""
    if path is not None and ADDRESS.search(str(path)) and not os.path.lexists(path):
        raise InputError(
            "no-such-engine",
            "this looks like an address, not like a path",
            file=path,
            hint="Addresses of databases begin with postgresql://, mariadb://, mysql://, sqlite:// or duckdb://. "
            "A password that stood here may have been seen: change it.",
        )


SIMPLEST = "SELECT 1 AS one"
"""A query that every server answers."""


@dataclass(frozen=True, repr=False)
class Source(Discreet):
    """A file and its reading options; what is None is found out from the file. Or a ``table``, or a ``query``, of a
    ``database``; or, at ``url``, a file elsewhere, which a Spark cluster reads if that is the ``database``.

    ``missing`` lists the texts that stand for a missing value (default: only the empty text). The first ``skip`` lines are
    not read. Without a ``header`` the columns are called column_1, column_2, … ``names``: unique, or numbered where they are
    not. ``fields`` are the columns where they are known, for formats that do not tell dates from times, or whole numbers
    from others. ``folder`` is that of the project file which names the path.
    """

    path: Path | None = None
    database: Address | None = None
    table: str | None = None
    query: str | None = None
    url: str | None = None
    format: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] | None = None
    sheet: str | None = None
    header: bool = True
    skip: int = 0
    names: str = "unique"
    data: Any = field(default=None, compare=False)
    fields: tuple[Field, ...] = field(default=(), compare=False)
    folder: Path | None = field(default=None, compare=False)

    def summary(self) -> dict[str, Any]:
        """The file and how it is read, or the kind of the table in memory; no path and no row."""
        if (self.database is not None and self.data is None) or self.url is not None:
            return {"name": self.name}
        if self.path is None:
            return {} if self.data is None else {"data": type(self.data).__name__}
        said = {"format": self.format, "sheet": self.sheet, "encoding": self.encoding}
        return {"file": self.path, **{what: option for what, option in said.items() if option is not None}}

    def __post_init__(self) -> None:
        problems = Problems()
        with problems.at("path"):
            check_path(self.path)
            if self.url is not None:
                check_elsewhere(self.url)
        self._check_table(problems)
        if self.format and self.format not in (FORMATS.values() if self.database is None else CLUSTERED):
            problems.add(self._unknown_format(), "format")
        if not _is_character(self.delimiter):
            message = Sentence("the delimiter must be one character, got {given}", given=short_repr(self.delimiter))
            problems.add(InputError("bad-delimiter", message, file=self.path), "delimiter")
        if not _is_character(self.quote):
            message = Sentence("the quote must be one character, got {given}", given=short_repr(self.quote))
            problems.add(InputError("bad-quote", message, file=self.path), "quote")
        if not isinstance(self.header, bool):
            message = Sentence("the source option 'header' must be true or false, got {given}", given=short_repr(self.header))
            problems.add(InputError("bad-option", message), "header")
        if isinstance(self.skip, bool) or not isinstance(self.skip, int) or self.skip < 0:
            message = Sentence(
                "the source option 'skip' must be a number of lines, 0 or more, got {given}", given=short_repr(self.skip)
            )
            problems.add(InputError("bad-option", message), "skip")
        if self.names not in NAMES:
            known = join_sentences(Sentence(" or "), NAMES)
            message = Sentence("the source option 'names' must be {known}, got {given}", known=known, given=short_repr(self.names))
            problems.add(InputError("bad-option", message), "names")
        problems.raise_if_any()

    def _check_table(self, problems: Problems) -> None:
        """A table or a query belongs to a database; a database needs one of them."""
        holds = self.database is not None or (self.path is not None and self.kind_of_file in HOLDS_TABLES)
        for key in ("table", "query"):
            given = getattr(self, key)
            if given is not None and not (isinstance(given, str) and given.strip()):
                message = Sentence("the source option '{option}' must be text, got {given}", option=key, given=short_repr(given))
                problems.add(InputError("bad-option", message), key)
            elif given is not None and not holds:
                message = Sentence("'{option}' is for databases", option=key)
                problems.add(InputError("bad-option", message, file=self.path, hint="Leave it out."), key)
        if self.table is not None and self.query is not None:
            problems.add(InputError("bad-option", "a source is a table or a query, not both"), "query")
        if isinstance(self.table, str) and self.table.strip():
            with problems.at("table"):
                TableName.parse(self.table)
        clustered = self.url is not None or self.data is not None
        if self.database is not None and self.table is None and self.query is None and not clustered:
            problems.add(
                InputError(
                    "no-table",
                    "which table of the database?",
                    file=self.database.text,
                    hint="table: schema.people, or #schema.people behind the address; velado tables ADDRESS lists them.",
                ),
                "table",
            )

    @classmethod
    def of(cls, thing: Any, folder: Path | None = None) -> Source:
        """A source from a path, an address, a mapping of options, a pandas, Polars or Arrow table, or a mapping of columns."""
        if isinstance(thing, Source):
            return thing
        if isinstance(thing, str) and is_database(thing):
            address, table = with_table(thing)
            if is_cluster(address) and table is not None and "/" in table:
                return cls(database=Cluster.parse(address), url=cluster_url(table, folder), folder=folder)
            return cls(folder=folder, **{**place_of(address, folder), "table": table})
        if is_elsewhere(thing):
            return cls(url=thing, folder=folder)
        if isinstance(thing, (str, Path)):
            return cls(path=path_of(thing, Sentence("the source"), folder), folder=folder)
        if isinstance(thing, Mapping) and not _has_columns(thing):
            return cls._from_options(thing, folder)
        return cls(data=thing, database=Cluster.parse("session") if is_spark(thing) else None)

    @classmethod
    def _from_options(cls, options: Mapping[str, Any], folder: Path | None) -> Source:
        problems = Problems()
        for key in options:
            if key not in OPTIONS:
                message = Sentence("a source has no option '{option}'", option=key)
                problems.add(InputError("unknown-option", message, hint=suggest(key, OPTIONS)), str(key))
        given = {k: v for k, v in options.items() if k in OPTIONS and v is not None}
        if not any(given.get(key) for key in PLACES):
            problems.add(
                InputError("no-path", "the source needs a 'path', a 'database' or 'spark'", hint="source: {path: table.csv}")
            )
        elif given.get("database") and (given.get("path") or given.get("spark")):
            problems.add(InputError("bad-option", "a source is a path or a database, not both"), "database")
        path, database, spark = (given.pop(key, None) for key in PLACES)
        with problems.at("spark"):
            if spark:
                given["database"] = cluster_of(spark)
        with problems.at("path"):
            if spark and path:
                given["url"] = cluster_url(path, folder)
            elif is_elsewhere(path):
                given["url"] = path
            elif path:
                given["path"] = path_of(path, Sentence("the source option 'path'"), folder)
        with problems.at("database"):
            if database and not (path or spark):
                given |= place_of(database, folder)
        for key in TEXTS:
            if not isinstance(given.get(key, ""), str):
                message = Sentence("the source option '{option}' must be text, got {given}", option=key, given=repr(given.pop(key)))
                problems.add(InputError("bad-option", message), key)
        with problems.at("missing"):
            if "missing" in given:
                given["missing"] = _markers(given.pop("missing"))
        if any(problems.found):
            given = {k: v for k, v in given.items() if k not in ("table", "query")}
        with problems.at():
            source = cls(folder=folder, **given)
        problems.raise_if_any()
        return source

    @property
    def options(self) -> dict[str, Any]:
        """How it is read, as a project file says it: what has its default is left out."""
        usual = {**dict.fromkeys(OPTIONS), **LINES, "names": NAMES[0]}
        given = {k: v for k in OPTIONS if k not in PLACES and (v := getattr(self, k)) != usual[k] and v != ""}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}

    @property
    def name(self) -> str:
        """The path or the address, with the table, or what the object in memory is."""
        table = "" if self.table is None else f"#{self.table}"
        if self.url is not None:
            return shown_url(self.url)
        if self.database is not None and self.data is None:
            return self.database.text + table
        what = self.data if isinstance(self.data, str) else type(self.data).__name__
        return str(self.path) + table if self.path is not None else f"<{what}>"

    @property
    def short_name(self) -> str:
        """The name of the file or of the table alone."""
        if self.url is not None:
            return shown_url(self.url).rstrip("/").rpartition("/")[2]
        if self.database is not None and self.data is None:
            return self.table or Sentence("a query")
        return self.path.name if self.path is not None else self.name

    @property
    def stem(self) -> str:
        """What files are called that are made from it: its own name without suffix and schema."""
        if self.table is not None:
            return TableName.parse(self.table).name
        return Path(self.short_name).stem if self.query is None else "query"

    def kind(self) -> str:
        """csv, parquet, xlsx, arrow, duckdb, sqlite, memory, or database."""
        kind = self._kind()
        for option, usual in LINES.items():
            if kind not in LINED and getattr(self, option) != usual:
                raise InputError(
                    "bad-option",
                    Sentence(
                        "'{option}' is for text tables and sheets: other tables know the names of their columns", option=option
                    ),
                    file=self.name,
                    hint="Leave it out.",
                )
        return kind

    def _kind(self) -> str:
        if self.database is not None and self.url is None:
            return "database"
        return "memory" if self.path is None and self.url is None else self.kind_of_file

    @property
    def kind_of_file(self) -> str:
        """The format of a file, said or by its suffix."""
        if self.format:
            return self.format
        if self.database is not None:
            return clustered_format(self.short_name)
        return format_of(self.path or Path(self.short_name))

    def _unknown_format(self) -> InputError:
        return InputError(
            "unknown-format",
            Sentence("unknown format '{format}'", format=self.format),
            file=self.path,
            hint=Sentence("Choose one of: {known}", known=list(CLUSTERED if self.database else dict.fromkeys(FORMATS.values()))),
        )

    def check_file(self) -> Path:
        """The path of a file that exists, is a file and is not empty."""
        assert self.path is not None
        try:
            if not self.path.exists():
                raise not_found(self.path, project=self.folder)
            check_regular(self.path)
            with open(self.path, "rb") as stream:
                if not stream.read(1):
                    raise InputError("empty-file", "the file is empty", file=self.path)
        except PermissionError:
            raise InputError(
                "unreadable-file",
                "no permission to read the file",
                file=self.path,
                hint="You need the right to read it, and to enter all folders above it.",
            ) from None
        return self.path


def place_of(text: Any, folder: Path | None = None) -> dict[str, Any]:
    """Where a database is: the address of a server, or the path of a file with its format."""
    if isinstance(text, Address):
        return {"database": text}
    if not isinstance(text, str):
        message = Sentence("'database' must be an address, got {given}", given=short_repr(text))
        raise InputError("bad-address", message, hint="database: postgresql://user@host/name")
    scheme = scheme_of(text)
    if scheme not in FILES:
        return {"database": Address.parse(text)}
    # As SQLAlchemy writes them: three slashes before a path from here, four before one from the root.
    path = unquote(text[text.index("://") + 3 :].partition("?")[0]).removeprefix("/")
    return {"path": path_of(path, Sentence("the path of the database"), folder), "format": FILES[scheme]}


def said_of(database: Address | None, url: str | None) -> dict[str, str]:
    """Where a table is that is no file here, as a project file says it; no password."""
    at = {} if url is None else {"path": url}
    if database is None:
        return at
    return {"spark" if database.engine == "spark" else "database": database.project_value, **at}


def is_spark(thing: Any) -> bool:
    """Whether a table in memory is a DataFrame of Spark."""
    return type(thing).__module__.startswith("pyspark.sql.") and hasattr(thing, "sparkSession")


def cluster_of(text: Any) -> Cluster:
    """The Spark cluster that a project file names."""
    if isinstance(text, Cluster):
        return text
    if not isinstance(text, str):
        message = Sentence("'spark' must be an address, got {given}", given=short_repr(text))
        raise InputError("bad-address", message, hint="spark: spark://host:7077")
    return Cluster.parse(text)


def cluster_url(path: Any, folder: Path | None) -> str:
    """Where a cluster finds a file or a folder: an address stays as it is; a path here becomes one."""
    if is_elsewhere(path):
        return str(path)
    found = path_of(path, Sentence("the source option 'path'"), folder)
    check_path(found)
    # Not `as_uri`, which writes blanks and accents as Hadoop does not read them.
    return f"file://{Path(os.path.abspath(found)).as_posix()}"


def clustered_format(name: str) -> str:
    """The format of what a cluster keeps under a name: by its suffix, else Parquet."""
    suffix = Path(name).suffix.lower()
    found = FORMATS.get(suffix, suffix[1:])
    return found if found in CLUSTERED else CLUSTERED[0]


def shown_url(url: str) -> str:
    """The address of a file without user, password and options, which may be secrets."""
    found = urlsplit(url)
    return f"{found.scheme}://{found.netloc.rpartition('@')[2]}{found.path}"


def _is_character(given: Any) -> bool:
    return given is None or (isinstance(given, str) and len(given) == 1)


def _markers(missing: Any) -> tuple[str, ...]:
    """The texts that stand for a missing value."""
    markers = [missing] if isinstance(missing, (str, int, float)) else missing
    if not isinstance(markers, (list, tuple)) or not all(isinstance(m, (str, int, float)) for m in markers):
        raise InputError(
            "bad-option",
            Sentence("the source option 'missing' must be a text or a list of texts, got {given}", given=short_repr(missing)),
        )
    return tuple(str(m) for m in markers)


def _has_columns(thing: Mapping[Any, Any]) -> bool:
    """Whether a mapping is a table, a list or an array for every column, and does not say where one is."""
    said = set(thing) <= set(OPTIONS) and set(thing) & set(PLACES)
    return (
        bool(thing) and not said and all(hasattr(v, "__len__") and not isinstance(v, (str, bytes, Mapping)) for v in thing.values())
    )
