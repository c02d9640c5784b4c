"""Published and obtained figures side by side."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

from velado.progress import Progress
from velado.report.formats import xlsx as workbook
from velado.report.formats.comparison import make_folder
from velado.tables.publication.private import PrivateFolder
from velado.tables.publication.results import results


@dataclass(frozen=True)
class Compared:
    """One figure of a publication and what we get.

    ``agrees`` is None where nothing was published; ``why`` explains a difference that is an error of the publication.
    """

    configuration: str
    figure: str
    published: Any
    obtained: Any
    agrees: bool | None
    why: str = ""


@dataclass(frozen=True)
class Result:
    """A finished study: a title, all comparisons, notes for the reader, and the files written."""

    title: str
    compared: tuple[Compared, ...]
    notes: tuple[str, ...]
    files: tuple[Path, ...]

    @property
    def differences(self) -> list[Compared]:
        """Published figures that did not come out."""
        return [c for c in self.compared if c.agrees is False]

    @property
    def unexplained_differences(self) -> list[Compared]:
        """Those of them for which we know no reason."""
        return [c for c in self.differences if not c.why]


def compare(configuration: str, figure: str, published: Any, obtained: Any, tolerance: float = 0.0, why: str = "") -> Compared:
    """Compare two figures; numbers within a tolerance. ``why`` says why they should differ."""
    if published is None:
        return Compared(configuration, figure, None, obtained, None)
    if isinstance(published, (int, float)) and isinstance(obtained, (int, float)):
        agrees = abs(published - obtained) <= tolerance
    else:
        agrees = published == obtained
    return Compared(configuration, figure, published, obtained, agrees, "" if agrees else why)


def all_or_nothing(study: Callable[..., Result]) -> Callable[..., Result]:
    """A study whose files appear together when it has ended well; until then they are in a private folder.

    With ``force`` they replace files that the study did not write.
    """

    @wraps(study)
    def run(data: Path, folder: Path, progress: Progress | None = None, force: bool = False, **options: Any) -> Result:
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        make_folder(folder)
        try:
            with PrivateFolder.beside(folder) as private:
                work = private / "study"
                work.mkdir()
                result = study(data, work, progress, **options)
                files = sorted(path for path in work.rglob("*") if path.is_file())
                names = [path.relative_to(work).as_posix() for path in files]
                owned = [n for n, path in zip(names, files, strict=True) if not path.stat().st_mode & 0o077]
                with results(folder, names, owned, force) as places:
                    for path, place in zip(files, places, strict=True):
                        os.replace(path, place)
                return replace(result, files=tuple(folder / path.relative_to(work) for path in result.files))
        except BaseException:
            for path in made:
                with suppress(OSError):
                    path.rmdir()
            raise

    return run


HEADER = ("configuration", "figure", "published", "obtained", "agrees", "why")


def save(folder: Path, compared: Sequence[Compared], name: str = "comparison") -> list[Path]:
    """Write the comparison as CSV and XLSX."""
    rows = [
        [c.configuration, c.figure, c.published, c.obtained, "" if c.agrees is None else "yes" if c.agrees else "no", c.why]
        for c in compared
    ]
    text = folder / f"{name}.csv"
    with open(text, "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([HEADER, *rows])
    book = folder / f"{name}.xlsx"
    workbook.table(book, {name: (HEADER, rows)})
    return [text, book]
