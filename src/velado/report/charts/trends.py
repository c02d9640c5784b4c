"""Curves and points: one parameter against a figure, risk against loss.

The colours are those of Okabe and Ito; series differ in shape and dash, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from velado.i18n import Language
from velado.report.charts.drawing import INK, WIDTH, Chart, frame_spec

HEIGHT = 210
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 4])

Points = Sequence[tuple[float, float]]


def lines(
    series: Mapping[str, Points], x: str, y: str, words: Language, width: int = WIDTH, height: int = HEIGHT, percent: bool = False
) -> Chart:
    """Lines with marks, one per series, told apart by shape and dash as well as by colour."""
    return Chart(frame_spec(width, height, **line_layers(series, x, y, percent)), words)


def line_layers(series: Mapping[str, Points], x: str, y: str, percent: bool = False) -> dict[str, Any]:
    """Data and layers of a line chart."""
    names = list(series)
    rows = [{"x": a, "y": b, "series": name} for name, points in series.items() for a, b in points]
    wide = max(map(len, names), default=0) > 18
    legend = {"title": None, "orient": "top", "columns": 1 if wide else 2} if len(names) > 1 else None

    def series_encoding(values: Sequence[Any]) -> dict[str, Any]:
        cycle = [values[i % len(values)] for i in range(len(names))]
        scale = {"domain": names, "range": cycle}
        return {"field": "series", "type": "nominal", "sort": None, "scale": scale, "legend": legend}

    across = {"field": "x", "type": "quantitative", "title": x, "scale": {"zero": False, "nice": False, "padding": 12}}
    up_axis = {"format": "~%" if percent else "~s" if _large(rows) else ",~f", "tickCount": 5}
    up = {"field": "y", "type": "quantitative", "title": y, "scale": {"zero": True}, "axis": up_axis}
    axes = {"x": {**across, "axis": {"grid": False, "tickCount": 6, "format": ",~f"}}, "y": up, "color": series_encoding(COLOURS)}
    layers = [
        {"mark": "line", "encoding": {**axes, "strokeDash": series_encoding(DASHES)}},
        {
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": {**axes, "shape": series_encoding(SHAPES)},
        },
    ]
    return {"data": {"values": rows}, "layer": layers}


@dataclass(frozen=True)
class Level:
    """A height that a curve is held against: that of the original, or a limit that must be kept (``kind``)."""

    name: str
    value: float
    kind: str = "original"


@dataclass(frozen=True)
class Best:
    """The point that a curve is drawn to find: where it is on both axes, and what it is called."""

    name: str
    x: float
    y: float | None = None


LEVELS = {"original": ("#666666", [2, 3], "bottom"), "limit": ("#C0143C", [12, 4], "top")}
"""Colour, dash, and which side of its name is at the line."""


def lines_with_levels(
    series: Mapping[str, Points],
    x: str,
    y: str,
    words: Language,
    levels: Sequence[Level] = (),
    best: Best | None = None,
    width: int | str = WIDTH,
    height: int = HEIGHT,
    percent: bool = False,
    named: bool = True,
) -> Chart:
    """Lines as `lines` draws them, beside levels with their names, the best point marked by a line, a shape and its name.

    ``named``: what is measured stands at the axis, too, not only in what is said of a point.
    """
    drawn = line_layers(series, x, y if named else "", percent)
    axes = drawn["layer"][0]["encoding"]
    told = [{"field": "x", "title": x, "format": ",~f"}, {"field": "y", "title": y, "format": ".1~%" if percent else ",.4~f"}]
    drawn["layer"][1]["encoding"]["tooltip"] = [*told, *([{"field": "series", "title": " "}] if len(series) > 1 else [])]
    if best is not None:
        drawn["layer"] += _best(best, axes)
    drawn["layer"] += [layer for level in levels for layer in _level(level, axes)]
    return Chart(frame_spec(width, height, **drawn), words)


def _level(level: Level, axes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line across, and its name at its right end."""
    colour, dash, side = LEVELS[level.kind]
    up = {**axes["y"], "field": "level"}
    text = {"type": "text", "align": "right", "baseline": side, "dy": 4 if side == "top" else -3, "fontSize": 11, "color": INK}
    data = {"values": [{"level": level.value, "text": level.name}]}
    return [
        {"data": data, "mark": {"type": "rule", "color": colour, "strokeDash": dash, "strokeWidth": 1.5}, "encoding": {"y": up}},
        {"data": data, "mark": text, "encoding": {"y": up, "x": {"value": "width"}, "text": {"field": "text"}}},
    ]


def _best(best: Best, axes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line upwards with its name at its foot, and a diamond on the curve."""
    across, up = {**axes["x"], "field": "best"}, {**axes["y"], "field": "height"}
    data = {"values": [{"best": best.x, "height": best.y, "text": best.name}]}
    text = {
        "type": "text",
        "align": "left",
        "baseline": "bottom",
        "dx": 6,
        "dy": -4,
        "fontSize": 13,
        "fontWeight": "bold",
        "color": INK,
    }
    shape, fill, edge = KINDS["this"]
    mark = {"type": "point", "filled": True, "shape": shape, "size": 220, "opacity": 1, "fill": fill, "stroke": edge}
    layers: list[dict[str, Any]] = [
        {"data": data, "mark": {"type": "rule", "color": fill, "strokeWidth": 1.5}, "encoding": {"x": across}},
        {"data": data, "mark": text, "encoding": {"x": across, "y": {"value": "height"}, "text": {"field": "text"}}},
    ]
    if best.y is not None:
        layers.append({"data": data, "mark": mark, "encoding": {"x": across, "y": up}})
    return layers


def _large(rows: Sequence[Mapping[str, Any]]) -> bool:
    return any(abs(row["y"]) >= 100_000 for row in rows)


@dataclass(frozen=True)
class Point:
    """A setting in the plane of risk and loss; ``kind`` is ``efficient``, ``other`` or ``this``."""

    name: str
    risk: float
    loss: float
    kind: str


KINDS = {
    "efficient": ("circle", "#0072B2", "#0072B2"),
    "other": ("square", "#FFFFFF", "#444444"),
    "this": ("diamond", "#D55E00", "#000000"),
}
MOST_NAMES = 6


def frontier(points: Sequence[Point], words: Language, width: int | str = WIDTH, height: int = 260) -> Chart:
    """Average risk against loss: efficient settings filled and joined, the others hollow, the release itself apart."""
    kinds = [kind for kind in KINDS if any(p.kind == kind for p in points)]
    shown = {kind: words.label("trade-off", kind) for kind in kinds}
    ranked = sorted((p for p in points if p.kind == "efficient"), key=lambda p: p.risk)
    step = max(1, -(-len(ranked) // MOST_NAMES))
    named = {id(p) for p in (*ranked[::step], *ranked[-1:])}
    # To the right of the last points there is no room for their names.
    edge = 0.8 * max((p.risk for p in points), default=0.0)
    rows = [
        {
            "x": p.risk,
            "y": p.loss,
            "kind": shown[p.kind],
            "text": p.name if id(p) in named else "",
            "last": p.risk > edge,
            "name": p.name,
        }
        for p in sorted(points, key=lambda p: p.kind == "this")
    ]
    legend = {"title": None, "orient": "top", "columns": 2}

    def kind_encoding(at: int) -> dict[str, Any]:
        scale = {"domain": list(shown.values()), "range": [KINDS[kind][at] for kind in kinds]}
        return {"field": "kind", "type": "nominal", "sort": None, "scale": scale, "legend": legend}

    axes = {
        "x": _measure("x", words.say("average risk"), {"format": "~%", "grid": False, "tickCount": 5}, True),
        "y": _measure("y", words.say("loss"), {"format": ",~f", "tickCount": 5}, False),
    }
    told_of = [{"field": "name", "title": " "}, {"field": "x", "title": axes["x"]["title"], "format": ".2~%"}]
    told_of.append({"field": "y", "title": axes["y"]["title"], "format": ",.4~f"})
    marks = {"shape": kind_encoding(0), "fill": kind_encoding(1), "stroke": kind_encoding(2), "tooltip": told_of}
    text = {"type": "text", "align": "left", "dx": 6, "dy": -6, "fontSize": 11, "color": INK}
    inwards, names = {"align": "right", "dx": -8, "dy": 12}, {**axes, "text": {"field": "text"}}
    chosen = {"filter": {"field": "kind", "equal": shown.get("efficient", "")}}
    layers = [
        {"mark": {"type": "line", "color": "#666666", "strokeWidth": 1}, "transform": [chosen], "encoding": axes},
        {"mark": {"type": "point", "size": 80, "opacity": 1}, "encoding": {**axes, **marks}},
        {"mark": text, "transform": [{"filter": "!datum.last"}], "encoding": names},
        {"mark": {**text, **inwards}, "transform": [{"filter": "datum.last"}], "encoding": names},
    ]
    return Chart(frame_spec(width, height, data={"values": rows}, layer=layers), words)


def _measure(field: str, title: str, axis: Mapping[str, Any], zero: bool) -> dict[str, Any]:
    scale: dict[str, Any] = {"zero": True} if zero else {"zero": False, "padding": 24}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scale}
