"""A comparison of settings as files: table and charts."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.evaluation import Comparison
from velado.i18n import language as language_of
from velado.progress import Progress
from velado.report.chapters.costs import trade_off_pictures
from velado.report.formats import xlsx as workbook
from velado.sentences import Sentence
from velado.tables.publication.results import results


def save_comparison(
    comparison: Comparison, folder: Path, language: str = "en", *, force: bool = False, progress: Progress | None = None
) -> list[Path]:
    """Write ``comparison.csv``, ``comparison.xlsx``, for each figure a chart against the first parameter, and risk against
    loss. With ``force`` they replace files that Velado did not write."""
    writing = (progress or Progress()).part(0.0, 1.0, "draw")
    make_folder(folder)
    header, cells = table_of([s.figures() for s in comparison.settings])
    pictures = trade_off_pictures(comparison, language_of(language))
    names = ("comparison.csv", "comparison.xlsx", *(f"comparison_{n}.png" for n in pictures))
    with results(folder, names, force=force) as (text, book, *charts):
        with open(text, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([header, *cells])
        workbook.table(book, {"comparison": (header, cells)})
        for done, (place, picture) in enumerate(zip(charts, pictures.values(), strict=True)):
            writing.at(done, len(charts))
            picture.chart.with_title(picture.title).save(place)
        writing.at(1.0)
    return [folder / name for name in names]


def table_of(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Header and cells of settings by their figures; one without a recoding has none, but says why."""
    header = list(dict.fromkeys(name for row in rows for name in row))
    return header, [[row.get(name) for name in header] for row in rows]


def make_folder(folder: Path) -> None:
    """Make the folder for results."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "unwritable-output", Sentence("cannot create the folder: {why}", why=error.strerror), file=folder
        ) from None
