"""Find out how a text table is written: encoding, delimiter, quote, header, missing markers."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from velado.errors import InputError

SAMPLE = 1 << 20
MOST_COLUMNS = 10_000
DELIMITERS = (",", ";", "\t", "|")
PACKED = {
    b"\x1f\x8b": "gzip", b"PK\x03\x04": "ZIP", b"\x28\xb5\x2f\xfd": "Zstandard", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz",
    b"7z\xbc\xaf": "7-Zip", b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\x04\x22\x4d\x18": "LZ4",
}  # fmt: skip
"""First bytes of files that hold a table, but not as text."""


@dataclass(frozen=True)
class Dialect:
    """How to read a text table; ``encoding`` is Python's name of it."""

    delimiter: str
    quote: str
    encoding: str
    header: tuple[str, ...]


def sniff(path: Path, delimiter: str | None = None, quote: str | None = None, encoding: str | None = None) -> Dialect:
    """The dialect of a file; given parts are taken as they are.

    The delimiter is the one that splits the first rows into the most fields, all rows alike.
    """
    with open(path, "rb") as stream:
        data = stream.read(SAMPLE)
    for mark, name in PACKED.items():
        if data.startswith(mark):
            raise InputError(
                "unreadable-file", f"this is a {name} file, not a text table", file=path,
                hint="Unpack it, or give the file the suffix of its format.",
            )  # fmt: skip
    whole = len(data) < SAMPLE
    encoding = _encoding(path, data, whole, encoding)
    try:
        text = data.decode(encoding, errors="replace" if not whole else "strict")
    except UnicodeError as error:
        raise wrong_encoding(path, encoding, getattr(error, "start", None)) from None
    lines = text.splitlines(keepends=True)
    if not whole and len(lines) == 1:
        raise InputError(
            "unreadable-file", f"the first line has more than {SAMPLE:,} bytes", file=path,
            hint="The first line must hold the column names.",
        )  # fmt: skip
    if not whole:
        lines = lines[:-1]
    sample = "".join(lines[:1000])
    if not sample.strip():
        raise InputError("empty-file", "the file has no content", file=path)
    if quote is not None and len(quote) != 1:
        raise InputError("bad-quote", f"the quote must be one character, got {quote!r}", file=path)
    quote = quote or _quote(sample)
    if delimiter is not None and len(delimiter) != 1:
        raise InputError("bad-delimiter", f"the delimiter must be one character, got {delimiter!r}", file=path)
    delimiter = delimiter or _delimiter(sample, quote)
    try:
        header = tuple(next(csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, quotechar=quote)))
    except csv.Error as error:
        raise InputError(
            "unreadable-file", f"the header cannot be read: {error}", file=path,
            hint="Lines must end in a line feed; name the delimiter and the quote character if they are unusual.",
        ) from None  # fmt: skip
    check_header(list(header), path)
    return Dialect(delimiter, quote, encoding, header)


def check_header(header: list[str], path: Path | str) -> None:
    """Every column has a name of its own."""
    if len(header) > MOST_COLUMNS:
        raise InputError(
            "too-many-columns", f"the table has {len(header):,} columns, more than {MOST_COLUMNS:,}", file=path,
            hint="Take the columns that are needed.",
        )  # fmt: skip
    folded = [name.casefold() for name in header]
    times = Counter(folded)
    twice = [str(i) for i, name in enumerate(folded, start=1) if times[name] > 1]
    if any(not name.strip() for name in header):
        raise InputError(
            "unnamed-column", f"column {[not n.strip() for n in header].index(True) + 1} of the header has no name",
            file=path, hint="The first line must hold the column names.",
        )  # fmt: skip
    if twice:
        raise InputError(
            "duplicate-column", f"columns {', '.join(twice[:5])} of the header do not have names of their own (capitals "
            "do not count)", file=path, hint="Rename the columns so that each name is unique. The first line must hold names.",
        )  # fmt: skip


def _encoding(path: Path, data: bytes, whole: bool, given: str | None) -> str:
    if given is not None:
        try:
            found = codecs.lookup(given)
            if not found._is_text_encoding:
                raise LookupError
            name = found.name
        except (LookupError, ValueError):
            raise InputError("wrong-encoding", f"unknown encoding {given!r}", file=path) from None
        try:
            data.decode(name) if whole else codecs.getincrementaldecoder(name)().decode(data)
        except UnicodeError as error:
            raise wrong_encoding(path, given, getattr(error, "start", None)) from None
        return name
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
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
    where = f" (byte {position})" if position is not None else ""
    return InputError(
        "wrong-encoding", f"the file is not {encoding}{where}", file=path,
        hint="Name the encoding, for example source: {encoding: latin-1} or --encoding latin-1.",
    )  # fmt: skip


def _quote(sample: str) -> str:
    return "'" if '"' not in sample and sample.count("'") >= 4 and _framed(sample) else '"'


def _framed(sample: str) -> bool:
    return any(f"'{d}'" in sample for d in DELIMITERS)


def _delimiter(sample: str, quote: str) -> str:
    best, most = ",", 1
    for candidate in DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(io.StringIO(sample), delimiter=candidate, quotechar=quote) if row]
        except csv.Error:
            continue
        common = max(set(widths), key=widths.count) if widths else 1
        regular = widths.count(common) >= 0.9 * len(widths)
        if regular and widths[0] == common and common > most:
            best, most = candidate, common
    return best
