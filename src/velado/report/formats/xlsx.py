"""XLSX workbooks: class sizes with a histogram, plain tables, and the report. Texts stay texts, never formulas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from velado.evaluation import ClassFigures
from velado.i18n import Language
from velado.report.chapters.content import ClassList, Content, Table
from velado.tables.formats.xlsx import workbook

WIDEST = 60
FORMATS = {"records": "#,##0", "people": "#,##0", "risk": "0.00%", "l_distinct": "#,##0"}
"""How figures of classes are shown."""


def class_sizes(
    path: Path, sheets: Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]], np.ndarray]], most: int = 20
) -> None:
    """One sheet per entry: columns, label rows and sizes of the classes, largest first, with a histogram."""
    with workbook(path) as book:
        for name, (columns, labels, sizes) in sheets.items():
            order = np.argsort(-sizes, kind="stable")
            listed = [labels[c] for c in order]
            header = [*columns, Language("en").say("records")]
            lines = ((*texts, size) for texts, size in zip(listed, sizes[order].tolist(), strict=True))
            _classes(book, name, header, lines, len(columns), len(sizes), Language("en"), most=most)


def table(path: Path, sheets: Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]]]]) -> None:
    """Plain tables, one sheet each."""
    with workbook(path) as book:
        bold = book.add_format({"bold": True})
        for name, (header, rows) in sheets.items():
            sheet = book.add_worksheet(name[:31])
            sheet.write_row(0, 0, header, bold)
            for i, row in enumerate(rows, start=1):
                sheet.write_row(i, 0, ["" if x is None else x for x in row])
            sheet.freeze_panes(1, 0)
            sheet.autofit()


def report(path: Path, content: Content) -> None:
    """The report as a workbook: the verdict, the class sizes, and every table."""
    words, v = content.language, content.verdict
    with workbook(path) as book:
        book.set_properties({"title": f"{content.name} – {content.title}", "author": "Velado", "created": _day(content)})
        styles = _Styles(book)
        sheet = book.add_worksheet(sheet_name(words.say("Summary")))
        sheet.set_column(0, 0, 34)
        sheet.set_column(1, 4, 22)
        lines = [(content.name, styles.bold), (content.subtitle, None), (v.headline, styles.bold), (v.proof, None)]
        for row, (text, style) in enumerate(lines):
            sheet.write_string(row, 0, text, style)
        row = len(lines)
        for tile in v.tiles:
            row += 1
            for at, text in enumerate((tile.label, tile.value, tile.note)):
                sheet.write_string(row, at, text, styles.bold if at == 1 else None)
        if v.models is not None:
            row = _table(sheet, row + 2, v.models, styles)
        for text in (*v.words, *v.cautions):
            row += 1
            sheet.write_string(row, 0, text)
        _class_sheet(book, content.classes, words, styles)
        for section in content.sections:
            sheet = book.add_worksheet(sheet_name(words.label("sheet", section.name)))
            sheet.write_string(0, 0, section.title, styles.bold)
            row = 2
            for part in section.tables:
                row = _table(sheet, row, part, styles) + 2
            for at, width in enumerate(_widths(section.tables)):
                sheet.set_column(at, at, width)


def sheet_name(text: str) -> str:
    """A text as the name of a sheet."""
    return re.sub(r"[\[\]:*?/\\]", " ", text)[:31]


class _Styles:
    def __init__(self, book: Any) -> None:
        self.book = book
        self.bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        self.text = book.add_format({"text_wrap": True, "valign": "top"})
        self.numbers: dict[str, Any] = {}

    def number(self, code: str) -> Any:
        if code not in self.numbers:
            self.numbers[code] = self.book.add_format({"num_format": code, "valign": "top"})
        return self.numbers[code]


def _table(sheet: Any, row: int, part: Table, styles: _Styles) -> int:
    """Write a table from a row on; the next free row."""
    if part.title:
        sheet.write_string(row, 0, part.title, styles.bold)
        row += 1
    for at, text in enumerate(part.header):
        sheet.write_string(row, at, text, styles.bold)
    row += bool(part.header)
    for line in part.rows:
        for at, cell in enumerate(line):
            if isinstance(cell.value, (int, float)):
                sheet.write_number(row, at, cell.value, styles.number(cell.format))
            else:
                sheet.write_string(row, at, cell.text, styles.text)
        row += 1
    if part.note:
        sheet.write_string(row, 0, part.note)
        row += 1
    return row


def _widths(tables: Sequence[Table]) -> list[float]:
    widths: dict[int, int] = {}
    for part in tables:
        for line in (part.header, *([c.text for c in row] for row in part.rows)):
            for at, text in enumerate(line):
                widths[at] = min(max(widths.get(at, 8), len(text) + 2), WIDEST)
    return [widths[at] for at in sorted(widths)]


def _class_sheet(book: Any, listed: ClassList, words: Language, styles: _Styles) -> None:
    """The classes of a release with their figures."""
    figures, labels = listed.figures, len(listed.figures.columns)
    formats = [styles.number(FORMATS.get(name.partition("(")[0], "#,##0.####")) for name in figures.header()[labels:]]
    name, heads = words.say("Class sizes"), _heads(figures, words)
    sheet = _classes(book, name, heads, figures.lines(), labels, len(figures), words, formats)
    if len(figures) < listed.total:
        told = words.say(
            "The {shown} largest of {classes} classes are listed.",
            shown=words.integer(len(figures)),
            classes=words.integer(listed.total),
        )
        sheet.write_string(len(figures) + 2, 0, told)


def _heads(figures: ClassFigures, words: Language) -> list[str]:
    """Names of the columns of the list of classes; a figure says which sensitive column it is about."""
    people = [] if figures.people is None else [words.say("people")]
    named = [
        f"{column}: {words.label('class', name, l=words.integer(figures.l))}"
        for column, found in figures.sensitive.items()
        for name in found
    ]
    return [*figures.columns, words.say("records"), *people, words.say("risk"), *named]


def _classes(
    book: Any,
    name: str,
    header: Sequence[str],
    lines: Iterable[Sequence[Any]],
    labels: int,
    total: int,
    words: Language,
    formats: Sequence[Any] = (),
    most: int = 20,
) -> Any:
    """Classes with their labels, sizes and figures, and a histogram of the largest; the sheet."""
    sheet = book.add_worksheet(sheet_name(name))
    bold = book.add_format({"bold": True})
    for at, text in enumerate((words.say("class"), *header)):
        sheet.write_string(0, at, text, bold)
    styles = [*formats, *[None] * len(header)]
    for row, line in enumerate(lines, start=1):
        sheet.write_number(row, 0, row)
        for at, text in enumerate(line[:labels], start=1):
            if text:
                sheet.write_string(row, at, text)
        for at, number in enumerate(line[labels:]):
            if number is not None:
                sheet.write_number(row, labels + 1 + at, number, styles[at])
    sheet.set_column(0, len(header), 16)
    sheet.freeze_panes(1, 0)
    shown, at = min(most, total), labels + 1
    if not shown:
        return sheet
    chart = book.add_chart({"type": "column"})
    categories, values = [sheet.name, 1, 0, shown, 0], [sheet.name, 1, at, shown, at]
    chart.add_series({"categories": categories, "values": values, "name": words.say("records"), "gap": 30})
    chart.set_title({"name": words.say("The {n} largest classes", n=words.integer(shown))})
    chart.set_x_axis({"name": words.say("class, by size")})
    chart.set_y_axis({"name": words.say("records")})
    chart.set_legend({"none": True})
    sheet.insert_chart(1, len(header) + 2, chart, {"x_scale": 1.5, "y_scale": 1.3})
    return sheet


def _day(content: Content) -> datetime:
    return datetime.fromisoformat(content.created).replace(tzinfo=None) if content.created else datetime(2000, 1, 1)
