"""XLSX workbooks: class sizes with a histogram, and plain tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def class_sizes(
    path: Path, sheets: Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]], np.ndarray]], most: int = 20
) -> None:
    """One sheet per entry: columns, label rows and sizes of the classes, largest first, with a histogram."""
    import xlsxwriter

    with xlsxwriter.Workbook(str(path), {"strings_to_formulas": False, "strings_to_urls": False}) as book:
        bold = book.add_format({"bold": True})
        for name, (columns, labels, sizes) in sheets.items():
            sheet = book.add_worksheet(name[:31])
            sheet.write_row(0, 0, ["class", *columns, "size"], bold)
            order = np.argsort(-sizes, kind="stable")
            for row, c in enumerate(order, start=1):
                sheet.write_row(row, 0, [row, *("" if x is None else x for x in labels[c]), int(sizes[c])])
            sheet.set_column(0, len(columns) + 1, 16)
            sheet.freeze_panes(1, 0)
            shown = min(most, len(sizes))
            chart = book.add_chart({"type": "column"})
            at = len(columns) + 1
            chart.add_series(
                {
                    "categories": [sheet.name, 1, 0, shown, 0],
                    "values": [sheet.name, 1, at, shown, at],
                    "name": "records",
                    "gap": 30,
                }
            )
            chart.set_title({"name": f"{shown} largest of {len(sizes)} classes"})
            chart.set_x_axis({"name": "class, by size"})
            chart.set_y_axis({"name": "records"})
            chart.set_legend({"none": True})
            sheet.insert_chart(1, at + 2, chart, {"x_scale": 1.5, "y_scale": 1.3})


def table(path: Path, sheets: Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]]]]) -> None:
    """Plain tables, one sheet each."""
    import xlsxwriter

    with xlsxwriter.Workbook(str(path), {"strings_to_formulas": False, "strings_to_urls": False}) as book:
        bold = book.add_format({"bold": True})
        for name, (header, rows) in sheets.items():
            sheet = book.add_worksheet(name[:31])
            sheet.write_row(0, 0, header, bold)
            for i, row in enumerate(rows, start=1):
                sheet.write_row(i, 0, ["" if x is None else x for x in row])
            sheet.freeze_panes(1, 0)
            sheet.autofit()
