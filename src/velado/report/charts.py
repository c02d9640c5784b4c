"""Charts as files (PNG or SVG), readable in black and white and safe for the colour-blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from velado.errors import InputError

BLUE = "#0072B2"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000")


def _altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise InputError("no-charts", "charts need two more packages", hint="pip install 'velado[charts]'") from None
    return altair


def _save(chart: Any, path: Path) -> None:
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=13, grid=True, gridOpacity=0.4).configure_title(
        fontSize=15, anchor="start", subtitleFontSize=12
    )
    chart.configure_legend(labelFontSize=12, titleFontSize=12).save(str(path), scale_factor=2)


def _bars(path: Path, rows: list[dict[str, Any]], x: str, y: str, title: str, subtitle: str) -> None:
    alt = _altair()
    data = alt.Data(values=rows)
    base = alt.Chart(data, width=640, height=320, title=alt.TitleParams(title, subtitle=subtitle))
    axis = alt.X("x:O", title=x, sort=None, axis=alt.Axis(labelAngle=0, labelOverlap=True))
    bars = base.mark_bar(color=BLUE).encode(x=axis, y=alt.Y("y:Q", title=y))
    text = base.mark_text(dy=-6, fontSize=11).encode(x=axis, y="y:Q", text=alt.Text("y:Q", format=",d"))
    _save(bars + text if len(rows) <= 25 else bars, path)


def largest_classes(path: Path, sizes: np.ndarray, title: str, most: int = 20) -> None:
    """Histogram of the ``most`` largest equivalence classes."""
    top = np.sort(sizes)[::-1][:most]
    rows = [{"x": i + 1, "y": int(size)} for i, size in enumerate(top)]
    subtitle = f"{len(top)} largest of {len(sizes):,} classes, {int(sizes.sum()):,} records"
    _bars(path, rows, "class, by size", "records", title, subtitle)


def diversity(path: Path, distinct: np.ndarray, title: str, column: str) -> None:
    """How many classes have 1, 2, 3, … different sensitive values."""
    counts = np.bincount(distinct.astype(np.int64)) if len(distinct) else np.zeros(1, dtype=np.int64)
    rows = [{"x": i, "y": int(n)} for i, n in enumerate(counts) if i > 0]
    _bars(path, rows, f"different values of {column} in a class", "classes", title, f"{len(distinct):,} classes")


def curves(
    path: Path, series: Mapping[str, Sequence[tuple[float, float]]], x: str, y: str, title: str, subtitle: str = ""
) -> None:
    """Lines with marks, one per series, told apart by shape as well as by colour."""
    alt = _altair()
    rows = [{"x": a, "y": b, "series": name} for name, points in series.items() for a, b in points]
    names = list(series)
    base = alt.Chart(alt.Data(values=rows), width=640, height=320, title=alt.TitleParams(title, subtitle=subtitle))
    legend = alt.Legend(title=None) if len(names) > 1 else None
    colour = alt.Color(
        "series:N", scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])), legend=legend, sort=None
    )
    shape = alt.Shape(
        "series:N", scale=alt.Scale(domain=names, range=list(SHAPES[: len(names)])), legend=legend, sort=None
    )
    axes = {"x": alt.X("x:Q", title=x, axis=alt.Axis(labelFlush=False, tickCount=10)), "y": alt.Y("y:Q", title=y)}
    _save(
        base.mark_line().encode(color=colour, **axes)
        + base.mark_point(filled=True, size=70).encode(color=colour, shape=shape, **axes),
        path,
    )
