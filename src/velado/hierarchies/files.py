"""Hierarchies from files: ``leaf;level 1;…;*``, one row per leaf."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from pathlib import Path

from velado.errors import InputError
from velado.hierarchies.hierarchy import Hierarchy

DELIMITERS = ";,\t|"


def from_file(column: str, path: Path, delimiter: str | None = None, encoding: str | None = None) -> Hierarchy:
    """Read a hierarchy; the delimiter is the one that splits all rows alike unless it is given.

    An empty leaf stands for a missing value.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("missing-file", "hierarchy file not found", file=path, column=column) from None
    except OSError as error:
        raise InputError(
            "unreadable-file", f"cannot read the hierarchy: {error.strerror}", file=path, column=column
        ) from None
    try:
        text = data.decode(encoding or "utf-8-sig")
    except UnicodeDecodeError:
        if encoding:
            raise InputError("wrong-encoding", f"the file is not {encoding}", file=path, column=column) from None
        text = data.decode("cp1252", errors="replace")
    except LookupError:
        raise InputError("wrong-encoding", f"unknown encoding {encoding!r}", file=path, column=column) from None
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise InputError(
            "bad-delimiter", f"the delimiter must be one character, got {delimiter!r}", file=path, column=column
        )
    try:
        rows = [row for row in _parsed(text, delimiter or _delimiter(text)) if row]
    except csv.Error as error:
        raise InputError(
            "unreadable-file", f"the hierarchy cannot be read: {error}", file=path, column=column
        ) from None
    return Hierarchy.from_rows(column, [[row[0] or None, *row[1:]] for row in rows], file=path)


def _parsed(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _delimiter(text: str) -> str:
    best = ";"
    most = 1
    for candidate in DELIMITERS:
        widths = {len(row) for row in itertools.islice(_parsed(text, candidate), 200) if row}
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = candidate, width
    return best
