"""Tables as Python's own readers see them: csv, openpyxl, pyarrow. Nothing of the product is used here."""

import codecs
import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

Cell = str | None
DELIMITERS = ",;\t|"
KINDS = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx", ".arrow": "arrow", ".feather": "arrow"}
GUARDED = re.compile(r"'(?='*[=+@\t\r-])")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)
"""Who can tell whether its comma separates thousands or decimals?"""

csv.field_size_limit(1 << 30)


@dataclass(frozen=True)
class Sheet:
    """A table: names of its columns, rows of texts (None is missing), and which columns hold numbers by type."""

    header: list[str]
    rows: list[tuple[Cell, ...]]
    numeric: frozenset[str] = frozenset()

    def column(self, name: str) -> list[Cell]:
        i = self.header.index(name)
        return [row[i] for row in self.rows]


def read(
    path: Path, options: Mapping[str, Any], named: Sequence[str] = (), missing: Sequence[str] = (), guarded: bool = False
) -> Sheet:
    """A file; ``options`` are those of a project's source, ``named`` are columns that it must have."""
    kind = options.get("format") or KINDS.get(path.suffix.lower(), "csv")
    if kind == "parquet":
        sheet = of_arrow(pyarrow.parquet.read_table(path, partitioning=None))
    elif kind == "arrow":
        sheet = of_arrow(pyarrow.feather.read_table(path))
    elif kind == "xlsx":
        sheet = _workbook(path, options)
    else:
        delimiter = options.get("delimiter") or ("\t" if path.suffix.lower() in (".tsv", ".tab") else None)
        sheet = _text_table(path.read_bytes(), delimiter, options, named)
    markers = {"", *missing}
    guard = guarded and kind in ("csv", "xlsx")

    def plain(cell: Cell) -> Cell:
        return (
            None if cell is None or cell in markers else GUARDED.sub("", cell, count=1) if guard and GUARDED.match(cell) else cell
        )

    return Sheet(sheet.header, [tuple(map(plain, row)) for row in sheet.rows], sheet.numeric)


def of_arrow(table: Any, missing: Sequence[str] = ()) -> Sheet:
    """An Arrow table; values of other types are written as texts."""
    numeric = frozenset(
        f.name for f in table.schema if pa.types.is_integer(f.type) or pa.types.is_floating(f.type) or pa.types.is_decimal(f.type)
    )
    markers = {"", *missing}
    columns = [[None if (t := text(v)) in markers else t for v in column.to_pylist()] for column in table.columns]
    return Sheet([str(n) for n in table.column_names], list(zip(*columns, strict=True)), numeric)


def text(value: Any) -> Cell:
    """A value of any type as text."""
    match value:
        case None | str():
            return value
        case bool():
            return str(value).lower()
        case datetime():
            return str(value.replace(tzinfo=None)) + ("+00" if value.tzinfo else "")
        case float() if value == 0:
            return "0.0"
        case date() | int() | float() | Decimal():
            return str(value)
    return str(value)


def number(cell: Cell) -> Fraction | None:
    """The number that a text is, with a decimal point or one decimal comma; None if that is not certain."""
    if cell is None or THOUSANDS.fullmatch(cell.strip()):
        return None
    plain = cell.strip()
    if plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    return Fraction(plain) if NUMBER.fullmatch(plain) else None


def _names(line: Sequence[str], options: Mapping[str, Any], named: Sequence[str]) -> list[str]:
    """The names of columns that a first line says, or their places; without blanks where these are not asked for."""
    if not options.get("header", True):
        return [f"column_{i}" for i in range(1, len(line) + 1)]
    names = list(line) if set(named) <= set(line) else [name.strip() for name in line]
    if options.get("names") == "numbered":
        names = [name.strip() or f"column_{i}" for i, name in enumerate(line, 1)]
        for i, name in enumerate(names):
            number = 1
            while names[i].lower() in [n.lower() for n in names[:i] + (names[i + 1 :] if number > 1 else [])]:
                number += 1
                names[i] = f"{name}_{number}"
    return names


def _workbook(path: Path, options: Mapping[str, Any]) -> Sheet:
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    sheet = book[options["sheet"]] if options.get("sheet") else book.worksheets[0]
    lines = [list(line) for line in sheet.iter_rows(values_only=True)][options.get("skip", 0) :]
    book.close()
    while all(cell is None for cell in lines[0]):
        del lines[0]
    names = _names([_workbook_text(c) or "" for c in lines[0]], options, ())
    if not options.get("header", True):
        lines = [[], *lines]
    width = len(names)
    rows = [(line + [None] * width)[:width] for line in lines[1:]]
    columns = [_workbook_column([row[i] for row in rows]) for i in range(width)]
    return Sheet(names, list(zip(*columns, strict=True)))


def _workbook_column(values: list[Any]) -> list[Cell]:
    """Whole numbers as such unless others stand beside them; midnights as days unless other hours do."""
    there = [v for v in values if v is not None]
    if there and all(isinstance(v, datetime) and v.time() == datetime.min.time() for v in there):
        values = [None if v is None else v.date() for v in values]
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in there)
    if not numbers or all(float(v).is_integer() for v in there):
        return [_workbook_text(v) for v in values]
    return [None if v is None else text(float(v)) for v in values]


def _workbook_text(value: Any) -> Cell:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    # openpyxl shows control characters as the file escapes them.
    return re.sub(r"_x([0-9A-F]{4})_", lambda m: chr(int(m[1], 16)), value) if isinstance(value, str) else text(value)


def _text_table(data: bytes, delimiter: str | None, options: Mapping[str, Any], named: Sequence[str]) -> Sheet:
    physical = list(io.StringIO(decoded(data, options.get("encoding")), newline=""))[options.get("skip", 0) :]
    while not physical[0].strip():
        del physical[0]
    content, quote = "".join(physical), options.get("quote")
    candidates = [(d, q) for q in ([quote] if quote else ['"', "'"]) for d in ([delimiter] if delimiter else DELIMITERS)]
    tables = []
    for d, q in candidates:
        try:
            lines = list(csv.reader(io.StringIO(content, newline=""), delimiter=d, quotechar=q, strict=True))
        except csv.Error:
            continue
        header = _names(lines[0], options, named)
        below = lines[1:] if options.get("header", True) else lines
        body = [tuple(c or None for c in line) for line in below if line]
        if len(header) == 1:
            # A blank line is a row of one missing value, except at the end.
            body = [tuple(c or None for c in line) or (None,) for line in below]
        if set(named) <= set(header) and all(len(line) == len(header) for line in body):
            tables.append(Sheet(header, body))
    if not tables:
        raise ValueError("no delimiter and quote give a table with the named columns in which all rows are alike")
    return max(tables, key=lambda t: len(t.header))


def decoded(data: bytes, encoding: str | None) -> str:
    """Bytes as text: the byte order mark, else UTF-8, else Windows-1252 or Latin-1."""
    if encoding is None:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return data.decode("utf-16")
        for name in ("utf-8-sig", "cp1252"):
            try:
                return data.decode(name)
            except UnicodeDecodeError:
                continue
    return data.decode(encoding or "latin-1").removeprefix("\ufeff")
