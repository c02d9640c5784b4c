"""Where a table goes: a file and how it is written, or memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from velado.tables.source import Source, format_of

ORDERS = ("shuffle", "keep", "sorted")
GUARDED_FORMATS = ("csv", "xlsx")
"""What spreadsheets open: texts that look like formulas are guarded there."""
TABS = (".tsv", ".tab")


@dataclass(frozen=True)
class Sink:
    """A file; without a path the table stays in memory.

    ``recoding``: a file for the recoding of the release. ``evidence``: manifests are published beside it.
    ``private``: the file is for its owner only.
    """

    path: Path | None = None
    delimiter: str = ","
    order: str = "shuffle"
    guard: bool = True
    recoding: Path | None = None
    evidence: bool = False
    private: bool = False

    @property
    def guarded(self) -> bool:
        """Whether texts that look like formulas carry an apostrophe."""
        return self.guard and self.path is not None and format_of(self.path) in GUARDED_FORMATS

    @property
    def manifest(self) -> Path | None:
        """Where the public manifest is."""
        return None if self.path is None else self.path.with_name(self.path.name + ".manifest.json")

    @property
    def private_manifest(self) -> Path | None:
        """Where the manifest for the owner is."""
        return None if self.path is None else self.path.with_name(self.path.name + ".private.json")

    @property
    def files(self) -> dict[str, Path]:
        """Everything that is published, the table last."""
        if self.path is None:
            return {}
        found = {"manifest": self.manifest, "private manifest": self.private_manifest} if self.evidence else {}
        every = {**found, "recoding": self.recoding, "release": self.path}
        return {what: path for what, path in every.items() if path is not None}

    def replaces(self, source: Source) -> bool:
        """Whether it would be written over a file that is read."""
        return self.path is not None and source.path is not None and self.path.resolve() == source.path.resolve()

    def source(self, path: Path | None = None) -> Source:
        """The file as it is read, under its own name or another."""
        return Source(path=path or self.path, delimiter=self.delimiter, encoding="utf-8", quote='"', names="exact")


def delimiter_of(path: Path | None, wanted: str | None = None, usual: str | None = None) -> str:
    """The delimiter of a text table that is written: the wanted one, a tab by the suffix, or that of the input."""
    if wanted is not None:
        return wanted
    return "\t" if path is not None and path.suffix.lower() in TABS else usual or ","
