"""The generalization lattice: a drawing with every node named, or a map of nodes that are too many to be named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from velado.i18n import Language
from velado.questions.exploration import STATUSES, Exploration, format_levels
from velado.report.charts.drawing import INK, Chart

MOST_NAMED = 200
"""Nodes that are drawn with their names."""
STAR = (
    "M0,-1L0.2245,-0.309L0.951,-0.309L0.3633,0.118L0.5878,0.809L0,0.382L-0.5878,0.809L-0.3633,0.118L-0.951,-0.309L-0.2245,-0.309Z"
)
LOOKS = {
    "optimal": (STAR, "#D55E00", "#000000"),
    "minimal": ("diamond", "#0072B2", "#000000"),
    "satisfying": ("circle", "#56B4E9", "#0B4F73"),
    "over-limit": ("square", "#FFFFFF", "#8A5A00"),
    "failing": ("cross", "#DDDDDD", "#777777"),
}
"""Shape, filling and outline of each status: told apart without colours, too."""
LAYER = 92
"""Between two heights of the drawing."""
ROOM = 84
"""Between two nodes of a height, at least."""
LETTER = 6.2
"""Width of a letter of the labels."""
SIZE = {"field": "size", "type": "quantitative", "scale": None, "legend": None}
CELLS = (110, 70)
"""A map of very many nodes shows one mark for all that fall into such a cell."""
MOST_MARKS = 6_000


def lattice(found: Exploration, words: Language) -> Chart:
    """The lattice as a chart with title, legend and all statuses told apart by shape."""
    chart = _drawing(found, words) if len(found) <= MOST_NAMED else _map(found, words)
    title = words.say("Generalization lattice of {project}", project=found.project)
    columns = words.say("Levels in the order of the columns: {columns}", columns=", ".join(found.columns))
    limit = (
        words.plural("at most {n} record may be suppressed", "at most {n} records may be suppressed", found.limit)
        if found.limit
        else words.say("no record may be suppressed")
    )
    counted = words.plural("{n} node", "{n} nodes", len(found))
    note = words.say(
        "Under each node: the smallest class k and, after the minus sign, the records that must be suppressed."
        if len(found) <= MOST_NAMED
        else "Each mark is a node, or the best of several in the same place. Below, the nodes of each height (sum of levels)."
    )
    lines = [*_wrap_text(columns), f"{counted}; {limit}.", *_best(found, words), *_wrap_text(note)]
    return Chart({**chart.spec, "title": {"text": title, "subtitle": lines}}, words)


def _best(found: Exploration, words: Language) -> list[str]:
    """The optimal node in words, if there is one."""
    best = found.optimal
    if best is None:
        return [words.say("No node satisfies the models within the limit.")]
    told = (
        "Optimal, and minimal too: {levels}, loss {loss}, suppressed records: {suppressed}."
        if best.minimal
        else "Optimal: {levels}, loss {loss}, suppressed records: {suppressed}."
    )
    figures = {"loss": words.number(best.loss), "suppressed": words.integer(best.suppressed)}
    return [words.say(told, levels=format_levels(best.levels), **figures)]


def _wrap_text(text: str, most: int = 102) -> list[str]:
    from textwrap import wrap

    return wrap(text, most, break_long_words=False)


def _status_encoding(at: int, words: Language, statuses: Sequence[str], legend: dict[str, Any] | None) -> dict[str, Any]:
    names = [words.label("status", s) for s in statuses]
    scale = {"domain": names, "range": [LOOKS[s][at] for s in statuses]}
    return {"field": "status", "type": "nominal", "sort": None, "scale": scale, "legend": legend}


def _marks(words: Language, statuses: Sequence[str]) -> dict[str, Any]:
    legend = {"title": None, "orient": "top", "columns": 5, "symbolSize": 140, "symbolStrokeWidth": 1.2, "padding": 0}
    return {
        "shape": _status_encoding(0, words, statuses, legend),
        "fill": _status_encoding(1, words, statuses, legend),
        "stroke": _status_encoding(2, words, statuses, legend),
    }


def _drawing(found: Exploration, words: Language) -> Chart:
    """Every node with its levels, k and suppressed records; a line where one column differs by one level."""
    nodes = list(found.nodes())
    layers: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        layers.setdefault(node.height, []).append(i)
    named = [(format_levels(n.levels), _figures(n.k, n.suppressed, words)) for n in nodes]
    room = max(ROOM, max(len(text) for pair in named for text in pair) * LETTER + 16)
    x = _place_nodes(layers, found, room)
    rows = [
        {
            "x": x[i],
            "y": n.height * LAYER,
            "status": words.label("status", n.status),
            "name": a,
            "figures": b,
            "size": 330 if n.status == "optimal" else 190,
        }
        for i, (n, (a, b)) in enumerate(zip(nodes, named, strict=True))
    ]
    number = {n.levels: i for i, n in enumerate(nodes)}
    edges = [
        {"x": x[i], "y": n.height * LAYER, "x2": x[number[above]], "y2": (n.height + 1) * LAYER}
        for i, n in enumerate(nodes)
        for above in found.successors(n.levels)
    ]
    width = max(x) - min(x) + room
    height = (len(layers) - 1) * LAYER + 70
    axes = {"x": _place("x", [min(x) - room / 2, max(x) + room / 2]), "y": _place("y", [-48, (len(layers) - 1) * LAYER + 22])}
    line = {**axes, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    present = [s for s in STATUSES if any(n.status == s for n in nodes)]
    text = {"type": "text", "align": "center", "baseline": "middle", "color": INK}
    halo = {"stroke": "white", "strokeWidth": 4, "strokeJoin": "round"}
    layers_drawn: list[dict[str, Any]] = [
        {"data": {"values": edges}, "mark": {"type": "rule", "color": "#BBBBBB", "strokeWidth": 0.8}, "encoding": line},
        *(
            {"mark": {**text, "dy": dy, "fontSize": size, **look}, "encoding": {**axes, "text": {"field": field}}}
            for look in (halo, {})
            for field, dy, size in (("name", 17, 11), ("figures", 31, 10))
        ),
        {"mark": {"type": "point", "strokeWidth": 1.4, "opacity": 1}, "encoding": {**axes, **_marks(words, present), "size": SIZE}},
    ]
    least = 560
    spec = {"width": max(width, least), "height": height, "padding": 12, "data": {"values": rows}, "layer": layers_drawn}
    if width < least:
        middle = (min(x) + max(x)) / 2
        axes["x"]["scale"]["domain"] = [middle - least / 2, middle + least / 2]
    return Chart(spec, words)


def _place(field: str, domain: list[float]) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "axis": None, "scale": {"domain": domain, "nice": False, "zero": False}}


def _figures(k: int, suppressed: int, words: Language) -> str:
    """What stands under a node: its k, and the records that it suppresses."""
    return f"k={words.integer(k)}" + (f", −{words.integer(suppressed)}" if suppressed else "")


def _place_nodes(layers: dict[int, list[int]], found: Exploration, room: float) -> list[float]:
    """Where each node stands in its layer: near the nodes below it, the first column's generalizations to the left."""
    x = [0.0] * len(found)
    levels = [n.levels for n in found.nodes()]
    number = {v: i for i, v in enumerate(levels)}
    for height in sorted(layers):
        layer = sorted(layers[height], key=lambda i: levels[i], reverse=True)
        if height:
            below = {i: [x[number[v]] for v in found.predecessors(levels[i])] for i in layer}
            layer.sort(key=lambda i: sum(below[i]) / len(below[i]))
        for place, i in enumerate(layer):
            x[i] = (place - (len(layer) - 1) / 2) * room
    return x


def _map(found: Exploration, words: Language) -> Chart:
    """Loss against suppressed records, and how many nodes of each height have which status."""
    present = [s for s, n in zip(STATUSES, np.bincount(found.status, minlength=len(STATUSES)), strict=True) if n]
    cloud = {
        "width": 520,
        "height": 380,
        "data": {"values": _points(found, words)},
        "layer": [_limit(found, words), _cloud(words, present)],
    }
    heights = {
        "width": 520,
        "height": 150,
        "data": {"values": _by_height(found, words)},
        "mark": {"type": "bar", "strokeWidth": 0.6},
        "encoding": {
            "x": {"field": "height", "type": "ordinal", "title": words.say("height (sum of levels)"), "axis": {"labelAngle": 0}},
            "y": {"field": "nodes", "type": "quantitative", "title": words.say("nodes"), "axis": {"format": ",~f", "tickCount": 4}},
            "fill": _status_encoding(1, words, present, None),
            "stroke": _status_encoding(2, words, present, None),
            "order": {"field": "rank"},
        },
    }
    shared = {"scale": {"fill": "shared", "stroke": "shared"}, "legend": {"fill": "shared", "stroke": "shared"}}
    return Chart({"padding": 12, "vconcat": [cloud, heights], "resolve": shared, "spacing": 18}, words)


def _axes(words: Language) -> dict[str, Any]:
    return {
        "x": {
            "field": "x",
            "type": "quantitative",
            "title": words.say("loss"),
            "scale": {"zero": False, "padding": 12},
            "axis": {"format": ",~f", "tickCount": 6, "grid": False},
        },
        "y": {
            "field": "y",
            "type": "quantitative",
            "title": words.say("suppressed records"),
            "axis": {"format": "~%", "tickCount": 6},
        },
    }


def _cloud(words: Language, present: Sequence[str]) -> dict[str, Any]:
    return {
        "mark": {"type": "point", "strokeWidth": 0.7, "opacity": 0.85},
        "encoding": {**_axes(words), **_marks(words, present), "size": SIZE},
    }


def _points(found: Exploration, words: Language) -> list[dict[str, Any]]:
    """The nodes that release something, the best drawn last; of very many, the best of every cell."""
    measured = found.measured
    known = np.flatnonzero(~np.isnan(measured["loss"]))
    loss, share, status = measured["loss"][known], measured["share"][known], found.status[known]
    if len(known) > MOST_MARKS:
        span = max(float(np.ptp(loss)), 1e-12)
        cell = np.minimum((loss - loss.min()) / span * CELLS[0], CELLS[0] - 1).astype(np.int64) * CELLS[1]
        cell += np.minimum(share * CELLS[1], CELLS[1] - 1).astype(np.int64)
        order = np.lexsort((loss, status, cell))
        first = order[np.unique(cell[order], return_index=True)[1]]
        # All minimal nodes would be a cloud of their own: the best of each cell stand for them.
        loss, share, status = loss[first], share[first], status[first]
    sizes = {0: 260, 1: 70, 2: 26, 3: 20}
    order = np.argsort(-status, kind="stable")
    return [
        {
            "x": float(loss[i]),
            "y": float(share[i]),
            "size": sizes[int(status[i])],
            "status": words.label("status", STATUSES[status[i]]),
        }
        for i in order
    ]


def _limit(found: Exploration, words: Language) -> dict[str, Any]:
    """A line at the records that may be suppressed."""
    at = found.limit / max(found.rows, 1)
    data = {"values": [{"y": at, "text": words.say("suppression limit")}]}
    up = _axes(words)["y"]
    line = {"mark": {"type": "rule", "strokeDash": [5, 3], "color": "#8A5A00"}, "encoding": {"y": up}}
    text = {
        "mark": {"type": "text", "align": "right", "baseline": "bottom", "dy": -3, "fontSize": 11, "color": "#8A5A00"},
        "encoding": {"y": up, "x": {"value": "width"}, "text": {"field": "text"}},
    }
    return {"data": data, "layer": [line, text]}


def _by_height(found: Exploration, words: Language) -> list[dict[str, Any]]:
    pairs, counts = np.unique(found.heights * len(STATUSES) + found.status, return_counts=True)
    return [
        {
            "height": int(pair) // len(STATUSES),
            "rank": int(pair) % len(STATUSES),
            "nodes": int(count),
            "status": words.label("status", STATUSES[int(pair) % len(STATUSES)]),
        }
        for pair, count in zip(pairs, counts, strict=True)
    ]
