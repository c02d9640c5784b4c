"""The design system on a page of its own, for developers: tokens, components and their states."""

from __future__ import annotations

from fastapi import APIRouter, Response

from velado.report.charts import lines
from velado.studio.request import PageRoute, Visiting

router = APIRouter(route_class=PageRoute)
COLOURS = (
    "ground",
    "surface",
    "sunken",
    "ink",
    "quiet",
    "line",
    "edge",
    "accent",
    "accent-soft",
    "on-accent",
    "good",
    "good-soft",
    "warn",
    "warn-soft",
    "bad",
    "bad-soft",
    "before",
    "after",
    "scale-low",
    "scale-high",
)
SPACES = ("s1", "s2", "s3", "s4", "s5", "s6", "s7")


@router.get("/design")
def design(visit: Visiting) -> Response:
    """Every component in every state."""
    points = {visit.say("loss"): [(k, 1 - 1 / k) for k in range(2, 12)]}
    chart = lines(points, "k", visit.say("loss"), visit.words.language, 420, 220)
    figures = [("k", visit.say("loss")), *((k, visit.words.number(y)) for k, y in points[visit.say("loss")])]
    return visit.render("design.html", colours=COLOURS, spaces=SPACES, chart=chart, figures=figures)
