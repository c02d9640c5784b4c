"""Hierarchies from files: ``leaf;level 1;…;*``, one row per leaf."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from pathlib import Path

from velado.declarations import declare
from velado.errors import InputError, reason
from velado.hierarchies.hierarchy import Hierarchy
from velado.sentences import Sentence
from velado.tables.files import contents, not_found
from velado.values import Text

DELIMITERS = ";,\t|"


@declare(title="file", meaning="a file: value;level 1;…;*, one row for each value", example={"file": "ages.csv"})
def from_file(column: str, path: Path, delimiter: str | None = None, encoding: str | None = None) -> Hierarchy:
    """Read a hierarchy; the delimiter is found out unless it is given.

    An empty leaf stands for a missing value; empty labels of that row are missing, too.
    """
    try:
        data = contents(path)
    except InputError as error:
        error.column = column
        error.args = (str(error),)
        raise
    except FileNotFoundError:
        raise not_found(path, Sentence("hierarchy file"), column) from None
    except OSError as error:
        raise InputError(
            "unreadable-file", Sentence("cannot read the hierarchy: {why}", why=reason(error)), file=path, column=column
        ) from None
    try:
        text = data.decode(encoding or "utf-8-sig")
    except UnicodeDecodeError:
        if encoding:
            raise InputError(
                "wrong-encoding", Sentence("the file is not {encoding}", encoding=encoding), file=path, column=column
            ) from None
        text = data.decode("cp1252", errors="replace")
    except (LookupError, ValueError, TypeError):
        raise InputError(
            "wrong-encoding", Sentence("unknown encoding {given}", given=repr(encoding)), file=path, column=column
        ) from None
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise InputError(
            "bad-delimiter",
            Sentence("the delimiter must be one character, got {given}", given=repr(delimiter)),
            file=path,
            column=column,
        )
    try:
        rows = [row for row in _parse_rows(text, delimiter or _delimiter(text)) if row]
    except csv.Error as error:
        raise InputError(
            "unreadable-file", Sentence("the hierarchy cannot be read: {why}", why=str(error)), file=path, column=column
        ) from None
    cells: list[list[Text]] = [[*row] if row[0] else [cell or None for cell in row] for row in rows]
    return Hierarchy.from_rows(column, cells, file=path)


def _parse_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _delimiter(text: str) -> str:
    """The first delimiter that splits all rows into the same number of fields, more than one."""
    for candidate in DELIMITERS:
        widths = {len(row) for row in itertools.islice(_parse_rows(text, candidate), 200) if row}
        if len(widths) == 1 and widths.pop() > 1:
            return candidate
    return DELIMITERS[0]
