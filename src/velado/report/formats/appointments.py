"""The chart of a planning: the anonymity vectors side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from velado.appointments.anonymity_vectors import AnonymityVector
from velado.appointments.planners.registry import planner_title
from velado.appointments.planning import Planning
from velado.errors import InputError
from velado.i18n import Language
from velado.i18n import language as language_of
from velado.report.charts.bars import AFTER, BEFORE, EDGE, EDGES, NAME, Bin, bins
from velado.report.charts.drawing import INK, Chart
from velado.sentences import Sentence, join_sentences
from velado.tables.publication.publish import publish_files

WIDTH, HEIGHT = 620, 92
MOST_SINGLE = 12
"""Up to this size every component of the vectors has a bar of its own."""
FORMATS = (".svg", ".png")


def save_vectors(planning: Planning, path: str | Path, language: str = "en") -> None:
    """Write the chart of the vectors as SVG or PNG."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            "unknown-format",
            Sentence("a chart is written as {formats}", formats=join_sentences(Sentence(" or "), FORMATS)),
            file=path,
        )
    words = language_of(language)
    title = words.say("Anonymity vectors of {people} people", people=words.integer(planning.people))
    chart = vectors(planning, words).with_title(
        title,
        words.say(
            "Bars: share of the people by the size of their group. Figures above: number of groups. Further right is better."
        ),
    )
    chart.spec["title"]["offset"] = 14
    with publish_files([path]) as (place,):
        chart.save(place)


def vectors(planning: Planning, words: Language) -> Chart:
    """One row of bars per method: the share of the people by the size of their group, and the number of groups.

    Shares make the rows comparable: random appointments often leave thousands of groups of one person.
    """
    rows = {words.say("before the appointments"): planning.base}
    for planned in planning.methods:
        if planned.vector is not None:
            rows[planner_title(planned.method).into(words.code)] = planned.vector
    sizes = [_sizes(vector) for vector in rows.values()]
    everything = np.concatenate(sizes)
    single = tuple(range(1, MOST_SINGLE + 1)) if everything.max(initial=0) <= MOST_SINGLE else EDGES
    frame = bins(everything, single)
    panels = []
    for i, (name, vector) in enumerate(rows.items()):
        title = f"{name} (k = {words.integer(vector.k)})"
        panels.append(_panel(title, sizes[i], frame, words, i == len(rows) - 1, BEFORE if i == 0 else AFTER))
    labels = [b.label(words) for b in frame]
    spec = {"padding": 8, "spacing": 10, "vconcat": panels, "params": [{"name": "names", "value": labels}]}
    return Chart(spec, words)


def _sizes(vector: AnonymityVector) -> np.ndarray:
    return np.repeat(np.arange(1, len(vector.counts) + 1), vector.counts)


def _panel(title: str, sizes: np.ndarray, frame: list[Bin], words: Language, last: bool, colour: str) -> dict[str, Any]:
    rows = []
    for i, place in enumerate(frame):
        inside = sizes[(sizes >= place.low) & (sizes <= (place.high or np.inf))]
        if len(inside):
            share = float(inside.sum() / sizes.sum())
            rows.append({"x": str(i), "y": share, "text": words.integer(len(inside))})
    axis = {
        "labelExpr": NAME,
        "labelAngle": 0,
        "ticks": False,
        "title": words.say("people who share all quasi-identifiers and the appointment"),
    }
    hidden = {"labels": False, "ticks": False, "title": None}
    domain = [str(i) for i in range(len(frame))]
    across = {"field": "x", "type": "ordinal", "axis": axis if last else hidden, "scale": {"domain": domain}}
    up = {
        "field": "y",
        "type": "quantitative",
        "axis": {"format": "~%", "values": [0, 0.5, 1], "title": None},
        "scale": {"domain": [0, 1.15], "nice": False},
    }
    bar = {"type": "bar", "color": colour, "stroke": EDGE, "strokeWidth": 0.6}
    text = {"type": "text", "dy": -6, "fontSize": 11, "color": INK}
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "title": {"text": title, "fontSize": 12, "fontWeight": "normal", "anchor": "start", "offset": 6},
        "data": {"values": rows},
        "layer": [
            {"mark": bar, "encoding": {"x": across, "y": up}},
            {"mark": text, "encoding": {"x": across, "y": up, "text": {"field": "text"}}},
        ],
    }
