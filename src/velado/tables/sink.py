"""Where a table goes: a file here or elsewhere and how it is written, a table of a database, or memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from velado.tables.address import Address, TableName
from velado.tables.source import Source, clustered_format, format_of, shown_url

ORDERS = ("shuffle", "keep", "sorted")
GUARDED_FORMATS = ("csv", "xlsx")
"""What spreadsheets open: texts that look like formulas are guarded there."""
TABS = (".tsv", ".tab")
IF_EXISTS = ("fail", "replace")
"""What becomes of a table of a database that is there already."""


@dataclass(frozen=True)
class Sink:
    """A file, here or at ``url``; a ``table`` of a ``database``, or of a database that is a file; else the table stays in memory.

    ``recoding``: a file for the recoding of the release. ``evidence``: manifests are published beside it: of a table in the
    table that `manifest_table` names, the private one in the file ``own_manifest``. ``private``: the file is for its owner
    only. ``if_exists``: whether a table that is there already is replaced. Where the ``database`` is a Spark cluster, it writes
    at ``url``, or, without a table and a url, makes a DataFrame; ``kind`` is the format, ``partition`` the columns by whose
    values files are kept apart.
    """

    path: Path | None = None
    delimiter: str = ","
    order: str = "shuffle"
    guard: bool = True
    recoding: Path | None = None
    evidence: bool = False
    private: bool = False
    database: Address | None = None
    table: str | None = None
    url: str | None = None
    if_exists: str = "fail"
    own_manifest: Path | None = None
    kind: str | None = None
    partition: tuple[str, ...] = ()

    @property
    def guarded(self) -> bool:
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

    @property
    def in_memory(self) -> bool:
        """Whether the table goes nowhere."""
        return self.path is None and self.database is None and self.url is None

    @property
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

    def replaces(self, source: Source) -> bool:
        """Whether it would be written over what is read."""
        if self.table is not None and self._other_table(source):
            return False
        if self.url is not None:
            return source.url is not None and self.url.rstrip("/") == source.url.rstrip("/")
        if self.database is not None:
            # Without a table it is a DataFrame, which replaces nothing.
            return self.table is not None and source.table is not None and self.database.is_at(source.database)
        return self.path is not None and source.path is not None and self.path.resolve() == source.path.resolve()

    def _other_table(self, source: Source) -> bool:
        """Whether a query, or a table of another name, is read. Database files tell names apart by more than capital letters."""
        if source.table is None:
            return self.database is None
        assert self.table is not None
        one, other = TableName.parse(self.table), TableName.parse(source.table)
        if self.database is not None:
            return one != other
        folded = [((t.schema or "main").casefold(), t.name.casefold()) for t in (one, other)]
        return folded[0] != folded[1]

    def source(self, path: Path | None = None) -> Source:
        """The file as it is read, under its own name or another; or the table."""
        if self.table is not None:
            return Source(path=self.path, database=self.database, table=self.table, names="exact")
        if self.database is not None:
            data = "DataFrame" if self.url is None else None
            return Source(database=self.database, url=self.url, format=self.kind, data=data, names="exact")
        url = None if path else self.url
        return Source(
            url=url, path=path or self.path, delimiter=self.delimiter, encoding="utf-8", quote='"', names="exact"
        )


def delimiter_of(path: Path | None, wanted: str | None = None, usual: str | None = None) -> str:
    """The delimiter of a text table that is written: the wanted one, a tab by the suffix, or that of the input."""
    if wanted is not None:
        return wanted
    return "\t" if path is not None and path.suffix.lower() in TABS else usual or ","
