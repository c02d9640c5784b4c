"""Hierarchies from files: ``leaf;level 1;…;*``, one row per leaf."""

from __future__ import annotations

import csv
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
    rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter or _delimiter(text)) if row]
    return Hierarchy.from_rows(column, [[row[0] or None, *row[1:]] for row in rows], file=path)


def _delimiter(text: str) -> str:
    lines = [line for line in text.splitlines() if line][:200]
    best = ";"
    most = 1
    for candidate in DELIMITERS:
        widths = {len(row) for row in csv.reader(lines, delimiter=candidate)}
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = candidate, width
    return best
