"""XLSX in and out (DuckDB's own extension cannot be shipped)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from velado.engines.staging import PrivateFolder
from velado.errors import InputError

MOST_ROWS = 1_048_575
LARGEST_EXACT = 2**53


def read_xlsx(path: Path, sheet: str | None) -> Any:
    """A sheet as an Arrow table, all cells as text."""
    import fastexcel
    import pyarrow as pa

    try:
        book = fastexcel.read_excel(path)
        name: str | int = sheet if sheet is not None else 0
        if sheet is not None and sheet not in book.sheet_names:
            raise InputError(
                "unknown-sheet", f"the workbook has no sheet '{sheet}'", file=path, values=book.sheet_names,
                hint="Name one of these sheets.",
            )  # fmt: skip
        loaded = book.load_sheet(name, header_row=None, dtypes="string")
    except fastexcel.FastExcelError as error:
        raise InputError("unreadable-file", f"not a readable workbook: {error}", file=path) from None
    rows = pa.table(loaded.to_arrow())
    if rows.num_rows == 0:
        raise InputError("empty-file", "the sheet is empty", file=path)
    header = [
        "" if rows.column(i)[0].as_py() is None else str(rows.column(i)[0].as_py()) for i in range(rows.num_columns)
    ]
    return rows.slice(1).rename_columns([f"{i}" for i in range(len(header))]), header


@contextmanager
def workbook(path: Path, **options: Any) -> Iterator[Any]:
    """A workbook to be written; texts stay texts, and what is temporary is beside it in a private folder."""
    import xlsxwriter
    from xlsxwriter.exceptions import FileCreateError

    with PrivateFolder.beside(path.parent) as folder:
        texts = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
        book = xlsxwriter.Workbook(str(path), {**texts, **options, "tmpdir": str(folder)})
        yield book
        try:
            book.close()
        except FileCreateError as error:
            raise error.args[0] from None


def write_xlsx(path: Path, batches: Any, header: list[str]) -> None:
    """Write record batches as one sheet; text stays text."""
    with workbook(path, constant_memory=True) as book:
        _write_sheet(book, batches, header)


def _write_sheet(book: Any, batches: Any, header: list[str]) -> None:
    sheet = book.add_worksheet("release")
    bold = book.add_format({"bold": True})
    for column, name in enumerate(header):
        sheet.write_string(0, column, name, bold)
    row = 0
    for batch in batches:
        columns = [batch.column(i).to_pylist() for i in range(batch.num_columns)]
        for cells in zip(*columns, strict=True):
            row += 1
            if row > MOST_ROWS:
                raise InputError(
                    "too-many-rows", f"a sheet holds {MOST_ROWS:,} rows at most", hint="Write CSV or Parquet."
                )
            if all(cell is None for cell in cells):
                raise InputError(
                    "empty-record", "a sheet cannot hold records without any value", hint="Write CSV or Parquet."
                )
            for column, cell in enumerate(cells):
                if cell is None:
                    continue
                if isinstance(cell, (int, float)) and not isinstance(cell, bool) and abs(cell) <= LARGEST_EXACT:
                    sheet.write_number(row, column, cell)
                else:
                    sheet.write_string(row, column, str(cell))
