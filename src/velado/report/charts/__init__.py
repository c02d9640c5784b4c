"""The charts: readable in black and white, safe for the colour-blind, numbers as the language writes them.

Builders return a `Chart`; `largest_classes`, `diversity`, `curves` and `panels` write one to a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from velado.i18n import Language
from velado.i18n import language as language_of
from velado.report.charts.bars import (
    Pairing,
    before_after,
    class_histogram,
    diversity_histogram,
    levels,
    risk_distribution,
    risk_shares,
    top_classes,
)
from velado.report.charts.drawing import Chart
from velado.report.charts.trends import Best, Level, Point, Points, frontier, line_layers, lines, lines_with_levels
from velado.sentences import into

__all__ = [
    "Best",
    "Chart",
    "Level",
    "Pairing",
    "Point",
    "before_after",
    "class_histogram",
    "curves",
    "diversity",
    "diversity_histogram",
    "frontier",
    "largest_classes",
    "levels",
    "lines",
    "lines_with_levels",
    "panels",
    "risk_distribution",
    "risk_shares",
    "top_classes",
]
WIDTH, HEIGHT = 640, 320


def largest_classes(path: Path, sizes: np.ndarray, title: str, most: int = 20, language: str | Language = "en") -> None:
    """Write the histogram of the ``most`` largest equivalence classes."""
    words = language_of(language)
    shown, classes, records = (words.integer(x) for x in (min(most, len(sizes)), len(sizes), int(sizes.sum())))
    subtitle = words.say("{shown} largest of {classes} classes, {records} records", shown=shown, classes=classes, records=records)
    top_classes(sizes, words, most, WIDTH, HEIGHT).with_title(title, subtitle).save(path)


def diversity(path: Path, distinct: np.ndarray, title: str, column: str, language: str | Language = "en") -> None:
    """Write how many classes have 1, 2, 3, … different sensitive values."""
    words = language_of(language)
    chart = diversity_histogram(distinct, column, words, WIDTH, HEIGHT)
    chart.with_title(title, words.say("{n} classes", n=words.integer(len(distinct)))).save(path)


def curves(
    path: Path, series: Mapping[str, Points], x: str, y: str, title: str, subtitle: str = "", language: str | Language = "en"
) -> None:
    """Write lines with marks, one per series."""
    lines(series, x, y, language_of(language), WIDTH, HEIGHT).with_title(title, subtitle).save(path)


def panels(
    path: Path, panels: Mapping[str, Points], y: str, title: str, subtitle: str = "", language: str | Language = "en"
) -> None:
    """Write one line chart per entry side by side: the names are the x axes, the y axis is shared."""
    words = language_of(language)
    up = into(y, words.code)
    parts = [{"width": 230, "height": 260, **line_layers({name: points}, name, up)} for name, points in panels.items()]
    spec = {"padding": 8, "hconcat": parts, "resolve": {"scale": {"y": "shared", "color": "independent"}}}
    Chart(spec, words).with_title(title, subtitle).save(path)
