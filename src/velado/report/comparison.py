"""A comparison of settings as files: table and charts."""

from __future__ import annotations

import csv
from pathlib import Path

from velado.errors import InputError
from velado.evaluation import Comparison
from velado.report import workbook


def save_comparison(comparison: Comparison, folder: Path, language: str = "en") -> list[Path]:
    """Write ``comparison.csv``, ``comparison.xlsx`` and, for each figure, a chart against the first parameter."""
    make_folder(folder)
    rows = [s.figures() for s in comparison.settings]
    header = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[row.get(name) for name in header] for row in rows]
    text, book = folder / "comparison.csv", folder / "comparison.xlsx"
    with open(text, "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([header, *cells])
    workbook.table(book, {"comparison": (header, cells)})
    return [text, book]


def make_folder(folder: Path) -> None:
    """Make the folder for results."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("unwritable-output", f"cannot create the folder: {error.strerror}", file=folder) from None
