"""Every row of a text table has as many fields as its header; a row that has not slides values into other columns."""

from __future__ import annotations

import csv
import mmap
from pathlib import Path
from typing import Any

from velado.errors import MOST_VALUES, InputError
from velado.progress import Progress
from velado.sentences import Sentence
from velado.tables.formats.csv import Dialect

BLOCK = 1 << 24
"""Bytes that are looked at together: no line of a table may be longer."""


def check_fields(path: Path, name: Path, dialect: Dialect, progress: Progress) -> None:
    """Raise `ragged-row` with the line of the first row that has more or fewer fields than the header.

    DuckDB passes over a field too many if it is empty, so a second reader counts them. ``path`` is the table in UTF-8,
    ``name`` the file that the user knows.
    """
    import pyarrow as pa

    if ord(dialect.delimiter) > 127 or ord(dialect.quote) > 127:
        _count_slowly(path, name, dialect, progress)
        return
    try:
        for _ in _second_reader(path, dialect, ["f0"]):
            progress.check()
    except pa.ArrowInvalid:
        # It does not say the line; and it refuses some files that are whole, such as a header without line end.
        _count_slowly(path, name, dialect, progress)


def blanks_beside_quotes(path: Path, dialect: Dialect) -> bool:
    """Whether a quote stands beside a blank somewhere: readers differ on whether the blank belongs to the field."""
    quote = dialect.quote.encode()
    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b" " + quote) >= 0 or data.find(quote + b" ") >= 0


def column_bytes(path: Path, dialect: Dialect, progress: Progress) -> list[int]:
    """The bytes of all cells of each column, as the second reader sees them."""
    import pyarrow.compute as compute

    columns = [f"f{i}" for i in range(len(dialect.header))]
    total = [-len(name.encode()) for name in dialect.written] or [0] * len(columns)
    for batch in _second_reader(path, dialect, columns):
        progress.check()
        for i in range(len(columns)):
            total[i] += compute.sum(compute.binary_length(batch.column(i))).as_py() or 0
    return total


def row_count(path: Path, dialect: Dialect, progress: Progress) -> int:
    """The rows below the header, as the second reader sees them."""
    rows = -1 if dialect.written else 0
    for batch in _second_reader(path, dialect, ["f0"]):
        progress.check()
        rows += batch.num_rows
    return rows


def _second_reader(path: Path, dialect: Dialect, columns: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.csv as arrow

    # From a path it would guess that the file is packed, by its name.
    return arrow.open_csv(
        pa.OSFile(str(path)),
        read_options=arrow.ReadOptions(block_size=BLOCK, autogenerate_column_names=True),
        parse_options=arrow.ParseOptions(delimiter=dialect.delimiter, quote_char=dialect.quote, newlines_in_values=True),
        convert_options=arrow.ConvertOptions(
            include_columns=columns, column_types=dict.fromkeys(columns, pa.binary()), check_utf8=False
        ),
    )


def _count_slowly(path: Path, name: Path, dialect: Dialect, progress: Progress) -> None:
    """Find the lines on which rows with another number of fields begin, the first of which is raised with the others."""
    wrong: list[tuple[int, int]] = []
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as stream:
        rows = csv.reader(stream, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)
        line, above = dialect.first_line, dialect.first_line - 1
        try:
            for row in rows:
                progress.check()
                if row and len(row) != len(dialect.header):
                    wrong.append((line, len(row)))
                    if len(wrong) == MOST_VALUES:
                        break
                line = above + rows.line_num + 1
        except csv.Error as error:
            if wrong:
                raise _ragged_error(name, wrong, dialect) from None
            if "end of data" in str(error):
                raise open_quote(name, Sentence("line {line}", line=line)) from None
            raise InputError(
                "unreadable-file", Sentence("line {line} cannot be read as this dialect", line=line), file=name
            ) from None
    if wrong:
        raise _ragged_error(name, wrong, dialect)


def _ragged_error(name: Path, wrong: list[tuple[int, int]], dialect: Dialect) -> InputError:
    error = ragged_row(name, *wrong[0], len(dialect.header), dialect)
    error.fields["lines"] = [{"line": line, "fields": found} for line, found in wrong]
    return error


def open_quote(name: Path | str, where: str) -> InputError:
    """The error for a quote without its other half."""
    return InputError("ragged-row", Sentence("{where} has a quote that is never closed", where=where), file=name)


def ragged_row(name: Path | str, line: int | str, found: int, wanted: int, dialect: Dialect | None = None) -> InputError:
    """The error for a row with a wrong number of fields."""
    first = Sentence("the header") if dialect is None or dialect.written else Sentence("the first line")
    return InputError(
        "ragged-row",
        Sentence("line {line} has {found} fields, {first} has {wanted}", line=line, found=found, first=first, wanted=wanted),
        file=name,
        hint="Mend that line, or name the delimiter and the quote character of the file. If titles stand above the names of "
        "the columns, source: {skip: N} or --skip N passes over the first N lines.",
    )
