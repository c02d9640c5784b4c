"""Published and obtained figures side by side."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.report import workbook


@dataclass(frozen=True)
class Compared:
    """One figure of a publication and what we get. ``agrees`` is None where nothing was published."""

    configuration: str
    figure: str
    published: Any
    obtained: Any
    agrees: bool | None


@dataclass(frozen=True)
class Result:
    """A finished study: a title, all comparisons, notes for the reader, and the files written."""

    title: str
    compared: tuple[Compared, ...]
    notes: tuple[str, ...]
    files: tuple[Path, ...]

    @property
    def differing(self) -> list[Compared]:
        """Published figures that did not come out."""
        return [c for c in self.compared if c.agrees is False]


def compare(configuration: str, figure: str, published: Any, obtained: Any, tolerance: float = 0.0) -> Compared:
    """Compare two figures; numbers within a tolerance."""
    if published is None:
        return Compared(configuration, figure, None, obtained, None)
    if isinstance(published, (int, float)) and isinstance(obtained, (int, float)):
        return Compared(configuration, figure, published, obtained, abs(published - obtained) <= tolerance)
    return Compared(configuration, figure, published, obtained, published == obtained)


def results_folder(folder: Path) -> None:
    """Make the folder for the results."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("unwritable-output", f"cannot create the folder: {error.strerror}", file=folder) from None


HEADER = ("configuration", "figure", "published", "obtained", "agrees")


def save(folder: Path, compared: Sequence[Compared], name: str = "comparison") -> list[Path]:
    """Write the comparison as CSV and XLSX."""
    rows = [
        [c.configuration, c.figure, c.published, c.obtained, "" if c.agrees is None else "yes" if c.agrees else "no"]
        for c in compared
    ]
    text = folder / f"{name}.csv"
    with open(text, "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([HEADER, *rows])
    book = folder / f"{name}.xlsx"
    workbook.table(book, {name: (HEADER, rows)})
    return [text, book]
