"""Find out how a text table is written: encoding, delimiter, quote, header, missing markers."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar

from velado.errors import InputError
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables.formats.names import HEADERLESS, names_below, names_of, numbers, title_lines, too_few_lines, trim_names

SAMPLE, ROWS = 1 << 20, 1000
"""Bytes and rows that are looked at."""
DELIMITERS = (",", ";", "\t", "|")
FEWEST_SPACED, FEWEST_FIELDS = 10, 4
"""So many rows of so many fields must be alike before a space is taken for a delimiter: texts have spaces, too."""
PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "ZIP",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"7z\xbc\xaf": "7-Zip",
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\x04\x22\x4d\x18": "LZ4",
}
"""First bytes of files that hold a table, but not as text."""


@dataclass(frozen=True, repr=False)
class Dialect(Discreet):
    """How to read a text table; ``encoding`` is Python's name of it.

    ``header`` are the names of the columns, ``written`` what the file says in their place: nothing if it has no header.
    The table begins on ``first_line``, below titles and blank lines.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("delimiter", "quote", "encoding")
    delimiter: str
    quote: str
    encoding: str
    header: tuple[str, ...]
    written: tuple[str, ...] = ()
    first_line: int = 1


def sniff(
    path: Path,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    skip: int = 0,
    names: str = "unique",
) -> Dialect:
    """The dialect of a file; given parts are taken as they are.

    The delimiter is the one that splits the first rows into the most fields, all rows alike. The first ``skip`` lines are
    not read, nor are blank lines below them.
    """
    with open(path, "rb") as stream:
        data = stream.read(SAMPLE)
    for mark, name in PACKED.items():
        if data.startswith(mark):
            raise InputError(
                "unreadable-file",
                Sentence("this is a {name} file, not a text table", name=name),
                file=path,
                hint="Unpack it, or give the file the suffix of its format.",
            )
    whole = len(data) < SAMPLE
    encoding = _encoding(path, data, whole, encoding)
    try:
        text = data.decode(encoding, errors="replace" if not whole else "strict")
    except UnicodeError as error:
        raise wrong_encoding(path, encoding, getattr(error, "start", None)) from None
    lines = list(io.StringIO(text, newline=""))
    if not text.strip():
        raise InputError("empty-file", "the file has no content", file=path)
    begin = next((i for i in range(skip, len(lines)) if not _blank(lines[i], delimiter)), None)
    if begin is None:
        raise too_few_lines(path, skip)
    if not whole and begin == len(lines) - 1:
        raise InputError(
            "unreadable-file",
            Sentence("line {line} does not end within the first {most:,} bytes", line=begin + 1, most=SAMPLE),
            file=path,
            hint="The first line must hold the column names.",
        )
    sample = "".join((lines if whole else lines[:-1])[begin : begin + ROWS])
    quote = quote or _quote(sample)
    found = delimiter or _delimiter(sample, quote)
    if found is None or (header and names == "unique"):
        _check_titles(path, sample, quote, found, begin)
    dialect = Dialect(found or ",", quote, encoding, (), (), begin + 1)
    try:
        first = next(_rows(io.StringIO(sample, newline=""), dialect))
    except csv.Error as error:
        raise InputError(
            "unreadable-file",
            Sentence("the header cannot be read: {why}", why=Sentence(str(error))),
            file=path,
            hint="Lines must end in a line feed; name the delimiter and the quote character if they are unusual.",
        ) from None
    if header:
        return replace(dialect, header=tuple(names_of(trim_names(first, names), names, path, HEADERLESS)), written=tuple(first))
    return replace(dialect, header=tuple(names_of(numbers(len(first)), names, path)))


def rows_below(path: Path, dialect: Dialect) -> Iterator[list[str]]:
    """The rows of a text table below its names, as far as they can be read."""
    try:
        with open(path, encoding=dialect.encoding, errors="replace", newline="") as stream:
            rows = _rows(islice(stream, dialect.first_line - 1, None), dialect)
            yield from islice(rows, 1 if dialect.written else 0, None)
    except (OSError, csv.Error):
        return


def _rows(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote)


def _blank(line: str, delimiter: str | None) -> bool:
    """Whether nothing is in a line, not even a delimiter."""
    return not line.strip() and (delimiter is None or delimiter not in line)


def _check_titles(path: Path, sample: str, quote: str, delimiter: str | None, begin: int) -> None:
    """Refuse titles above the table, and say how many lines they are.

    Where no delimiter fits the first line, but one does fit the others, that line is not taken for a table of one column.
    """
    found: dict[int, int] = {}
    for candidate in [delimiter] if delimiter else DELIMITERS:
        rows = csv.reader(io.StringIO(sample, newline=""), delimiter=candidate, quotechar=quote)
        numbered, line = [], begin + 1
        try:
            for row in rows:
                if any(cell.strip() for cell in row):
                    numbered.append((line, row))
                line = begin + rows.line_num + 1
        except csv.Error:
            continue
        number = names_below(numbered, named=delimiter is not None)
        if number is not None:
            found[len(next(row for line, row in numbered if line == number))] = number
    if found:
        raise title_lines(path, found[max(found)])


def _encoding(path: Path, data: bytes, whole: bool, given: str | None) -> str:
    if given is not None:
        try:
            found = codecs.lookup(given)
            if not found._is_text_encoding:
                raise LookupError
            name = found.name
        except (LookupError, ValueError):
            raise InputError("wrong-encoding", Sentence("unknown encoding {given}", given=repr(given)), file=path) from None
        try:
            data.decode(name) if whole else codecs.getincrementaldecoder(name)().decode(data)
        except UnicodeError as error:
            raise wrong_encoding(path, given, getattr(error, "start", None)) from None
        return name
    for mark, name in ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
        return "utf-8"
    except UnicodeDecodeError:
        # Bytes 0x80–0x9F are control characters in Latin-1 and letters or quotes in Windows-1252.
        if not any(0x80 <= b <= 0x9F for b in data):
            return "iso8859-1"
        try:
            data.decode("cp1252")
        except UnicodeDecodeError:
            return "iso8859-1"
        return "cp1252"


def wrong_encoding(path: Path | str, encoding: str, position: int | None = None) -> InputError:
    """The error for a file that is not in the encoding assumed."""
    if position is None:
        message = Sentence("the file is not {encoding}", encoding=encoding)
    else:
        message = Sentence("the file is not {encoding} (byte {byte})", encoding=encoding, byte=position)
    return InputError(
        "wrong-encoding",
        message,
        file=path,
        hint="Name the encoding, for example source: {encoding: latin-1} or --encoding latin-1.",
    )


def _quote(sample: str) -> str:
    return "'" if '"' not in sample and sample.count("'") >= 4 and _has_quoted_fields(sample) else '"'


def _has_quoted_fields(sample: str) -> bool:
    return any(f"'{d}'" in sample for d in DELIMITERS)


def _delimiter(sample: str, quote: str) -> str | None:
    """The delimiter; None if no character splits the first row into as many fields as most."""
    best, most = None, 1
    for candidate in DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(io.StringIO(sample, newline=""), delimiter=candidate, quotechar=quote) if row]
        except csv.Error:
            continue
        common = max(set(widths), key=widths.count) if widths else 1
        regular = widths.count(common) >= 0.9 * len(widths)
        if regular and widths[0] == common and common > most:
            best, most = candidate, common
    return best or (" " if _has_single_spaces(sample) else None)


def _has_single_spaces(sample: str) -> bool:
    """Whether single spaces stand between the fields: all rows alike, and most fields are numbers or codes, no words."""
    rows = [line.rstrip("\r\n").rstrip(" ").split(" ") for line in sample.splitlines() if line.strip()]
    if len(rows) < FEWEST_SPACED or {len(row) for row in rows} != {len(rows[0])} or len(rows[0]) < FEWEST_FIELDS:
        return False
    fields = [field for row in rows for field in row]
    return all(fields) and sum(any(c.isdigit() for c in field) for field in fields) > len(fields) / 2
