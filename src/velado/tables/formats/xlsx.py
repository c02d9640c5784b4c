"""XLSX in and out (DuckDB's own extension cannot be shipped)."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from velado.errors import InputError
from velado.sentences import Sentence
from velado.tables.files import free_memory
from velado.tables.formats.names import HEADERLESS, names_below, names_of, numbers, title_lines, too_few_lines, trim_names
from velado.tables.publication.private import PrivateFolder
from velado.tables.source import Source
from velado.tables.types import ColumnType, Field

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ROWS = 1_048_575
LONGEST_CELL = 32_767
CUT_OFF = -2
"""What the writer says of a text that it has cut off."""
MOST_UNPACKED = 200
"""How many times larger than the workbook its parts may be."""
SMALL = 50_000_000
"""Bytes of parts that are read whatever they were packed to."""
CELL_BYTES = 40
"""Memory of a cell, also of an empty one between others."""
MOST_SPARSE = 100
"""How many cells a sheet may span for each that it has."""
FEW_CELLS = 2_000_000
CELL = re.compile(rb"<(?:\w+:)?c\b[^>]{0,200}?\br=[\"']([A-Za-z]{1,3})(\d{1,7})[\"']")
LOOKED_AT = 1000
"""Rows among which the table must begin."""
CHUNK = 1 << 20
OVERLAP = 300
"""Bytes of a chunk that are looked at again with the next one: a cell may lie across both."""
LARGEST_EXACT = 2**53
EARLIEST = "1900-03-01"
LATEST = "9999-12-31"
"""The first day on which all spreadsheets agree, and the last."""
DAY, MOMENT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss.000"


def read_xlsx(path: Path, source: Source) -> tuple[pa.Table, list[str], list[str]]:
    """A sheet as an Arrow table, the names of its columns, and what it says in their place: nothing without a header.

    The table begins below ``skip`` rows and all empty ones.

    A column all of whose cells are numbers, dates or truths has that type; every other is text. A sheet does not tell whole
    numbers from others, or days from times: whole numbers are INTEGER and midnights are DATE, unless the source's ``fields``
    say more. Cells that show one of its texts ``missing`` are.
    """
    import fastexcel
    import pyarrow as pa

    check_workbook(path)
    try:
        book = fastexcel.read_excel(path)
        sheet = source.sheet
        name: str | int = sheet if sheet is not None else 0
        if sheet is not None and sheet not in book.sheet_names:
            raise InputError(
                "unknown-sheet",
                Sentence("the workbook has no sheet '{sheet}'", sheet=sheet),
                file=path,
                values=book.sheet_names,
                hint="Name one of these sheets.",
            )
        # Without a number of rows to skip it passes over empty ones, and rows are not those that a spreadsheet numbers.
        rows = pa.table(book.load_sheet(name, header_row=None, skip_rows=0, dtypes="string").to_arrow())
        if rows.num_rows == 0:
            raise InputError("empty-file", "the sheet is empty", file=path)
        begin, written = _first_row(path, rows, source)
        above = begin + 1 if source.header else begin
        texts = rows.slice(above)
        typed = texts
        if texts.num_rows:
            found = book.load_sheet(name, header_row=None, skip_rows=above, schema_sample_rows=None)
            typed = pa.table(found.to_arrow())
    except fastexcel.FastExcelError:
        raise _not_readable(path) from None
    except BaseException as error:
        # The reader is compiled code that panics where it did not expect something.
        if type(error).__name__ == "PanicException":
            raise _not_readable(path) from None
        raise
    header = names_of(
        trim_names(written, source.names) or numbers(rows.num_columns), source.names, path, HEADERLESS if written else ""
    )
    known = {field.name: field for field in source.fields}
    columns = [
        _cast_column(
            *_without(text, typed.column(i) if typed.shape == texts.shape else text, source.missing or ()), known.get(header[i])
        )
        for i, text in enumerate(texts.columns)
    ]
    return pa.Table.from_arrays(columns, [f"{i}" for i in range(len(header))]), header, written


def sheets_of(path: Path) -> list[str]:
    """The names of the sheets of a workbook that can be read."""
    import fastexcel

    return list(fastexcel.read_excel(path).sheet_names)


def _first_row(path: Path, rows: pa.Table, source: Source) -> tuple[int, list[str]]:
    """How many rows stand above the table, and its names; titles that nobody skips are refused."""
    shown = rows.slice(source.skip, LOOKED_AT)
    texts = zip(*(["" if cell is None else str(cell) for cell in column.to_pylist()] for column in shown.columns), strict=True)
    filled = [(source.skip + i, row) for i, row in enumerate(texts) if any(cell.strip() for cell in row)]
    if not filled:
        raise too_few_lines(path, source.skip, sheet=True)
    number = names_below([(i + 1, row) for i, row in filled]) if source.header and source.names == "unique" else None
    if number is not None:
        raise title_lines(path, number, sheet=True)
    begin, first = filled[0]
    return begin, list(first) if source.header else []


def _without(texts: pa.ChunkedArray, cells: pa.ChunkedArray, missing: Sequence[str]) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Texts and cells of a column without those that stand for a missing value."""
    import pyarrow as pa
    import pyarrow.compute as compute

    if not missing:
        return texts, cells
    marked = compute.is_in(texts, value_set=pa.array(list(missing), pa.string()))
    return tuple(compute.if_else(marked, pa.scalar(None, x.type), x) for x in (texts, cells))


def _cast_column(texts: pa.ChunkedArray, cells: pa.ChunkedArray, field: Field | None) -> pa.ChunkedArray:
    """A column in the type of its cells, if it has one and nothing is lost by it."""
    import pyarrow as pa
    import pyarrow.compute as compute

    kind, wanted = cells.type, None if field is None else field.type
    if wanted is ColumnType.TEXT or texts.null_count != cells.null_count or not len(texts):
        return texts
    if pa.types.is_boolean(kind) or pa.types.is_date(kind):
        return cells
    if pa.types.is_timestamp(kind):
        midnight = compute.all(compute.equal(compute.floor_temporal(cells, unit="day"), cells)).as_py()
        return cells.cast(pa.date32()) if midnight and wanted is not ColumnType.TIMESTAMP else cells
    if (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and compute.any(
        compute.is_in(texts, value_set=pa.array(["true", "false"]))
    ).as_py():
        # The reader takes truths among numbers for 1 and 0.
        return texts
    if pa.types.is_integer(kind):
        kind = pa.float64() if wanted is ColumnType.FLOAT else pa.int64()
        return cells.cast(kind)
    if pa.types.is_floating(kind):
        exact = compute.all(compute.less_equal(compute.abs(cells), float(LARGEST_EXACT))).as_py() is not False
        whole = exact and compute.all(compute.equal(compute.floor(cells), cells)).as_py()
        return cells.cast(pa.int64()) if whole and wanted is not ColumnType.FLOAT else cells
    return texts


@contextmanager
def workbook(path: Path, **options: Any) -> Iterator[Any]:
    """A workbook to be written; texts stay texts, and what is temporary is beside it in a private folder."""
    import xlsxwriter
    from xlsxwriter.exceptions import FileCreateError

    with PrivateFolder.beside(path.parent) as folder:
        texts = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
        book = xlsxwriter.Workbook(str(path), {**texts, **options, "tmpdir": str(folder)})
        if not options.get("constant_memory"):
            # Whoever writes row by row says which column has the cell.
            book.worksheet_class = whole_texts()
        yield book
        try:
            book.close()
        except FileCreateError as error:
            raise error.args[0] from None


def _not_readable(path: Path) -> InputError:
    return InputError("unreadable-file", "not a readable workbook", file=path)


def check_workbook(path: Path) -> None:
    """Refuse a workbook that would take far more memory than its size says: packed too well, or cells far apart."""
    most = max(SMALL, MOST_UNPACKED * path.stat().st_size)
    unpacked = 0
    try:
        with zipfile.ZipFile(path) as book:
            if "xl/workbook.xml" not in (name.lower() for name in book.namelist()):
                raise _not_readable(path)
            for part in book.infolist():
                found, low, high, tail = 0, (1 << 30, 1 << 30), (0, 0), b""
                with book.open(part) as stream:
                    while chunk := stream.read(CHUNK):
                        unpacked += len(chunk)
                        if unpacked > min(most, free_memory() // 2):
                            raise _too_much(path, Sentence("its parts unpack to more than {bytes:,} bytes", bytes=unpacked))
                        seen = tail + chunk
                        for column, row in CELL.findall(seen):
                            at = (int(row), _column_number(column))
                            low, high = ((min(low[0], at[0]), min(low[1], at[1])), (max(high[0], at[0]), max(high[1], at[1])))
                            found += 1
                        tail = seen[-OVERLAP:]
                spanned = (high[0] - low[0] + 1) * (high[1] - low[1] + 1) if found else 0
                sparse = spanned > FEW_CELLS and spanned > MOST_SPARSE * found
                if sparse or spanned * CELL_BYTES > free_memory() // 2:
                    raise _too_much(
                        path, Sentence("a sheet spans {cells:,} cells and has about {found:,}", cells=spanned, found=found)
                    )
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, KeyError):
        raise _not_readable(path) from None


def _too_much(path: Path, what: str) -> InputError:
    return InputError(
        "too-large",
        Sentence("the workbook needs too much memory: {what}", what=what),
        file=path,
        hint="Remove far-off cells, or write the table as CSV.",
    )


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def long_cell(column: str | None = None) -> InputError:
    """The error for a text that a cell of a sheet would cut off."""
    return InputError(
        "long-cell",
        Sentence("a cell of a sheet holds {most:,} characters at most, and a text is longer", most=LONGEST_CELL),
        column=column,
        hint="Write CSV or Parquet.",
    )


def whole_texts() -> type:
    """A class of sheets in which a text that is too long is an error, and never cut off."""
    from xlsxwriter.worksheet import Worksheet

    class Whole(Worksheet):  # type: ignore[misc]
        def _write_string(self, *arguments: Any) -> Any:
            if super()._write_string(*arguments) == CUT_OFF:
                raise long_cell()
            return 0

    return Whole


def write_xlsx(path: Path, batches: Iterable[pa.RecordBatch], header: Sequence[str]) -> None:
    """Write record batches as one sheet; text stays text, numbers, dates and truths are what they are."""
    with workbook(path, constant_memory=True) as book:
        _write_sheet(book, batches, header)


def _write_sheet(book: Any, batches: Iterable[pa.RecordBatch], header: Sequence[str]) -> None:
    sheet = book.add_worksheet("release")
    bold = book.add_format({"bold": True})
    day, moment = book.add_format({"num_format": DAY}), book.add_format({"num_format": MOMENT})
    for column, name in enumerate(header):
        _write_text(sheet, 0, column, name, name, bold)
    row = 0
    for batch in batches:
        columns = [_cells(batch.column(i)) for i in range(batch.num_columns)]
        for cells in zip(*columns, strict=True):
            row += 1
            if row > MOST_ROWS:
                raise InputError(
                    "too-many-rows", Sentence("a sheet holds {most:,} rows at most", most=MOST_ROWS), hint="Write CSV or Parquet."
                )
            if all(cell is None for cell in cells):
                raise InputError("empty-record", "a sheet cannot hold records without any value", hint="Write CSV or Parquet.")
            for column, cell in enumerate(cells):
                if isinstance(cell, str):
                    _write_text(sheet, row, column, cell, header[column])
                elif isinstance(cell, bool):
                    sheet.write_boolean(row, column, cell)
                elif isinstance(cell, (int, float)) and abs(cell) <= LARGEST_EXACT:
                    sheet.write_number(row, column, cell)
                elif isinstance(cell, date):
                    sheet.write_datetime(row, column, cell, moment if isinstance(cell, datetime) else day)
                elif cell is not None:
                    _write_text(sheet, row, column, str(cell), header[column])


def _cells(column: pa.Array) -> list[Any]:
    """The cells of a column; short floating-point numbers as their texts say them, not as 0.10000000149."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_float32(column.type):
        return [None if x is None else float(str(np.float32(x))) for x in column.to_pylist()]
    return list(column.to_pylist())


def _write_text(sheet: Any, row: int, column: int, text: str, name: str, style: Any = None) -> None:
    if sheet.write_string(row, column, text, style) == CUT_OFF:
        raise long_cell(name)
