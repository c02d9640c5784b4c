"""Where a table comes from: a path and how to read it, or a table in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from velado.errors import InputError, shown, suggest
from velado.tables.files import check_regular, path_of
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
}
ADDRESS = re.compile(r"(^|[/\\])[a-z][a-z0-9+.-]+:/|[^:@/\\]{2,}:[^@]*@|[?&;](password|pwd)=", re.IGNORECASE)
"""What looks like the address of a database or a web page, not like a path."""
OPTIONS = ("path", "format", "delimiter", "quote", "encoding", "missing", "sheet", "header")


def format_of(path: Path) -> str:
    """csv, parquet, xlsx or arrow, by the suffix."""
    return FORMATS.get(path.suffix.lower(), "csv")


def check_path(path: Path | None) -> None:
    """Refuse an address where a path belongs, before anything repeats it: it may hold a password."""
    if path is not None and ADDRESS.search(str(path)) and not os.path.lexists(path):
        raise InputError(
            "no-such-engine", "this looks like an address; only files can be read and written yet", file=path,
            hint="Export the table to CSV or Parquet. A password that stood here may have been seen: change it.",
        )  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A file and its reading options; what is None is found out from the file.

    ``missing`` lists the texts that stand for a missing value (default: only the empty text). ``fields`` are the columns
    where they are known, for formats that do not tell dates from times, or whole numbers from others.
    """

    path: Path | None = None
    format: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] | None = None
    sheet: str | None = None
    data: Any = field(default=None, compare=False)
    fields: tuple[Field, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        check_path(self.path)

    @classmethod
    def of(cls, thing: Any, folder: Path | None = None) -> Source:
        """A source from a path, a mapping of options, or a pandas, Polars or Arrow table."""
        if isinstance(thing, Source):
            return thing
        if isinstance(thing, (str, Path)):
            return cls(path=path_of(thing, "the source", folder))
        if isinstance(thing, Mapping):
            return cls._from_options(thing, folder)
        return cls(data=thing)

    @classmethod
    def _from_options(cls, options: Mapping[str, Any], folder: Path | None) -> Source:
        known = [o for o in OPTIONS if o != "header"]
        for key in options:
            if key in ("database", "table"):
                raise InputError(
                    "no-such-engine", "databases are not supported yet", hint="Export the table to CSV or Parquet."
                )
            if key not in known:
                raise InputError("unknown-option", f"a source has no option '{key}'", hint=suggest(key, known))
        if not options.get("path"):
            raise InputError("no-path", "the source needs a 'path'", hint="source: {path: table.csv}")
        path = path_of(options["path"], "the source option 'path'", folder)
        given = {k: v for k, v in options.items() if k not in ("path", "missing")}
        for key, value in given.items():
            if value is not None and not isinstance(value, str):
                raise InputError("bad-option", f"the source option '{key}' must be text, got {value!r}")
        missing = options.get("missing")
        if missing is not None:
            markers = [missing] if isinstance(missing, (str, int, float)) else missing
            if not isinstance(markers, (list, tuple)) or not all(isinstance(m, (str, int, float)) for m in markers):
                raise InputError(
                    "bad-option", f"the source option 'missing' must be a text or a list of texts, got {shown(missing)}"
                )
            missing = tuple(str(m) for m in markers)
        return cls(path=path, missing=missing, **given)

    @property
    def name(self) -> str:
        """The path, or what the object in memory is."""
        return str(self.path) if self.path is not None else f"<{type(self.data).__name__}>"

    def kind(self) -> str:
        """csv, parquet, xlsx, arrow, or memory."""
        if self.path is None:
            return "memory"
        if self.format:
            if self.format not in FORMATS.values():
                raise InputError(
                    "unknown-format", f"unknown format '{self.format}'", file=self.path,
                    hint="Choose one of: " + ", ".join(dict.fromkeys(FORMATS.values())),
                )  # fmt: skip
            return self.format
        return format_of(self.path)

    def check_file(self) -> Path:
        """The path of a file that exists, is a file and is not empty."""
        assert self.path is not None
        if not self.path.exists():
            raise InputError("missing-file", "file not found", file=self.path)
        check_regular(self.path)
        try:
            with open(self.path, "rb") as stream:
                if not stream.read(1):
                    raise InputError("empty-file", "the file is empty", file=self.path)
        except PermissionError:
            raise InputError("unreadable-file", "no permission to read the file", file=self.path) from None
        return self.path
