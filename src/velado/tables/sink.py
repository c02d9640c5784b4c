"""Where a table goes: a file here or elsewhere and how it is written, a table of a database, or memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from velado.tables.address import Address, TableName
from velado.tables.source import Source, clustered_format, format_of, shown_url
from velado.tables.types import Field

ORDERS = ("shuffle", "keep", "sorted")
GUARDED_FORMATS = ("csv", "xlsx")
"""What spreadsheets open: texts that look like formulas are guarded there."""
TABS = (".tsv", ".tab")
IF_EXISTS = ("fail", "replace")
"""What becomes of a table of a database that is there already."""


@dataclass(frozen=True)
class Target:
    """A file, here or at ``url``; a ``table`` of a ``database``, or of a database that is a file; else the table stays in memory.

    ``order``: shuffle, keep, or sorted (reproducible byte for byte). ``guard``: protect spreadsheets from texts that look like
    formulas. ``recoding``: a file for the recoding of the release. ``if_exists``: whether a table that is there already is
    replaced. Where the ``database`` is a Spark cluster, it writes at ``url``, or, without a table and a url, makes a DataFrame;
    ``partition`` are the columns by whose values it keeps files apart.
    """

    path: Path | None = None
    delimiter: str | None = None
    order: str = ORDERS[0]
    guard: bool = True
    recoding: Path | None = None
    database: Address | None = None
    table: str | None = None
    url: str | None = None
    if_exists: str = IF_EXISTS[0]
    partition: tuple[str, ...] = ()

    @property
    def in_memory(self) -> bool:
        """Whether the table goes nowhere."""
        return self.path is None and self.database is None and self.url is None


@dataclass(frozen=True)
class Sink(Target):
    """A target as an engine writes it.

    ``evidence``: manifests are published beside it: of a table in the table that `manifest_table` names, the private one in
    the file ``own_manifest``. ``private``: the file is for its owner only. ``kind``: the format of what a Spark cluster writes.
    """

    delimiter: str = ","
    evidence: bool = False
    private: bool = False
    own_manifest: Path | None = None
    kind: str | None = None

    @property
    def is_guarded(self) -> bool:
        """Whether texts that look like formulas carry an apostrophe."""
        return self.guard and self.format in GUARDED_FORMATS

    @property
    def format(self) -> str | None:
        """The format of the file, by its suffix; None for tables of servers and in memory."""
        if self.database is not None:
            named = None if self.url is None else clustered_format(shown_url(self.url).rstrip("/"))
            return self.kind or named
        if self.url is not None:
            return format_of(Path(shown_url(self.url)))
        return None if self.path is None else format_of(self.path)

    @cached_property
    def name(self) -> str:
        """The path or the address, with the table, as messages and results call it."""
        return self.source().name

    @property
    def manifest_table(self) -> TableName | None:
        """The table of the public manifest, beside that of the release."""
        return None if self.table is None or not self.evidence else TableName.parse(self.table).beside("_manifest")

    @property
    def manifest(self) -> Path | None:
        """Where the public manifest is."""
        return self._beside(".manifest.json")

    @property
    def private_manifest(self) -> Path | None:
        """Where the manifest for the owner is."""
        return self._beside(".private.json") or self.own_manifest

    def _beside(self, ending: str) -> Path | None:
        """A file beside that of the release, where that is here."""
        return None if self.path is None or self.table else self.path.with_name(self.path.name + ending)

    @property
    def files(self) -> dict[str, Path]:
        """Every file that is published, the table last."""
        if self.in_memory:
            return {}
        found = {"manifest": self.manifest, "private manifest": self.private_manifest} if self.evidence else {}
        every = {**found, "recoding": self.recoding, "release": None if self.table else self.path}
        return {what: path for what, path in every.items() if path is not None}

    def replaces(self, source: Source, table: TableName | None = None) -> bool:
        """Whether it would be written over what is read: the table of a source, or another one of the same database."""
        read = table or (None if source.table is None else TableName.parse(source.table))
        if self.table is not None and self._is_other_table(read):
            return False
        if self.url is not None:
            return source.url is not None and self.url.rstrip("/") == source.url.rstrip("/")
        if self.database is not None:
            # Without a table it is a DataFrame, which replaces nothing.
            return self.table is not None and read is not None and self.database.is_at(source.database)
        return self.path is not None and source.path is not None and self.path.resolve() == source.path.resolve()

    def _is_other_table(self, read: TableName | None) -> bool:
        """Whether a query, or a table of another name, is read. Database files tell names apart by more than capital letters."""
        if read is None:
            return self.database is None
        assert self.table is not None
        own = TableName.parse(self.table)
        if self.database is not None:
            return own != read
        folded = [((t.schema or "main").casefold(), t.name.casefold()) for t in (own, read)]
        return folded[0] != folded[1]

    def source(self, path: Path | None = None, fields: tuple[Field, ...] = ()) -> Source:
        """The file as it is read, under its own name or another; or the table. ``fields`` are its columns where they are known."""
        at: dict[str, Any] = {"names": "exact", "fields": fields}
        if self.table is not None:
            return Source(path=self.path, database=self.database, table=self.table, **at)
        if self.database is not None:
            data = "DataFrame" if self.url is None else None
            return Source(database=self.database, url=self.url, format=self.kind, data=data, **at)
        url = None if path else self.url
        return Source(url=url, path=path or self.path, delimiter=self.delimiter, encoding="utf-8", quote='"', **at)


def delimiter_of(path: Path | None, wanted: str | None = None, usual: str | None = None) -> str:
    """The delimiter of a text table that is written: the wanted one, a tab by the suffix, or that of the input."""
    if wanted is not None:
        return wanted
    return "\t" if path is not None and path.suffix.lower() in TABS else usual or ","
