"""Charts of fuzzy sets: membership functions, joint memberships from above and aside, crisp partitions side by side.

Sets are told apart by name, dash and lightness as well as by colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from velado.evaluation.fuzzy import FuzzyMeasures
from velado.fuzzy.coding import Coding
from velado.hierarchies.scale import Scale
from velado.i18n import Language
from velado.report.charts.drawing import INK, WIDTH, Chart, frame_spec
from velado.report.charts.plane import FLAT, Across, Plane, across, degrees, isolines, summit
from velado.report.charts.trends import COLOURS, DASHES

HEIGHT = 210
SQUARE = 330
LEVELS = (0.5, 0.7, 0.9)
POINTS = 300
MOST_NAMED = 5
"""Curves that are named at their peaks; more have a legend."""


def memberships(
    coding: Coding, names: Sequence[str], words: Language, scales: Mapping[str, Scale], width: int = WIDTH, height: int = HEIGHT
) -> Chart:
    """The membership functions of the sets of one column."""
    axis = across(coding, coding.columns[0], scales)
    numbers = np.union1d(axis.grid(POINTS), _bends(coding, axis))
    degree = degrees(coding, numbers[:, None])
    drawn = axis.vega_numbers(numbers)
    rows = [
        {"x": float(x), "y": round(float(y), 4), "set": name}
        for i, name in enumerate(names)
        for x, y in zip(drawn, degree[:, i], strict=True)
    ]
    named = len(names) <= MOST_NAMED
    legend = None if named else {"title": None, "orient": "bottom", "columns": 3, "symbolSize": 200, "labelFontSize": 10}
    scale = {"domain": [0, 1.12 if named else 1], "nice": False}
    up = _quantity("y", words.say("membership"), {"values": [0, 0.5, 1], "format": ",~f"}, scale)
    axes = {"x": _axis("x", axis), "y": up}
    looks = {
        "color": _set_encoding(names, _cycle(COLOURS, len(names)), legend),
        "strokeDash": _set_encoding(names, [DASHES[(i + i // len(DASHES)) % len(DASHES)] for i in range(len(names))], legend),
    }
    layers: list[dict[str, Any]] = [
        {"data": {"values": rows}, "mark": {"type": "line", "strokeWidth": 2}, "encoding": {**axes, **looks}}
    ]
    if named:
        peaks = [float(drawn[np.flatnonzero(d >= d.max() - FLAT)].mean()) for d in degree.T]
        tops = [{"x": x, "y": float(d.max()), "set": n} for x, d, n in zip(peaks, degree.T, names, strict=True)]
        text = {"type": "text", "dy": -8, "fontSize": 11, "color": INK}
        layers.append({"data": {"values": tops}, "mark": text, "encoding": {**axes, "text": {"field": "set", "type": "nominal"}}})
    return Chart(frame_spec(width, height, layer=layers), words)


def possibility(measures: FuzzyMeasures, words: Language, width: int = WIDTH, height: int = HEIGHT) -> Chart:
    """The possibility that classes have at least so many records, and where it is ½."""
    points = [{"x": k, "y": p} for k, p in measures.possibility.items()]
    scale = {"type": "log", "nice": False}
    tens = [k for k in measures.possibility if str(k).strip("0") == "1"]
    across_ = _quantity(
        "x", words.say("records that a class has at least (Q)"), {"grid": False, "format": ",d", "values": tens}, scale
    )
    up = _quantity("y", words.say("possibility"), {"tickCount": 5, "format": ",~f"}, {"domain": [0, 1]})
    half = {"y": {"datum": 0.5}}
    layers = [
        {"mark": {"type": "rule", "strokeDash": [4, 3], "color": "#666666"}, "encoding": half},
        {
            "mark": {"type": "line", "color": COLOURS[0], "point": {"size": 30, "color": COLOURS[0]}},
            "encoding": {"x": across_, "y": up},
        },
    ]
    return Chart(frame_spec(width, height, data={"values": points}, layer=layers), words)


def contours(plane: Plane, words: Language, width: int = SQUARE, height: int = SQUARE) -> Chart:
    """Where the membership in each class is ½, 0.7 and 0.9, seen from above."""
    rows, tops = [], []
    number = 0
    for i in range(len(plane.names)):
        heights = plane.memberships[:, :, i]
        for level in LEVELS:
            for line in isolines(heights, level):
                number += 1
                told = {"line": number, "level": words.number(level), "set": str(i)}
                rows += [{"x": x, "y": y, "at": k, **told} for k, (x, y) in enumerate(plane.places(line))]
        tops.append(_at(plane, *summit(heights), i))
    levels = [words.number(x) for x in LEVELS]
    axes = {"x": _axis("x", plane.x), "y": _axis("y", plane.y)}
    legend = {
        "title": words.say("membership"),
        "orient": "top",
        "symbolType": "stroke",
        "titleFontWeight": "normal",
        "symbolSize": 300,
    }
    looks = {
        "detail": {"field": "line"},
        "order": {"field": "at"},
        "strokeDash": {**_set_encoding(levels, [[2, 3], [6, 3], [1, 0]], legend), "field": "level"},
        "color": _set_encoding([str(i) for i in range(len(plane.names))], _cycle(COLOURS, len(plane.names)), None),
    }
    layers = [
        {"data": {"values": rows}, "mark": {"type": "line", "strokeWidth": 1.6}, "encoding": {**axes, **looks}},
        _names(tops if plane.has_names else (), axes),
    ]
    return Chart(frame_spec(width, height, layer=layers), words)


def regions(planes: Mapping[str, Plane], words: Language, size: int = 230) -> Chart:
    """The part of the plane in which each class is the strongest, one panel for each way of partitioning."""
    panels = []
    for title, plane in planes.items():
        axes = {"x": _axis("x", plane.x), "y": _axis("y", plane.y)}
        used = sorted(set(plane.strongest.ravel().tolist()))
        places = {i: plane.middle(plane.strongest == i) for i in used if plane.has_names}
        fill = _set_encoding([str(i) for i in used], _cycle(SHADES, len(used)), None)
        both = {**axes, "x2": {"field": "x2"}, "y2": {"field": "y2"}, "fill": fill, "stroke": fill}
        border = {**axes, "detail": {"field": "line"}, "order": {"field": "at"}}
        layers = [
            # The stroke closes the hairlines between rectangles.
            {"data": {"values": _bars(plane)}, "mark": {"type": "rect", "strokeWidth": 0.7}, "encoding": both},
            {
                "data": {"values": _borders(plane, used)},
                "mark": {"type": "line", "color": INK, "strokeWidth": 1.2},
                "encoding": border,
            },
            _names([_at(plane, *place, i) for i, place in places.items() if place], axes),
        ]
        named = {"text": title, "anchor": "middle", "fontSize": 12}
        panels.append({"width": size, "height": size, "title": named, "layer": layers})
    apart = {"scale": {"fill": "independent", "stroke": "independent"}}
    return Chart({"padding": 8, "concat": panels, "columns": min(2, len(panels)), "resolve": apart}, words)


SHADES = ("#F7F7F7", "#C9DCEA", "#E3E3E3", "#F3D9C4", "#CFCFCF", "#CBE5DA", "#B8B8B8", "#EAD3E0", "#DADADA")


def _bars(plane: Plane) -> list[dict[str, Any]]:
    """Each row of the grid as rectangles of one class each."""
    strongest = plane.strongest
    across_, up = _edges(plane.grid[0]), _edges(plane.grid[1])
    found = []
    for r, line in enumerate(strongest):
        starts = [0, *(np.flatnonzero(np.diff(line)) + 1).tolist(), len(line)]
        for a, b in pairwise(starts):
            found.append({"x": across_[a], "x2": across_[b], "y": up[r], "y2": up[r + 1], "set": str(line[a])})
    return found


def _borders(plane: Plane, used: Sequence[int]) -> list[dict[str, Any]]:
    """The lines on which two classes are equally strong."""
    found: list[dict[str, Any]] = []
    if len(used) < 2:
        return found
    number = 0
    second, first = np.moveaxis(np.partition(plane.memberships, -2, axis=2)[:, :, -2:], 2, 0)
    for i in used:
        own = plane.memberships[:, :, i]
        for line in isolines(own - np.where(own == first, second, first), 0.0):
            number += 1
            found += [{"x": x, "y": y, "at": k, "line": number} for k, (x, y) in enumerate(plane.places(line))]
    return found


def _at(plane: Plane, row: int, column: int, i: int) -> dict[str, Any]:
    """The name of a class at a point of the grid."""
    return {"x": float(plane.grid[0][column]), "y": float(plane.grid[1][row]), "name": list(plane.names[i])}


def _edges(grid: np.ndarray) -> list[float]:
    """The borders of cells around the points of a grid."""
    return [float(grid[0]), *((grid[1:] + grid[:-1]) / 2).tolist(), float(grid[-1])]


def _bends(coding: Coding, axis: Across) -> np.ndarray:
    """Where membership functions bend or jump, so that lines turn exactly there."""
    if coding.corners is not None:
        points = np.array([x for s in coding.corners for x in s])
    elif coding.breaks is not None:
        points = coding.breaks[1:-1]
    else:
        assert coding.centres is not None
        centres = coding.centres[:, 0]
        points = np.concatenate([centres, (centres[1:] + centres[:-1]) / 2])
    step = (axis.high - axis.low) * 1e-6
    return np.unique(np.concatenate([points - step, points, points + step]).clip(axis.low, axis.high))


def _names(tops: Sequence[Mapping[str, Any]], axes: Mapping[str, Any]) -> dict[str, Any]:
    """Names of classes, a line for each column; a halo keeps them readable above lines."""
    text = {"type": "text", "fontSize": 10, "color": INK, "lineHeight": 11, "baseline": "middle", "dy": -5}
    halo = {"stroke": "white", "strokeWidth": 3, "strokeOpacity": 0.7, "strokeJoin": "round"}
    encoding = {**axes, "text": {"field": "name"}}
    layers = [{"mark": {**text, **look}, "encoding": encoding} for look in (halo, {})]
    return {"data": {"values": list(tops)}, "layer": layers}


def _cycle(values: Sequence[Any], number: int) -> list[Any]:
    return [values[i % len(values)] for i in range(number)]


def _set_encoding(names: Sequence[str], values: Sequence[Any], legend: Any) -> dict[str, Any]:
    scale = {"domain": list(names), "range": list(values)}
    return {"field": "set", "type": "nominal", "sort": None, "scale": scale, "legend": legend}


def _axis(field: str, axis: Across) -> dict[str, Any]:
    ends = [float(x) for x in axis.vega_numbers(np.array([axis.low, axis.high]))]
    if axis.dates:
        scale = {"type": "utc", "domain": ends, "nice": False}
        return {"field": field, "type": "temporal", "title": axis.column, "scale": scale, "axis": {"grid": False, "tickCount": 5}}
    return _quantity(field, axis.column, {"grid": False, "tickCount": 5, "format": ",~r"}, {"domain": ends, "nice": False})


def _quantity(field: str, title: str, axis: Mapping[str, Any], scale: Mapping[str, Any]) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": {**scale, "zero": False}}
