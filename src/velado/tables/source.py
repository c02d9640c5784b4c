"""Where a table comes from: a path and how to read it, or a table in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from velado.errors import InputError, Problems, shown, suggest
from velado.results import Discreet
from velado.sentences import Sentence, joined
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
}
ADDRESS = re.compile(r"(^|[/\\])[a-z][a-z0-9+.-]+:/|[^:@/\\]{2,}:[^@]*@|[?&;](password|pwd)=", re.IGNORECASE)
"""What looks like the address of a database or a web page, not like a path."""
TEXTS = ("format", "delimiter", "quote", "encoding", "sheet")
LINED = ("csv", "xlsx")
LINES = {"header": True, "skip": 0}
"""Options of formats that have lines, and their defaults."""
OPTIONS = ("path", *TEXTS, "missing", *LINES, "names")


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


@dataclass(frozen=True, repr=False)
class Source(Discreet):
    """A file and its reading options; what is None is found out from the file.

    ``missing`` lists the texts that stand for a missing value (default: only the empty text). The first ``skip`` lines are
    not read. Without a ``header`` the columns are called column_1, column_2, … ``names``: unique, or numbered where they are
    not. ``fields`` are the columns where they are known, for formats that do not tell dates from times, or whole numbers
    from others. ``folder`` is that of the project file which names the path.
    """

    path: Path | None = None
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
        if self.path is None:
            return {} if self.data is None else {"data": type(self.data).__name__}
        said = {"format": self.format, "sheet": self.sheet, "encoding": self.encoding}
        return {"file": self.path, **{what: option for what, option in said.items() if option is not None}}

    def __post_init__(self) -> None:
        problems = Problems()
        with problems.at("path"):
            check_path(self.path)
        if self.format and self.format not in FORMATS.values():
            problems.add(self._unknown_format(), "format")
        if not _is_character(self.delimiter):
            message = Sentence("the delimiter must be one character, got {given}", given=shown(self.delimiter))
            problems.add(InputError("bad-delimiter", message, file=self.path), "delimiter")
        if not _is_character(self.quote):
            message = Sentence("the quote must be one character, got {given}", given=shown(self.quote))
            problems.add(InputError("bad-quote", message, file=self.path), "quote")
        if not isinstance(self.header, bool):
            message = Sentence(
                "the source option 'header' must be true or false, got {given}", given=shown(self.header)
            )
            problems.add(InputError("bad-option", message), "header")
        if isinstance(self.skip, bool) or not isinstance(self.skip, int) or self.skip < 0:
            message = Sentence(
                "the source option 'skip' must be a number of lines, 0 or more, got {given}", given=shown(self.skip)
            )
            problems.add(InputError("bad-option", message), "skip")
        if self.names not in NAMES:
            known = joined(Sentence(" or "), NAMES)
            message = Sentence(
                "the source option 'names' must be {known}, got {given}", known=known, given=shown(self.names)
            )
            problems.add(InputError("bad-option", message), "names")
        problems.done()

    @classmethod
    def of(cls, thing: Any, folder: Path | None = None) -> Source:
        """A source from a path, a mapping of options, or a pandas, Polars or Arrow table."""
        if isinstance(thing, Source):
            return thing
        if isinstance(thing, (str, Path)):
            return cls(path=path_of(thing, Sentence("the source"), folder), folder=folder)
        if isinstance(thing, Mapping):
            return cls._from_options(thing, folder)
        return cls(data=thing)

    @classmethod
    def _from_options(cls, options: Mapping[str, Any], folder: Path | None) -> Source:
        problems = Problems()
        for key in options:
            if key in ("database", "table"):
                problems.add(
                    InputError(
                        "no-such-engine", "databases are not supported yet", hint="Export the table to CSV or Parquet."
                    ),
                    key,
                )
            elif key not in OPTIONS:
                message = Sentence("a source has no option '{option}'", option=key)
                problems.add(InputError("unknown-option", message, hint=suggest(key, OPTIONS)), str(key))
        given = {k: v for k, v in options.items() if k in OPTIONS and v is not None}
        if not given.get("path"):
            problems.add(InputError("no-path", "the source needs a 'path'", hint="source: {path: table.csv}"))
            given.pop("path", None)
        with problems.at("path"):
            if "path" in given:
                given["path"] = path_of(given.pop("path"), Sentence("the source option 'path'"), folder)
        for key in TEXTS:
            if not isinstance(given.get(key, ""), str):
                message = Sentence(
                    "the source option '{option}' must be text, got {given}", option=key, given=repr(given.pop(key))
                )
                problems.add(InputError("bad-option", message), key)
        with problems.at("missing"):
            if "missing" in given:
                given["missing"] = _markers(given.pop("missing"))
        with problems.at():
            source = cls(folder=folder, **given)
        problems.done()
        return source

    @property
    def options(self) -> dict[str, Any]:
        """How it is read, as a project file says it: what has its default is left out."""
        usual = {**dict.fromkeys(OPTIONS), **LINES, "names": NAMES[0]}
        given = {k: v for k in OPTIONS if k != "path" and (v := getattr(self, k)) != usual[k] and v != ""}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}

    @property
    def name(self) -> str:
        """The path, or what the object in memory is."""
        return str(self.path) if self.path is not None else f"<{type(self.data).__name__}>"

    def kind(self) -> str:
        """csv, parquet, xlsx, arrow, or memory."""
        kind = self._kind()
        for option, usual in LINES.items():
            if kind not in LINED and getattr(self, option) != usual:
                raise InputError(
                    "bad-option",
                    Sentence(
                        "'{option}' is for text tables and sheets: other tables know the names of their columns",
                        option=option,
                    ),
                    file=self.name,
                    hint="Leave it out.",
                )
        return kind

    def _kind(self) -> str:
        if self.path is None:
            return "memory"
        if self.format:
            return self.format
        return format_of(self.path)

    def _unknown_format(self) -> InputError:
        return InputError(
            "unknown-format", Sentence("unknown format '{format}'", format=self.format), file=self.path,
            hint=Sentence("Choose one of: {known}", known=list(dict.fromkeys(FORMATS.values()))),
        )  # fmt: skip

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
                "unreadable-file", "no permission to read the file", file=self.path,
                hint="You need the right to read it, and to enter all folders above it.",
            ) from None  # fmt: skip
        return self.path


def _is_character(given: Any) -> bool:
    return given is None or (isinstance(given, str) and len(given) == 1)


def _markers(missing: Any) -> tuple[str, ...]:
    """The texts that stand for a missing value."""
    markers = [missing] if isinstance(missing, (str, int, float)) else missing
    if not isinstance(markers, (list, tuple)) or not all(isinstance(m, (str, int, float)) for m in markers):
        raise InputError(
            "bad-option",
            Sentence(
                "the source option 'missing' must be a text or a list of texts, got {given}", given=shown(missing)
            ),
        )
    return tuple(str(m) for m in markers)
