"""The page 'Risk': who could be found again, by whom, and by which columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Response

from velado.errors import VeladoError
from velado.evaluation.risk import THRESHOLD, Risk, risk
from velado.evaluation.shown import risk_figures, size_asked_for
from velado.report import charts
from velado.service.errors import NotFound
from velado.service.sources import operations as sources
from velado.service.sources.schemas import SourceAnswer
from velado.studio.project_page import Working
from velado.studio.request import PageRoute
from velado.studio.views.known_to_others import ANSWER_WORDS
from velado.studio.views.release_view import Seen, figure, fill_width, open_release, problem_of
from velado.studio.words import Words

router = APIRouter(route_class=PageRoute)
ESTIMATES = ("zayatz", "pitman", "snb", "dankar")
ASKED = {"fraction": "0.1", "population": "", "weights": ""}
SETS = 20
"""Sets of columns that are shown, unless all are asked for."""
Threshold = Annotated[float, Query(gt=0, le=1)]


class Attacker(NamedTuple):
    """An attacker and what they reach, before and after."""

    name: str
    term: str
    title: str
    story: str
    before: str
    after: str
    note: str


class RiskLine(NamedTuple):
    """A figure before and after."""

    title: str
    term: str
    before: str
    after: str


@router.get("/projects/{id}/risk")
def page(work: Working, threshold: Threshold = THRESHOLD, sets: str = "") -> Response:
    """Who could be found again."""
    seen = open_release(work)
    shown = {} if seen is None or seen.light else _context(seen, threshold, sets == "all")
    return work.show("risk.html", "risk", seen=seen, **shown)


@router.post("/projects/{id}/risk/measure")
def measure(work: Working) -> Response:
    """Have sets of columns, or the risk against a population, measured."""
    seen, form = open_release(work), work.form
    if seen is None:
        raise NotFound()
    try:
        if "fraction" in form:
            seen.measure(measures=[], fraction=_number(form.text("fraction")))
        elif "population" in form:
            seen.measure(measures=[], population=form.text("population"))
        elif "weights" in form:
            seen.measure(measures=[], weights=form.text("weights"))
        else:
            seen.measure(measures=["subsets"])
    except VeladoError as error:
        shown = {**_context(seen, THRESHOLD, False), "asked": {**ASKED, **dict(form.fields)}}
        return work.show("risk.html", "risk", 422, seen=seen, **{**shown, "refused": problem_of(error, work)})
    return work.go(seen.address("risk"), work.say("It is being measured."))


def _number(text: str) -> float | str | None:
    """A number as it was typed; what is none is refused by the service."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text or None


def _context(seen: Seen, threshold: float, every_set: bool) -> dict[str, Any]:
    words, figures = seen.work.words, seen.figures
    before, after = _both(seen, threshold)
    journalist, profile = seen.newest_result("journalist"), _profile(seen)
    return {
        "figures": figures,
        "exposed": seen.exposure,
        "threshold": threshold,
        "attackers": _attackers(seen, before, after, journalist[1] if journalist else None),
        "journalist": journalist,
        "lines": _lines(seen, before, after, threshold),
        "picture": _picture(seen),
        "sets": _sets(seen, every_set),
        "every_set": every_set,
        "original_sets": _original_sets(seen, profile),
        "uniqueness": _uniqueness(seen),
        "individual": _individual(seen),
        "published": _published_columns(figures, words),
        "unfinished": seen.pending_jobs(("subsets", "journalist", "individual", "uniqueness")),
        "populations": _populations(seen),
        "weights": _weights(profile),
        "asked": ASKED,
        "refused": None,
    }


def _both(seen: Seen, threshold: float) -> tuple[Risk | None, Risk]:
    """The prosecutor's risk before and after; of releases that keep no sizes, after only, by the usual threshold."""
    told = seen.figures["risk"]
    kept = Risk(**{name: told.get(name) for name in Risk.__dataclass_fields__})
    if seen.shape is None:
        return None, kept
    k = size_asked_for(seen.figures)
    found = []
    for side in ("before", "after"):
        sizes, times = seen.sizes(side)
        found.append(risk(sizes, kept.singled_out_before, times, k, kept.smaller_than_k_before, threshold))
    return found[0], found[1]


def _attackers(seen: Seen, before: Risk | None, after: Risk, journalist: Mapping[str, Any] | None) -> list[Attacker]:
    words = seen.work.words
    prosecutor = (None if before is None else before.highest, after.highest)
    marketer = (None if before is None else before.average, after.average)
    most = words.say("at most {share}", share=words.percent(after.highest))
    return [
        Attacker(
            "prosecutor",
            "prosecutor-risk",
            words.say("Prosecutor"),
            words.say("Looks for one person, and knows that this person is in the release: a neighbour, a colleague, an employer."),
            words.percent(prosecutor[0]),
            words.percent(prosecutor[1]),
            words.say("chance to pick the right record, at worst"),
        ),
        Attacker(
            "journalist",
            "journalist-risk",
            words.say("Journalist"),
            words.say(
                "Looks for anybody at all, to show that it can be done, and knows a population of which the release is a part."
            ),
            "–",
            most if journalist is None else words.percent(journalist["highest"]),
            words.say("no population was given: not more than the prosecutor's")
            if journalist is None
            else words.say(
                "at worst, among {n} people of the population; on average {average}",
                n=words.integer(journalist["population"]),
                average=words.percent(journalist["average"], 2),
            ),
        ),
        Attacker(
            "marketer",
            "marketer-risk",
            words.say("Marketer"),
            words.say("Wants as many people as possible, and does not mind some errors."),
            words.percent(marketer[0]),
            words.percent(marketer[1]),
            words.say("share of the records that are matched rightly, on average"),
        ),
    ]


def _lines(seen: Seen, before: Risk | None, after: Risk, threshold: float) -> list[RiskLine]:
    """The figures of the prosecutor, before and after."""
    words = seen.work.words
    found = []
    for one in risk_figures(before, after, size_asked_for(seen.figures), threshold, words.language):
        cells = [words.percent(x, 2) if one.is_share else words.integer(x) for x in (one.before, one.after)]
        found.append(RiskLine(one.title, one.term, cells[0], cells[1]))
    if seen.shape is not None:
        counts = []
        for side in ("before", "after"):
            sizes, times = seen.sizes(side)
            exposed = 1 / sizes > threshold + 1e-12
            counts.append(words.integer(int((sizes * times)[exposed].sum())))
        people = words.say("people in classes above the threshold")
        title = people if seen.shape.people else words.say("records in classes above the threshold")
        found.insert(3, RiskLine(title, "threshold", counts[0], counts[1]))
    return found


def _picture(seen: Seen) -> tuple[charts.Chart, list[tuple[str, str, str]]] | None:
    """Records by the size of their class, before and after."""
    if seen.shape is None:
        return None
    words, say = seen.work.words, seen.work.words.language
    before, after = seen.each_size("before"), seen.each_size("after")
    pairs = charts.risk_shares(before, after, say)
    told = [(words.say("class size (risk)"), words.say("before"), words.say("after"))]
    told += [(p.label, say.percent(p.before, 2), say.percent(p.after, 2)) for p in pairs]
    return fill_width(charts.risk_distribution(before, after, say)), told


def _sets(seen: Seen, every: bool) -> dict[str, Any] | None:
    """Sets of quasi-identifiers, those that single out the most people first."""
    found = seen.newest_result("subsets")
    if found is None:
        return None
    words = seen.work.words
    job, told = found

    def side(one: Mapping[str, Any]) -> tuple[str, ...]:
        counts = [words.integer(one.get(name)) for name in ("singled_out", "groups", "smallest")]
        return (*counts, *(words.percent(one.get(name), 2) for name in ("distinction", "separation")))

    lines = [(", ".join(s["columns"]), side(s["before"]), side(s["after"])) for s in told[: None if every else SETS]]
    return {"job": job, "lines": lines, "total": len(told)}


def _profile(seen: Seen) -> Mapping[str, Any]:
    """What the inspection of the original found, as far as who looks may know it."""
    id = seen.document.source_id
    if not seen.work.can("profile.read") or id is None:
        return {}
    try:
        return sources.get_profile(seen.work.call, id)
    except VeladoError:
        return {}


def _original_sets(seen: Seen, profile: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Which quasi-identifiers single out how many in the whole original, as far as its inspection knows."""
    if seen.has_suppression and not seen.whole:
        return []
    words, quasi = seen.work.words, set(seen.figures.get("columns") or {})
    found = [(c["columns"], c.get("singled_out")) for c in profile.get("combinations") or () if quasi.issuperset(c["columns"])]
    found.sort(key=lambda one: one[1] if isinstance(one[1], int) else 0, reverse=True)
    return [(", ".join(columns), words.integer(count)) for columns, count in found]


def _uniqueness(seen: Seen) -> dict[str, Any] | None:
    """How many are unique in the population, by model."""
    found = seen.newest_result("uniqueness")
    if found is None:
        return None
    words = seen.work.words
    job, told = found
    before, after = told["before"], told["after"]
    lines = [
        (name.upper() if name == "snb" else name.capitalize(), *(words.percent(side.get(name), 3) for side in (before, after)))
        for name in ESTIMATES
    ]
    chosen = [words.label("uniqueness", side.get("chosen") or "") for side in (before, after)]
    uniques = [words.integer(side.get("sample_uniques")) for side in (before, after)]
    return {
        "job": job,
        "lines": lines,
        "chosen": chosen,
        "uniques": uniques,
        "fraction": after.get("fraction"),
        "population": after.get("population"),
    }


def _individual(seen: Seen) -> dict[str, Any] | None:
    """Individual risk by weights or by a sampling fraction."""
    found = seen.newest_result("individual")
    if found is None:
        return None
    words = seen.work.words
    job, told = found
    titles = {
        "mean": words.say("mean"),
        "highest": words.say("highest"),
        "expected_reidentifications": words.say("expected re-identifications"),
        "higher": words.say("at higher risk than the main part"),
        "higher_and_above_threshold": words.say("… and above 10 %"),
    }
    lines = []
    for name, title in titles.items():
        cells = [told[side].get(name) for side in ("before", "after")]
        shares = name in ("mean", "highest")
        lines.append((title, *(words.percent(x, 3) if shares else figure(x, words.language) for x in cells)))
    by = (job.parameters or {}).get("weights")
    return {"job": job, "lines": lines, "by": by}


def _published_columns(figures: Mapping[str, Any], words: Words) -> list[dict[str, Any]]:
    """Columns that are published and no quasi-identifiers, the dangerous first."""
    found = []
    for one in sorted(figures.get("published") or (), key=lambda e: not e.get("dangers")):
        dangers = [words.label("danger", name) for name in one.get("dangers") or ()]
        counts = {
            name: words.integer(one.get(name)) for name in ("records", "singled_out", "few", "singled_out_together", "few_together")
        }
        role = words.label("role", one["role"])
        found.append(
            {
                **one,
                **counts,
                "role": role,
                "knows": ANSWER_WORDS[one["known"]].into(words.code) if one.get("known") in ANSWER_WORDS else "–",
                "dangers": dangers,
                "content": one.get("content"),
                "copies": one.get("copies") or [],
            }
        )
    return found


def _populations(seen: Seen) -> list[SourceAnswer]:
    """Tables of who looks that may be the population."""
    if not seen.measurable:
        return []
    listed = sources.list_sources(seen.work.call, limit=200).items
    return [source for source in listed if source.state == "ready"]


def _weights(profile: Mapping[str, Any]) -> list[str]:
    """Columns of the original that may hold weights: numbers."""
    return [c["name"] for c in profile.get("columns") or () if c["type"] in ("integer", "number")]
