"""Where a release goes, as the project file says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from velado.errors import InputError, Problems
from velado.results import parts
from velado.sentences import Sentence
from velado.tables import IF_EXISTS, ORDERS, Sink, TableName, delimiter_of
from velado.tables.address import check_elsewhere, is_cluster, is_database, with_table
from velado.tables.files import path_of
from velado.tables.sink import Target
from velado.tables.source import (
    CLUSTERED,
    FORMATS,
    HOLDS_TABLES,
    REMOTE,
    check_path,
    cluster_of,
    cluster_url,
    format_of,
    is_elsewhere,
    place_of,
    shown_url,
)

OUTPUT_KEYS = (
    "path",
    "database",
    "spark",
    "table",
    "format",
    "partition",
    "if_exists",
    "delimiter",
    "order",
    "suppressed",
    "guard",
    "recoding",
    "manifest",
)
CLUSTER_KEYS = ("spark", "format", "partition")
"""What is said of releases that Spark writes."""
FILES = ("path", "recoding", "manifest")
SUPPRESSED = ("drop", "asterisks")


@dataclass(frozen=True)
class Output(Target):
    """Where the release goes, as a project says it; all of it is checked.

    ``suppressed``: drop (default) or asterisks (the record stays as a row of ``*``). ``manifest``: the file of the private manifest
    of a table. ``format``: that of what a Spark cluster writes.
    """

    suppressed: str = "drop"
    manifest: Path | None = None
    format: str | None = None

    @property
    def is_frame(self) -> bool:
        """Whether it is a DataFrame of Spark, which goes with the process."""
        return self.database is not None and self.table is None and self.url is None

    @cached_property
    def name(self) -> str | None:
        """The name of the file or of the table alone."""
        return None if self.in_memory else self.sink().source().short_name

    @property
    def scratch(self) -> Path | None:
        """Where temporary files are kept: beside the output."""
        return None if self.path is None else self.path.parent

    def sink(self, usual: str | None = None) -> Sink:
        """Where and how an engine writes the release; ``usual`` is the delimiter of the input."""
        path = self.path if self.url is None else Path(shown_url(self.url))
        said = parts(self, Target) | {"delimiter": delimiter_of(path, self.delimiter, usual)}
        return Sink(**said, own_manifest=self.manifest, evidence=True, kind=self.format)

    def __post_init__(self) -> None:
        problems = Problems()
        for name in FILES:
            if getattr(self, name) is not None:
                with problems.at(name):
                    check_path(getattr(self, name))
                    object.__setattr__(self, name, path_of(getattr(self, name), Sentence("output: '{key}'", key=name)))
                    if name == "path" and self.path is not None:
                        _check_file(self.path)
        self._check_place(problems)
        for what, value, known in (
            ("if_exists", self.if_exists, IF_EXISTS),
            ("order", self.order, ORDERS),
            ("suppressed", self.suppressed, SUPPRESSED),
            ("guard", self.guard, (True, False)),
        ):
            if value not in known:
                words = [str(k).lower() for k in known]
                message = Sentence("output: {key} must be one of {known}, got {given}", key=what, known=words, given=repr(value))
                problems.add(InputError("bad-output", message), what)
        delimiter = self.delimiter
        if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'):
            message = Sentence("output: delimiter must be one character and no quote, got {given}", given=repr(delimiter))
            problems.add(InputError("bad-output", message), "delimiter")
        self._check_cluster(problems)
        problems.raise_if_any()

    def _check_cluster(self, problems: Problems) -> None:
        """What only clusters write."""
        spark = self.database is not None and self.database.engine == "spark"
        for key in ("format", "partition"):
            if getattr(self, key) and not spark:
                message = Sentence("output: '{key}' is for releases that Spark writes", key=key)
                problems.add(InputError("bad-output", message, hint="Leave it out."), key)
        if self.format is not None and self.format not in CLUSTERED:
            problems.add(
                InputError(
                    "unknown-format",
                    Sentence("unknown format '{format}'", format=self.format),
                    hint=Sentence("Choose one of: {known}", known=list(CLUSTERED)),
                ),
                "format",
            )
        if not isinstance(self.partition, tuple) or not all(isinstance(name, str) for name in self.partition):
            message = Sentence("output: 'partition' must be a list of columns, got {given}", given=repr(self.partition))
            problems.add(InputError("bad-output", message), "partition")

    def _check_place(self, problems: Problems) -> None:
        """A table belongs to a database, and a database needs one."""
        spark = self.database is not None and self.database.engine == "spark"
        holds = self.database is not None or (isinstance(self.path, Path) and format_of(self.path) in HOLDS_TABLES)
        where = self.database.text if self.database is not None else self.path
        if self.table is not None:
            with problems.at("table"):
                if not isinstance(self.table, str) or not holds:
                    raise InputError("bad-output", "output: 'table' names a table of a database", file=where)
                TableName.parse(self.table)
        elif holds and not spark:
            problems.add(
                InputError(
                    "no-table",
                    "which table of the database?",
                    file=where,
                    hint="output: {database: …, table: schema.people_anonymous}",
                ),
                "table",
            )
        if self.url is not None:
            with problems.at("path"):
                check_elsewhere(self.url)
        if self.url is not None and not spark and format_of(Path(shown_url(self.url))) not in REMOTE:
            message = Sentence("files elsewhere are written as {known}", known=list(REMOTE))
            problems.add(InputError("bad-output", message, file=shown_url(self.url)), "path")
        if self.manifest is not None and not holds and self.url is None:
            message = Sentence("output: 'manifest' is for tables; the manifests of a file stand beside it")
            problems.add(InputError("bad-output", message, file=where), "manifest")


def _check_file(path: Path) -> None:
    """A release may have this name."""
    if path.is_dir():
        raise InputError("unwritable-output", "the output path is a directory", file=path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            "unknown-format",
            Sentence("output: unknown suffix '{suffix}'", suffix=path.suffix),
            file=path,
            hint=Sentence("Choose one of: {known}", known=" ".join(FORMATS)),
        )


def output_from(options: Mapping[str, Any], folder: Path) -> Output:
    """The output of a project file; paths are relative to its folder."""
    problems, found = Problems(), dict(options)
    path, database, spark = found.get("path"), found.pop("database", None), found.pop("spark", None)
    with problems.at("database"):
        if database is not None:
            if path is not None or spark is not None:
                raise InputError("bad-output", "output is a path or a database, not both")
            found |= place_at(database, folder)
    with problems.at("spark"):
        if spark is not None:
            found["database"] = cluster_of(spark)
    if isinstance(found.get("partition"), (str, list)):
        given = found["partition"]
        found["partition"] = (given,) if isinstance(given, str) else tuple(given)
    if spark is not None and path is not None:
        with problems.at("path"):
            found["url"] = cluster_url(found.pop("path"), folder)
    elif is_elsewhere(path):
        found["url"] = found.pop("path")
    elif isinstance(path, str) and is_database(path):
        found |= {"path": None, **place_at(path, folder)}
    for key in FILES:
        given = found.pop(key, None)
        if given is not None:
            with problems.at(key):
                found[key] = path_of(given, Sentence("output: '{key}'", key=key), folder)
    with problems.at():
        output = Output(**found)
    problems.raise_if_any()
    return output


def output_of(thing: str | Path | Mapping[str, Any] | Output | None) -> Output:
    """An output from a path, an address with its table, or a mapping as in a project file."""
    if isinstance(thing, Output):
        return thing
    options = thing if isinstance(thing, Mapping) else {"path": thing}
    return output_from({k: v for k, v in options.items() if v is not None}, Path())


def place_at(address: Any, folder: Path | None = None) -> dict[str, Any]:
    """Where a release goes that goes to a database; the table may stand behind the ``#`` of the address."""
    text, table = with_table(address) if isinstance(address, str) else (address, None)
    if isinstance(text, str) and is_cluster(text) and table is not None and "/" in table:
        return {"database": cluster_of(text), "url": cluster_url(table, folder)}
    found = place_of(text, folder)
    found.pop("format", None)
    return {**found, **({} if table is None else {"table": table})}
