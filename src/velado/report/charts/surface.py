"""The strongest joint membership over two columns, as a surface seen from aside."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from velado.i18n import Language
from velado.report.charts.drawing import INK, Chart, frame_spec
from velado.report.charts.plane import Plane, summit
from velado.report.charts.trends import COLOURS

TURN = np.cos(np.pi / 6), np.sin(np.pi / 6)
LIFT = 0.75
"""Height of membership 1 against the length of a side."""
TICKS = (0.0, 0.5, 1.0)
MOST_NAMED = 6
"""More peaks hide each other's names; their colours are those of the contours."""
TEXT = {"type": "text", "fontSize": 11, "color": INK}


def project_box(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Isometric view of a box with sides 0 … 1; both columns rise away from the nearest corner."""
    return (x - y) * TURN[0], (x + y) * TURN[1] + z * LIFT


def surface(plane: Plane, words: Language, width: int = 420, height: int = 330) -> Chart:
    """A patch for each cell of the grid, the farthest drawn first; coloured by class, the higher the darker."""
    heights = plane.memberships.max(axis=-1)
    rows, columns = heights.shape
    across, away = np.meshgrid(np.linspace(0, 1, columns), np.linspace(0, 1, rows))
    u, v = project_box(across, away, heights)
    classes = plane.strongest
    near = across[:-1, :-1] + away[:-1, :-1]
    patches: list[dict[str, Any]] = []
    for patch in np.argsort(-near, axis=None, kind="stable"):
        r, c = divmod(int(patch), columns - 1)
        corners = ((r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c))
        height_ = float(np.mean([heights[k] for k in corners]))
        fill = _shade(COLOURS[classes[r, c] % len(COLOURS)], height_)
        patches += [
            {"u": round(float(u[k]), 4), "v": round(float(v[k]), 4), "at": i, "patch": len(patches) // 4, "fill": fill}
            for i, k in enumerate(corners)
        ]
    scales = {"u": [-TURN[0] - 0.25, TURN[0] + 0.12], "v": [-0.2, 2 * TURN[1] + LIFT + 0.08]}

    def place(field: str, channel: str) -> dict[str, Any]:
        return {"field": field, "type": "quantitative", "axis": None, "scale": {"domain": scales[channel], "nice": False}}

    axes = {"x": place("u", "u"), "y": place("v", "v")}
    mesh = {"type": "line", "interpolate": "linear-closed", "stroke": "#444444", "strokeWidth": 0.25, "strokeJoin": "round"}
    drawn = {
        **axes,
        "order": {"field": "at"},
        "detail": {"field": "patch"},
        "fill": {"field": "fill", "type": "nominal", "scale": None},
    }
    lines, texts = _frame(plane, words)
    tops = _tops(plane, heights, classes, u, v)
    rule = {**axes, "x2": {"field": "u2"}, "y2": {"field": "v2"}}
    layers = [
        {"data": {"values": lines}, "mark": {"type": "rule", "color": "#777777", "strokeWidth": 0.8}, "encoding": rule},
        {"data": {"values": patches}, "mark": mesh, "encoding": drawn},
        _texts(tops, axes, 10, halo=True),
        _texts(texts, axes, 11),
        {"data": {"values": [_upright(words)]}, "mark": {**TEXT, "angle": 270}, "encoding": {**axes, "text": {"field": "text"}}},
    ]
    return Chart(frame_spec(width, height, layer=layers), words)


def _shade(colour: str, height: float) -> str:
    """A colour on white, the higher the stronger."""
    strength = 0.12 + 0.78 * height
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02X}" for part in parts)


def _frame(plane: Plane, words: Language) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The floor, the upright at the left, and what stands beside them."""
    corners = {(a, b): project_box(np.array(a), np.array(b), np.array(0.0)) for a in (0.0, 1.0) for b in (0.0, 1.0)}
    around = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0))
    lines = [_line(corners[a], corners[b]) for a, b in pairwise(around)]
    left = corners[0.0, 1.0]
    lines.append(_line(left, (left[0], left[1] + LIFT)))
    texts = [{"u": float(left[0]) - 0.03, "v": float(left[1]) + z * LIFT, "text": words.number(z), "align": "right"} for z in TICKS]
    for axis, first in ((plane.x, True), (plane.y, False)):
        side = 1 if first else -1
        for share in TICKS:
            u, v = project_box(np.array(share if first else 0.0), np.array(0.0 if first else share), np.array(0.0))
            number = axis.low + share * (axis.high - axis.low)
            digits = 0 if axis.high - axis.low >= 10 else 2
            text = axis.text(number) or words.number(number, digits)
            texts.append({"u": float(u) + side * 0.03, "v": float(v) - 0.07, "text": text, "align": "left" if first else "right"})
        u, v = project_box(np.array(0.5 if first else 0.0), np.array(0.0 if first else 0.5), np.array(0.0))
        texts.append(
            {"u": float(u) + side * 0.16, "v": float(v) - 0.18, "text": axis.column, "align": "left" if first else "right"}
        )
    return lines, texts


def _line(one: tuple[Any, Any], other: tuple[Any, Any]) -> dict[str, float]:
    return {"u": float(one[0]), "v": float(one[1]), "u2": float(other[0]), "v2": float(other[1])}


def _tops(plane: Plane, heights: np.ndarray, classes: np.ndarray, u: np.ndarray, v: np.ndarray) -> list[dict[str, Any]]:
    """The names of the classes above their peaks."""
    found = []
    for i, name in enumerate(plane.names if len(plane.names) <= MOST_NAMED else ()):
        own = np.where(classes == i, heights, -1)
        at = summit(own)
        if own[at] > 0:
            found.append({"u": float(u[at]), "v": float(v[at]) + 0.05, "text": " / ".join(name), "align": "center"})
    return found


def _upright(words: Language) -> dict[str, Any]:
    """What stands along the upright."""
    u, v = project_box(np.array(0.0), np.array(1.0), np.array(0.5))
    return {"u": float(u) - 0.2, "v": float(v), "text": words.say("membership")}


def _texts(texts: list[dict[str, Any]], axes: dict[str, Any], size: int, halo: bool = False) -> dict[str, Any]:
    """Texts with an alignment of their own: a layer for each; a ``halo`` keeps them readable above the surface."""
    looks: list[dict[str, Any]] = (
        [{"stroke": "white", "strokeWidth": 3, "strokeOpacity": 0.7, "strokeJoin": "round"}] if halo else []
    )
    layers = [
        {
            "data": {"values": [t for t in texts if t["align"] == align]},
            "mark": {**TEXT, "align": align, "fontSize": size, **look},
            "encoding": {**axes, "text": {"field": "text"}},
        }
        for look in (*looks, {})
        for align in ("left", "center", "right")
    ]
    return {"layer": layers}
