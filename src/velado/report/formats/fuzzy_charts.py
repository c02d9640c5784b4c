"""Charts of fuzzy sets as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from velado.errors import InputError
from velado.i18n import Language
from velado.i18n import language as language_of
from velado.progress import Progress
from velado.questions.fuzzify import Fuzzification
from velado.report.charts import fuzzy as charts
from velado.report.charts.drawing import SUFFIXES, Chart
from velado.report.charts.plane import Plane
from velado.report.charts.surface import surface
from velado.report.formats.comparison import make_folder
from velado.sentences import Sentence
from velado.tables.publication.publish import publish_files

WIDTH, HEIGHT = 560, 260
FINE = 300


def save_fuzzy_charts(
    result: Fuzzification,
    output: str | Path,
    *,
    language: str = "en",
    beside: Mapping[str, Fuzzification] | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write the charts of fuzzy sets; the files written.

    ``output`` is a file (PNG, SVG or PDF) for the sets alone: membership functions of all columns, or the contours of two
    joint ones. Or a folder for all charts (PNG): membership functions, Q-anonymity and, for two columns, contours,
    surface, and the strongest sets side by side with those of the partitions ``beside`` (by the name of the method).
    """
    drawing = (progress or Progress()).part(0.0, 1.0, "draw")
    words, output = language_of(language), Path(output)
    if output.suffix.lower() in SUFFIXES:
        drawn = {output: _sets(result, words)}
    elif output.suffix:
        raise InputError("unknown-format", Sentence("a chart is written as {formats}", formats=SUFFIXES), file=output)
    else:
        make_folder(output)
        drawn = {output / f"{name}.png": chart for name, chart in _all(result, words, beside or {}).items()}
    with publish_files(list(drawn)) as places:
        for done, (place, chart) in enumerate(zip(places, drawn.values(), strict=True)):
            drawing.at(done, len(drawn))
            chart.save(place)
        drawing.at(1.0)
    return list(drawn)


def _sets(result: Fuzzification, words: Language) -> Chart:
    alone = _memberships(result, words)
    if alone:
        # Names are those of one column: the same name in another is another set.
        apart = {"scale": {"color": "independent", "strokeDash": "independent"}}
        return Chart({"padding": 8, "vconcat": [_plain(chart) for chart in alone.values()], "resolve": apart}, words)
    return _joint(result, words)["contours"]


def _plain(chart: Chart) -> dict[str, object]:
    """A chart as a part of another."""
    return {k: v for k, v in chart.spec.items() if k not in ("autosize", "padding")}


def _all(result: Fuzzification, words: Language, beside: Mapping[str, Fuzzification]) -> dict[str, Chart]:
    assert result.evaluation.fuzzy is not None
    drawn = {f"sets_{column}": chart for column, chart in _memberships(result, words).items()}
    curve = charts.possibility(result.evaluation.fuzzy, words, WIDTH, HEIGHT)
    drawn["q_anonymity"] = curve.with_title(words.say("Q-anonymity"))
    if len(result.found.covers) == 2:
        drawn |= _joint(result, words)
        if beside:
            drawn["partitions"] = _partitions(result, words, beside)
    return drawn


def _memberships(result: Fuzzification, words: Language) -> dict[str, Chart]:
    """Of columns that have sets of their own."""
    fuzzy = result.found.fuzzy
    assert fuzzy is not None
    drawn = {}
    for coding in fuzzy.codings:
        if len(coding.columns) == 1:
            (column,) = coding.columns
            chart = charts.memberships(coding, fuzzy.names[column], words, result.scales, WIDTH, HEIGHT)
            drawn[column] = chart.with_title(words.say("Sets of {columns}", columns=column))
    return drawn


def _joint(result: Fuzzification, words: Language) -> dict[str, Chart]:
    assert result.found.fuzzy is not None
    named = _axis_columns(result)
    plane = Plane.of(result.found.fuzzy, result.scales)
    coarse = Plane.of(result.found.fuzzy, result.scales, 40 if plane.has_names else 80)
    note = words.say("Names: {x} above, {y} below.", **named) if plane.has_names else ""
    return {
        "contours": charts.contours(plane, words, 480, 480).with_title(
            words.say("{x} and {y}: membership from above", **named), note
        ),
        "surface": surface(coarse, words, 560, 440).with_title(words.say("{x} and {y}: strongest membership", **named)),
    }


def _partitions(result: Fuzzification, words: Language, beside: Mapping[str, Fuzzification]) -> Chart:
    assert result.found.fuzzy is not None
    named = _axis_columns(result)
    whole = Plane.of(result.found.fuzzy, result.scales, 1)
    planes = {
        words.label("partition", name): Plane.of(other.found.fuzzy, other.scales, FINE, (whole.x, whole.y))
        for name, other in beside.items()
        if other.found.fuzzy is not None
    }
    note = words.say("Names: {x} above, {y} below.", **named) if any(p.has_names for p in planes.values()) else ""
    return charts.regions(planes, words).with_title(words.say("{x} and {y}: the strongest set, by method", **named), note)


def _axis_columns(result: Fuzzification) -> dict[str, str]:
    columns = [cover.column for cover in result.found.covers]
    if len(columns) != 2:
        raise InputError(
            "not-drawable", "joint sets of more than two columns cannot be drawn", hint="Name a folder, or two columns."
        )
    return dict(zip("xy", columns, strict=True))
