"""Bar charts: class sizes, diversity, before and after, levels.

Before is light with an outline, after is dark: they differ in print without colour, too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from velado.i18n import Language
from velado.report.charts.drawing import INK, WIDTH, Chart, frame_spec

HEIGHT = 210
BEFORE, AFTER, EDGE = "#D9D9D9", "#0072B2", "#444444"
EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
MOST_BARS = 12
LINE = 20
NAME = "names[datum.value]"


@dataclass(frozen=True)
class Bin:
    """Sizes from ``low`` to ``high``, both included; None is open."""

    low: int
    high: int | None
    classes: int
    records: int

    def label(self, words: Language) -> str:
        """The limits."""
        low = words.integer(self.low)
        if self.high is None:
            return f"≥ {low}"
        return low if self.high == self.low else f"{low}–{words.integer(self.high)}"


def bins(sizes: np.ndarray, edges: Sequence[int] = EDGES, most: int = MOST_BARS) -> list[Bin]:
    """Classes and records by class size, from the smallest to the largest size; the last bin may be open."""
    if not len(sizes):
        return []
    low, high = int(sizes.min()), int(sizes.max())
    used = [e for e, after in zip(edges, [*edges[1:], None], strict=True) if (after is None or after > low) and e <= high]
    used = used[:most]
    found = []
    for i, edge in enumerate(used):
        last = used[i + 1] - 1 if i + 1 < len(used) else None
        inside = sizes[(sizes >= edge) & (sizes <= (high if last is None else last))]
        following = [e for e in edges if e > edge]
        if last is None and following and high < following[0]:
            last = following[0] - 1
        found.append(Bin(edge, last, len(inside), int(inside.sum())))
    return found


def _name(text: str, lines: int = 2) -> list[str]:
    """A label in at most two lines."""
    shown = textwrap.wrap(" ".join(text.split()), LINE, max_lines=lines, placeholder="…")
    return shown or [""]


def _bars(
    labels: Sequence[str], values: Sequence[int], x: str, y: str, words: Language, width: int = WIDTH, height: int = HEIGHT
) -> Chart:
    """Vertical bars with their values above them."""
    rows = [{"x": str(i), "y": int(v), "text": words.integer(v)} for i, v in enumerate(values)]
    room = width / max(len(rows), 1)
    widest = max((len(label) for label in labels), default=1)
    # One in so many labels is shown where all would not fit; long ones are tilted.
    step = max(1, -(-20 * len(rows) // width))
    tilt = -40 if widest * 6.5 > room * step else 0
    axis = {"labelExpr": NAME, "labelAngle": tilt, "title": x, "labelOverlap": False, "ticks": False}
    axis |= {"values": [str(i) for i in range(0, len(rows), step)]}
    top = max(values, default=0)
    across = {"field": "x", "type": "ordinal", "sort": None, "axis": axis, "scale": {"paddingInner": 0.15}}
    up = {
        "field": "y",
        "type": "quantitative",
        "title": y,
        "axis": {"format": ",d", "tickCount": 5, "tickMinStep": 1},
        "scale": {"domain": [0, top * 1.08 or 1]},
    }
    layers: list[dict[str, Any]] = [{"mark": {"type": "bar", "color": AFTER}, "encoding": {"x": across, "y": up}}]
    if room >= 6.5 * max(len(words.integer(top)), 2) + 6:
        text = {"type": "text", "dy": -6, "fontSize": 11, "color": INK}
        layers.append({"mark": text, "encoding": {"x": across, "y": up, "text": {"field": "text"}}})
    names = {"name": "names", "value": list(labels)}
    return Chart(frame_spec(width, height, params=[names], data={"values": rows}, layer=layers), words)


def class_histogram(sizes: np.ndarray, words: Language) -> Chart:
    """How many classes have how many records."""
    found = bins(sizes)
    labels = [b.label(words) for b in found]
    return _bars(labels, [b.classes for b in found], words.say("records in the class"), words.say("classes"), words)


def top_classes(sizes: np.ndarray, words: Language, most: int = 20, width: int = WIDTH, height: int = HEIGHT) -> Chart:
    """The largest classes, one bar each."""
    top = np.sort(sizes)[::-1][:most]
    labels = [str(i + 1) for i in range(len(top))]
    x, y = words.say("class, by size"), words.say("records")
    return _bars(labels, [int(s) for s in top], x, y, words, width, height)


def diversity_histogram(distinct: np.ndarray, column: str, words: Language, width: int = WIDTH, height: int = HEIGHT) -> Chart:
    """How many classes have 1, 2, 3, … different sensitive values."""
    counts = np.bincount(distinct.astype(np.int64), minlength=2)[1:] if len(distinct) else np.zeros(1, dtype=int)
    if len(counts) <= 30:
        labels, values = [str(i + 1) for i in range(len(counts))], [int(n) for n in counts]
    else:
        found = bins(distinct)
        labels, values = [b.label(words) for b in found], [b.classes for b in found]
    x = words.say("different values of {column} in a class", column=" ".join(_name(column, 1)))
    return _bars(labels, values, x, words.say("classes"), words, width, height)


@dataclass(frozen=True)
class Pairing:
    """Shares before and after under one label."""

    label: str
    before: float
    after: float


def before_after(pairs: Sequence[Pairing], axis: str, words: Language) -> Chart:
    """Horizontal bars, before and after beneath each other, with their shares."""
    series = (words.say("before"), words.say("after"))
    rows = [
        {"y": str(i), "series": name, "x": share, "text": words.percent(share)}
        for i, p in enumerate(pairs)
        for name, share in zip(series, (p.before, p.after), strict=True)
    ]
    top = max((x for p in pairs for x in (p.before, p.after)), default=1.0) or 1.0
    # The axis is longer than the bars, for the room of their texts: no share is above 1.
    ticks: dict[str, Any] = {"values": [i / 5 for i in range(6)]} if top > 0.8 else {"tickCount": 4}
    labels = {"labelExpr": NAME, "title": None, "ticks": False, "domain": False, "labelPadding": 5}
    down = {"field": "y", "type": "nominal", "sort": None, "axis": labels, "scale": {"paddingInner": 0.25}}
    across = {
        "field": "x",
        "type": "quantitative",
        "title": axis,
        "axis": {"format": "~%", **ticks},
        "scale": {"domain": [0, top * 1.25], "nice": False},
    }
    offset = {"field": "series", "sort": list(series), "scale": {"paddingInner": 0.08}}
    colour = {
        "field": "series",
        "type": "nominal",
        "sort": None,
        "scale": {"domain": list(series), "range": [BEFORE, AFTER]},
        "legend": {"title": None, "orient": "top", "symbolType": "square", "symbolStrokeColor": EDGE, "offset": 4},
    }
    bar = {"type": "bar", "stroke": EDGE, "strokeWidth": 0.6}
    text = {"type": "text", "align": "left", "dx": 3, "fontSize": 11, "color": INK}
    layers = [
        {"mark": bar, "encoding": {"x": across, "y": down, "yOffset": offset, "color": colour}},
        {"mark": text, "encoding": {"x": across, "y": down, "yOffset": offset, "text": {"field": "text"}}},
    ]
    names = {"name": "names", "value": [_name(p.label) for p in pairs]}
    height = 34 * max(len(pairs), 1) + 75
    return Chart(frame_spec(WIDTH, height, params=[names], data={"values": rows}, layer=layers), words)


RISK_EDGES = (1, 2, 3, 5, 10, 20, 50, 100)


def risk_distribution(before: np.ndarray, after: np.ndarray, words: Language) -> Chart:
    """Shares of the records by the size of their class, which is their risk, before and after."""
    return before_after(risk_shares(before, after, words), words.say("share of the records"), words)


def risk_shares(before: np.ndarray, after: np.ndarray, words: Language) -> list[Pairing]:
    """The figures of `risk_distribution`."""
    pairs = []
    for low, following in zip(RISK_EDGES, (*RISK_EDGES[1:], None), strict=True):
        shares = []
        for sizes in (before, after):
            inside = sizes[(sizes >= low) & (sizes < (following or np.inf))]
            shares.append(float(inside.sum() / max(sizes.sum(), 1)))
        size = Bin(low, None if following is None else following - 1, 0, 0).label(words)
        sign = "" if following == low + 1 else "≤ "
        pairs.append(Pairing(f"{size} ({sign}{words.percent(1 / low, 0)})", shares[0], shares[1]))
    return pairs


def levels(columns: Sequence[tuple[str, float, int]], words: Language) -> Chart:
    """The level of each column inside the outline of its highest level."""
    rows = [
        {"y": str(i), "level": level, "height": height, "text": f"{words.number(level, 1)} / {height}"}
        for i, (_, level, height) in enumerate(columns)
    ]
    labels = {"labelExpr": NAME, "title": None, "ticks": False, "domain": False, "labelPadding": 5}
    down = {"field": "y", "type": "nominal", "sort": None, "axis": labels, "scale": {"paddingInner": 0.3}}
    highest = max((height for _, _, height in columns), default=1)

    def across(name: str) -> dict[str, Any]:
        axis = {"format": "d", "values": list(range(highest + 1))}
        scale = {"domain": [0, highest * 1.22], "nice": False}
        return {
            "field": name,
            "type": "quantitative",
            "title": words.say("level (outline: highest level)"),
            "axis": axis,
            "scale": scale,
        }

    outline = {"type": "bar", "color": "#F2F2F2", "stroke": EDGE, "strokeWidth": 0.8}
    text = {"type": "text", "align": "left", "dx": 4, "fontSize": 11, "color": INK}
    layers = [
        {"mark": outline, "encoding": {"y": down, "x": across("height")}},
        {"mark": {"type": "bar", "color": AFTER}, "encoding": {"y": down, "x": across("level")}},
        {"mark": text, "encoding": {"y": down, "x": across("height"), "text": {"field": "text"}}},
    ]
    names = {"name": "names", "value": [_name(c) for c, _, _ in columns]}
    height = 27 * max(len(columns), 1) + 50
    return Chart(frame_spec(WIDTH, height, params=[names], data={"values": rows}, layer=layers), words)
