"""The page 'Utility': what a release lost, and what can still be done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import APIRouter, Response

from velado.declarations import BETTER
from velado.errors import VeladoError
from velado.evaluation.figures import FIGURES
from velado.evaluation.kolmogorov import KEPT
from velado.evaluation.shown import UTILITY
from velado.models import figure_title, larger_is_safer
from velado.report import charts
from velado.service.errors import NotFound
from velado.service.releases.schemas import ColumnShares, ShownAnswer
from velado.studio.project_page import Working
from velado.studio.request import PageRoute
from velado.studio.views.release_view import Seen, figure, fill_width, open_release, parse_integer, problem_of
from velado.studio.words import Words

router = APIRouter(route_class=PageRoute)
TERMS = {"generalized-loss": "generalized-information-loss", "entropy": "entropy-loss"}
"""Entries of the glossary that are called otherwise than the measure."""
BY_COLUMN = ("loss", "precision", "generalized_loss", "entropy")
LEAST_P = 0.0001
ASKED = {"queries": "1000", "seed": "0", "l": "2", "target": ""}
"""What the forms ask for, unless somebody says otherwise."""


class Measure(NamedTuple):
    """A measure as the page tells it."""

    title: str
    term: str
    meaning: str
    value: str
    better: str


@router.get("/projects/{id}/utility")
def utility(work: Working) -> Response:
    """What it cost."""
    seen = open_release(work)
    return work.show("utility.html", "utility", seen=seen, **({} if seen is None or seen.light else _context(seen)))


@router.post("/projects/{id}/utility/measure")
def measure(work: Working) -> Response:
    """Have more measured."""
    seen, form = open_release(work), work.form
    if seen is None:
        raise NotFound()
    numbers = {name: parse_integer(form.text(name)) for name in ("queries", "seed", "l")}
    try:
        if "target" in form:
            seen.measure(measures=[], target=form.text("target"), seed=numbers["seed"])
        else:
            seen.measure(measures=["privacy", "queries"], **numbers)
    except VeladoError as error:
        shown = {**_context(seen), "asked": {**ASKED, **dict(form.fields)}, "refused": problem_of(error, work)}
        return work.show("utility.html", "utility", 422, seen=seen, **shown)
    return work.go(seen.address("utility"), work.say("It is being measured."))


def _context(seen: Seen) -> dict[str, Any]:
    words, figures = seen.work.words, seen.figures
    return {
        "figures": figures,
        "overall": _overall(figures, words),
        "by_column": _by_column(seen),
        "pictures": [] if seen.shape is None else [_picture(c, seen.shape.records, words) for c in seen.shape.columns],
        "answers": [] if seen.shape is None else _answers(seen),
        "tests": _tests({} if seen.shape is None else seen.shape.ks, words),
        "kept": words.number(KEPT, 2),
        "queries": seen.newest_result("queries"),
        "learning": _learning(seen),
        "privacy": _privacy(seen),
        "unfinished": seen.pending_jobs(("queries", "learning", "before")),
        "targets": _targets(seen),
        "asked": ASKED,
        "refused": None,
        "figure": lambda number, digits=4: figure(number, words.language, digits),
    }


def _overall(figures: Mapping[str, Any], words: Words) -> list[Measure]:
    """The measures of the whole release."""
    found = []
    for place, digits in UTILITY.items():
        name = place.replace("_", "-")
        about, term = FIGURES[name], TERMS.get(name, name)
        value = _at(figures, about.at)
        shown = words.integer(value) if digits == 0 else words.number(value, digits)
        found.append(Measure(words(about.title), term, words(about.meaning), shown, _better(about.better, words)))
    arx = figures["utility"].get("average_class_size_arx")
    found.insert(
        7,
        Measure(
            words.say("average class size, as ARX counts"),
            "average-class-size",
            words.say("All records divided by the classes, suppressed records being one more class."),
            words.number(arx, 2),
            _better(-1, words),
        ),
    )
    share = None if not figures.get("rows") else figures["suppressed"] / figures["rows"]
    about = FIGURES["suppressed"]
    found.append(Measure(words(about.title), "suppressed", words(about.meaning), words.percent(share, 2), _better(-1, words)))
    return found


def _at(figures: Mapping[str, Any], path: str) -> Any:
    found: Any = figures
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _better(direction: int, words: Words) -> str:
    return {"larger": words.say("larger is better"), "smaller": words.say("smaller is better")}.get(BETTER[direction] or "", "")


def _by_column(seen: Seen) -> list[tuple[str, ...]]:
    """Level, measures and different values of each quasi-identifier."""
    words, levels = seen.work.words, {} if seen.shape is None else seen.shape.levels
    found = []
    for name, column in (seen.figures.get("columns") or {}).items():
        stands = levels.get(name)
        level = "–" if stands is None else f"{words.number(stands.level, 1)} / {words.integer(stands.height)}"
        measured = [words.number(column.get(m), 4) for m in BY_COLUMN]
        values = [words.integer(column.get(f"values_{side}")) for side in ("before", "after")]
        found.append((name, level, *measured, f"{values[0]} → {values[1]}"))
    return found


def _picture(column: ColumnShares, records: int, words: Words) -> tuple[charts.Chart, str, str, list[tuple[str, ...]]]:
    """A column before and after: chart, title, role and figures."""
    say, n = words.language, max(records, 1)
    pairs: list[charts.Pairing] = []
    told: list[tuple[str, ...]] = [(words.say("value"), words.say("before"), words.say("after"))]
    for share in column.shares:
        label = (
            (share.label if share.label is not None else words.say("(missing)"))
            if share.kind == "label"
            else words.label("share", share.kind)
        )
        pairs.append(charts.Pairing(label, share.before / n, share.after / n))
        told.append((label, say.integer(share.before), say.integer(share.after)))
    chart = charts.before_after(pairs, words.say("share of all records"), say)
    return fill_width(chart), column.column, words.label("role", column.role), told


def _answers(seen: Seen) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """The summary of each numeric column."""
    words = seen.work.words
    assert seen.shape is not None
    return [
        (name, [(_title(a.name, words), _shown_answer(a.before, words), _shown_answer(a.after, words)) for a in told])
        for name, told in seen.shape.answers.items()
    ]


def _title(name: str, words: Words) -> str:
    return words.say("mode, suppressed records counted as *") if name == "mode-suppressed" else words.label("answers", name)


def _shown_answer(answer: ShownAnswer, words: Words) -> str:
    say = words.language
    if answer.kind == "hidden":
        return words.say("not shown (small group)")
    label = words.say("(missing)") if answer.label is None else answer.label
    if answer.kind == "label" and answer.records is None:
        return words.say("in {label}", label=label)
    told = label if answer.kind == "label" else figure(answer.number, say)
    return told if answer.records is None else words.say("{value} ({n} records)", value=told, n=say.integer(answer.records))


def _tests(tests: Mapping[str, Any], words: Words) -> list[tuple[str, str, str, bool, str]]:
    """Kolmogorov–Smirnov by column: D, p, whether the distribution is kept, what was compared."""
    say = words.language
    return [
        (
            name,
            figure(test["statistic"], say),
            f"<{words.number(LEAST_P, 4)}" if test["p"] < LEAST_P else figure(test["p"], say),
            bool(test["kept"]),
            words.label("compared-by", test["by"]),
        )
        for name, test in tests.items()
    ]


def _learning(seen: Seen) -> dict[str, Any] | None:
    """How well a column is predicted: by always the same guess, from the original, from the release."""
    found = seen.newest_result("learning")
    if found is None:
        return None
    job, told = found
    words = seen.work.words
    lines: list[tuple[str, ...]] = [
        (words.say("always the most frequent value"), words.percent(told["majority"]), words.percent(told["majority"]), "–", "–")
    ]
    for name, before in told["original"].items():
        after = told["released"][name]
        cells = [words.percent(side["accuracy"]) for side in (before, after)]
        areas = [words.number(side.get("auc"), 3) for side in (before, after)]
        lines.append((words(name), *cells, *areas))
    return {"job": job, "lines": lines, **told}


def _privacy(seen: Seen) -> dict[str, Any] | None:
    """What every model measures, before and after."""
    before, after = seen.newest_result("before"), seen.newest_result("after")
    if before is None or after is None:
        return None
    words = seen.work.words
    b, a = before[1], after[1]
    tables = []
    for column, told in (b.get("sensitive") or {}).items():
        lines = []
        for name in told:
            safer = words.say("larger" if larger_is_safer(name) else "smaller")
            cells = [figure(side["sensitive"][column].get(name), words.language) for side in (b, a)]
            lines.append((figure_title(name, a["l"]).into(words.code), *cells, safer))
        tables.append((column, lines))
    return {"job": before[0], "k": (words.integer(b.get("k")), words.integer(a.get("k"))), "tables": tables}


def _targets(seen: Seen) -> Sequence[str]:
    """Columns that can be predicted: all that were released but those that were generalized."""
    columns = seen.manifest.get("columns") or {}
    levels = {} if seen.shape is None else seen.shape.levels
    kept = [
        name
        for name, about in columns.items()
        if about["role"] != "identifier" and (about["role"] != "quasi-identifier" or (name in levels and levels[name].level == 0))
    ]
    return sorted(kept, key=lambda name: columns[name]["role"] != "sensitive")
