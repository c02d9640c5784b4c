"""Figures of the Oviedo thesis: the fuzzy sets of figure 3.1, the partitions of figures 4.8 to 4.13."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from velado.fuzzy import crisp
from velado.progress import Progress
from velado.report import charts
from velado.report.charts.trends import COLOURS, SHAPES
from velado.studies.oviedo_codings import C_MEANS, GUSTAFSON_KESSEL, SEED, STARTS, original_partition, terciles
from velado.studies.oviedo_measures import Census, Pair
from velado.studies.oviedo_minima import SETS, column_minima, joint_minima
from velado.studies.oviedo_text import salary

SHOWN: Pair = (1, 2)


def draw(folder: Path, census: Census, progress: Progress) -> list[Path]:
    """Write both charts."""
    first = _figure_3_1(folder / "figure_3_1_salary.png")
    progress.at(0.3)
    return [first, _partitions(folder / "figures_4_8_to_4_13.png", census, progress)]


def _figure_3_1(path: Path) -> Path:
    corners = np.array([0, 2, 5, 8, 11, 15])
    degrees = salary().memberships(corners)
    series = {
        name: list(zip(corners.astype(float).tolist(), degrees[:, i].tolist(), strict=True))
        for i, name in enumerate(("Bajo", "Medio", "Alto", "Muy Alto"))
    }
    charts.curves(path, series, "Salario (k)", "membership", "Figure 3.1: fuzzy sets of the salary")
    return path


def _partitions(path: Path, census: Census, progress: Progress) -> Path:
    """The six codings of one pair: colour and shape are the sets, opacity is the strongest membership."""
    points = census.columns(*SHOWN)
    columns = points.T
    best = crisp(joint_minima(points, STARTS, SEED, progress)[0].labels, SETS)
    drawn = {
        "4.8 k-means": [crisp(column_minima(x)[0].labels, SETS) for x in columns],
        "4.9 global recode": [crisp(terciles(x), SETS) for x in columns],
        "4.10 fuzzy": [original_partition(C_MEANS, x[:, None]) for x in columns],
        "4.11 joint k-means": [best],
        "4.12 Gustafson–Kessel": [original_partition(GUSTAFSON_KESSEL, points)],
        "4.13 c-means": [original_partition(C_MEANS, points)],
    }
    progress.check()
    names = [census.names[n - 1] for n in SHOWN]
    panels = [_panel(title, points, partitions, names) for title, partitions in drawn.items()]
    spec = {"padding": 8, "vconcat": [{"hconcat": panels[:3]}, {"hconcat": panels[3:]}]}
    title = f"Figures 4.8 to 4.13: the six codings of {names[0]} and {names[1]}"
    subtitle = "above: three sets for each column, crossed (colour and shape); below: three sets for both; pale: weak membership"
    charts.Chart(spec).with_title(title, subtitle).save(path)
    return path


def _panel(title: str, points: np.ndarray, partitions: list[np.ndarray], names: list[str]) -> dict[str, Any]:
    degrees = np.prod([memberships.max(axis=1) for memberships in partitions], axis=0)
    first, second = (memberships.argmax(axis=1).tolist() for memberships in (partitions[0], partitions[-1]))
    rows = [
        {"x": x, "y": y, "first": a, "second": b, "degree": round(degree, 3)}
        for (x, y), a, b, degree in zip(points.tolist(), first, second, degrees.tolist(), strict=True)
        if degree
    ]
    told = {
        channel: {
            "field": field,
            "type": "nominal",
            "legend": None,
            "scale": {"domain": list(range(SETS)), "range": list(values[:SETS])},
        }
        for channel, field, values in (("color", "first", COLOURS), ("shape", "second", SHAPES))
    }
    axes = {
        channel: {"field": channel, "type": "quantitative", "title": name, "axis": {"format": "~s", "tickCount": 4}}
        for channel, name in zip("xy", names, strict=True)
    }
    opacity = {"field": "degree", "type": "quantitative", "legend": None, "scale": {"domain": [0, 1], "range": [0.1, 0.9]}}
    return {
        "title": title,
        "width": 230,
        "height": 200,
        "data": {"values": rows},
        "mark": {"type": "point", "filled": True, "size": 16},
        "encoding": {**axes, **told, "opacity": opacity},
    }
