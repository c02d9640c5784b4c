"""What a source is to Spark: a DataFrame, of a fixed version where its format keeps versions, and how to tell that it changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from velado.errors import InputError
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables.address import TableName
from velado.tables.contract import Identity
from velado.tables.source import LINES, Source
from velado.tables.spark.connection import SparkConnection
from velado.tables.sql.errors import CHANGED, known_error

CSV = {"header": "true", "multiLine": "true", "mode": "FAILFAST", "quote": '"', "escape": '"', "columnPruning": "false"}
"""Texts as RFC 4180 writes them. A line that does not fit ends the run: Spark would make up missing cells."""


@dataclass(frozen=True, repr=False)
class Opened(Discreet):
    """A DataFrame; ``version`` names a state that the format keeps; ``files``: whether it is nothing but some files."""

    frame: Any
    version: str | None = None
    files: bool = False


def open_frame(source: Source, connection: SparkConnection) -> Opened:
    """The DataFrame of a source."""
    if source.data is not None:
        return Opened(source.data)
    if source.query is not None:
        return Opened(connection.frame(source.query.strip().rstrip(";")))
    if source.url is not None:
        return _files(source, connection)
    assert source.table is not None
    wanted = TableName.parse(source.table, source.name)
    if connection.find(wanted) is None:
        raise InputError(
            "unknown-table",
            Sentence("the database has no table '{table}' that may be read", table=str(wanted)),
            file=connection.address.text,
            hint="velado tables ADDRESS lists the tables.",
        )
    return _table(connection, connection.quote_table(wanted))


def _files(source: Source, connection: SparkConnection) -> Opened:
    """Files of a format; of a text table the first line has the names."""
    assert source.url is not None
    kind = source.kind()
    if kind in ("delta", "iceberg"):
        # Tells first whether the session has the format at all.
        connection.spark.read.format(kind).load(source.url)
        version = _latest(connection, kind, f"{kind}.{connection.sql.quote(source.url)}")
        read = connection.spark.read.format(kind)
        if version is not None:
            read = read.option("versionAsOf" if kind == "delta" else "snapshot-id", version)
        return Opened(read.load(source.url), version)
    read = connection.spark.read.format(kind)
    for key, value in csv_options(source).items() if kind == "csv" else ():
        read = read.option(key, value)
    return Opened(read.load(source.url), files=True)


def csv_options(source: Source) -> Mapping[str, str]:
    """How a text table is read; what is not said is as usual: Spark finds nothing out."""
    for option, usual in LINES.items():
        if getattr(source, option) != usual:
            raise InputError(
                "bad-option",
                Sentence(
                    "Spark reads text tables whose first line has the names of the columns, without '{option}'", option=option
                ),
                file=source.name,
                hint="Write the table as Parquet first.",
            )
    said = {"sep": source.delimiter, "quote": source.quote, "encoding": source.encoding}
    return {**CSV, **{key: value for key, value in said.items() if value is not None}}


def _table(connection: SparkConnection, name: str) -> Opened:
    """A table of the catalog. A view is whatever its query gives."""
    about = {str(row[0]).strip(): str(row[1]) for row in connection.fetch_rows(f"DESCRIBE TABLE EXTENDED {name}")}
    provider = about.get("Provider", "").lower()
    version = _latest(connection, provider, name)
    if version is not None:
        return Opened(connection.frame(f"SELECT * FROM {name} VERSION AS OF {connection.sql.literal(version)}"), version)
    return Opened(connection.spark.table(name), files=about.get("Type", "").upper() in ("MANAGED", "EXTERNAL"))


def _latest(connection: SparkConnection, provider: str, name: str) -> str | None:
    """The version of a table that is its newest now, where its format keeps versions."""
    asked = {
        # The newest comes first. Outside of Databricks this is no part of a query.
        "delta": f"DESCRIBE HISTORY {name} LIMIT 1",
        "iceberg": f"SELECT snapshot_id FROM {name}.snapshots ORDER BY committed_at DESC LIMIT 1",
    }.get(provider)
    if asked is None:
        return None
    found = connection.fetch_rows(asked)
    return str(found[0][0]) if found else None


def files_of(frame: Any, connection: SparkConnection) -> tuple[tuple[str, int, str], ...]:
    """The files of a DataFrame with their sizes and when they were changed, as they are now."""
    if connection.connects:
        cells = ("file_path", "file_size", "file_modification_time")
        found = frame.select(*(f"_metadata.{c}" for c in cells)).distinct().collect()
        return tuple(sorted((str(path), int(size), str(changed)) for path, size, changed in found))
    java = connection.spark._jvm
    settings = connection.spark._jsparkSession.sessionState().newHadoopConf()
    states = []
    for name in sorted(frame.inputFiles()):
        path = java.org.apache.hadoop.fs.Path(java.java.net.URI(name))
        state = path.getFileSystem(settings).getFileStatus(path)
        states.append((name, int(state.getLen()), str(state.getModificationTime())))
    return tuple(states)


@dataclass(frozen=True, repr=False)
class FilesIdentity(Identity, Discreet):
    """The files of a table, their sizes and when they were changed. Files that come later are not read."""

    frame: Any
    connection: SparkConnection
    name: str
    files: tuple[tuple[str, int, str], ...]

    def check(self) -> None:
        """Raise if a file is not what it was."""
        with self.connection.watch(self.name):
            now = files_of(self.frame, self.connection)
        if now != self.files:
            raise known_error(CHANGED, self.name)

    def digest(self) -> str:
        """SHA-256 of what is known of the files."""
        return f"files:{hashlib.sha256(repr(self.files).encode()).hexdigest()}"


@dataclass(frozen=True, repr=False)
class RowsIdentity(Identity, Discreet):
    """How many rows there are, and what their hashes add up to."""

    table: Any
    sums: tuple[Any, ...]

    def check(self) -> None:
        """Raise if the rows are not what they were."""
        if self.table.checksum() != self.sums:
            raise known_error(CHANGED, self.table.source.name)

    def digest(self) -> str:
        """The sums."""
        return "rows:" + ":".join(map(str, self.sums))
